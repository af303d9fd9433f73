/** The grounds on which an answer is trusted or not. The weights of those that are weighed have the same names in `Coefficients.ts`. */
import { Record } from "effect"
import type { Context } from "../../domain/Retrieval.ts"
import type { confidenceWeights } from "./Coefficients.ts"
import type { Evidence } from "./Evidence.ts"
import { enough, type Matches, orElse } from "./Matching.ts"
import { asksOption, type Question } from "./Question.ts"
import { saysSame } from "./Similarity.ts"
import { commonPrefix } from "./Words.ts"

/** The match from which the titles name a term, for a file of which they name the subject alone. */
const namedByTitles = 0.6
/** The cosine similarity that is assumed where it is unknown. */
const unknownCosine = 0.3
/** What a score, the distance of two scores and the number of terms are divided by, to be about 0..1. */
const scale = { best: 20, margin: 5, terms: 10 }
const maxBest = 1.5
/** Terms of a question that counts as short. */
const maxShortTerms = 2
/** The `gap` above which a short question misses a term. */
const maxShortGap = 0.09

/** What is known when the best unit is judged. */
interface Judged {
  readonly question: Question
  readonly weights: ReadonlyArray<number>
  /** All units, best first. */
  readonly ranked: ReadonlyArray<Evidence>
  readonly first: Evidence
  /** The units of the best one's file. */
  readonly ofFile: ReadonlyArray<Evidence>
  /** The cosine distance of the best unit's context, where it is known. */
  readonly distance: number | undefined
  /** How much of each term the best unit has with what stands above it and its block. */
  readonly near: Matches
  /** How much of each term the best unit has near, or in the titles. */
  readonly nearOrTitled: Matches
  /** Whether any unit of the best one's file touches on a term. */
  readonly isInFile: (term: number) => boolean
}

const flag = (is: boolean): number => (is ? 1 : 0)

/** The ground `gap`, by which `shortGap` is decided too. */
const gap = ({ nearOrTitled, question: { terms } }: Judged): number =>
  (1 - Math.min(1, ...nearOrTitled.map((match, term) => terms[term]!.role === "generic" ? 1 : match))) / Math.max(1, terms.length)

/** Each is about the best unit. */
const grounds = {
  /** Always 1: its weight is what the logit starts from. */
  bias: () => 1,
  /** The sign `quote` of the best unit. */
  quote: ({ first }) => first.signs.quote,
  /** The sign `withHeadings` of the best unit. */
  withHeadings: ({ first }) => first.signs.withHeadings,
  /** The sign `withBlock` of the best unit. */
  withBlock: ({ first }) => first.signs.withBlock,
  /** The sign `context` of the best unit. */
  context: ({ first }) => first.signs.context,
  /** The sign `titles` of the best unit. */
  titles: ({ first }) => first.signs.titles,
  /** The sign `names` of the best unit. */
  names: ({ first }) => first.signs.names,
  /** The sign `adjacency` of the best unit. */
  adjacency: ({ first }) => first.signs.adjacency,
  /** The sign `definition` of the best unit. */
  definition: ({ first }) => first.signs.definition,
  /** How much the best unit, with what stands above it and its block, has of the term that weighs most. */
  rarest: ({ near, weights }) => near[weights.indexOf(Math.max(...weights))] ?? 0,
  /** How much the best unit, with what stands above it and its block, has of the term that they have least of. */
  least: ({ near }) => Math.min(1, ...near),
  /** Weighted share of the question's terms that no unit touches on. */
  missing: ({ ranked, weights }) => {
    const total = weights.reduce((sum, weight) => sum + weight, 0)
    const isTouched = (term: number): boolean => ranked.some(({ withHeadings }) => withHeadings[term]! >= enough.touching)
    return total === 0 ? 1 : weights.reduce((sum, weight, term) => sum + (isTouched(term) ? 0 : weight), 0) / total
  },
  /** The question is about a number, a date or the author of something, and the best unit has none. */
  untyped: ({ first, question: { terms, type } }) =>
    flag(!first.typed && (type === "number" || type === "date" || terms.some(({ also }) => also !== undefined))),
  /** Cosine similarity of the best unit's context. */
  cosine: ({ distance }) => distance === undefined ? unknownCosine : Math.max(0, 1 - distance),
  /** The sign `rank` of the best unit. */
  rank: ({ first }) => first.signs.rank,
  /** A unit of another context says the same as the best one. */
  agreement: ({ first, ranked }) => flag(ranked.some(({ unit }) => unit.context !== first.unit.context && saysSame(first.unit, unit))),
  /** Score of the best unit, over 20; 1.5 at most. */
  best: ({ first }) => Math.min(maxBest, first.score / scale.best),
  /** How far the best unit of another block is behind, over 5; 1 at most. */
  margin: ({ first, ranked }) => {
    const second = ranked.find(({ unit }) => unit.context !== first.unit.context || unit.block !== first.unit.block)
    return Math.min(1, (first.score - (second?.score ?? 0)) / scale.margin)
  },
  /** Share of the question's names and numbers that the best unit has neither near nor in the titles to the letter. */
  nameless: ({ nearOrTitled, question: { terms } }) => {
    const names = nearOrTitled.filter((_, term) => terms[term]!.role === "name")
    return names.length === 0 ? 0 : names.filter((match) => match < enough.literal).length / names.length
  },
  /** The sign `window` of the best unit. */
  window: ({ first }) => first.signs.window,
  /** The sign `headingWords` of the best unit. */
  headingWords: ({ first }) => first.signs.headingWords,
  /** The sign `fileShare` of the best unit. */
  fileShare: ({ first }) => first.signs.fileShare,
  /** The sign `numbered` of the best unit. */
  numbered: ({ first }) => first.signs.numbered,
  /** The question is about one of several that are numbered, as "Rule 8" is, and the best unit is about none or another. */
  otherNumber: ({ nearOrTitled, question: { terms } }) =>
    flag(terms.some(({ of }, term) => of !== undefined && nearOrTitled[term]! < enough.literal)),
  /** How much is lacking of the term, other than a generic one, that the best unit has least of, over the number of terms. */
  gap,
  /** 1 over the number of terms: with few of them, the share that a text has says less. */
  few: ({ question: { terms } }) => 1 / Math.max(1, terms.length),
  /** Number of terms over 10, 1 at most: of many, no text has all. */
  terms: ({ question: { terms } }) => Math.min(1, terms.length / scale.terms),
  /** The sign `early` of the best unit. */
  early: ({ first }) => first.signs.early,
  /** The sign `typedNear` of the best unit. */
  typedNear: ({ first }) => first.signs.typedNear,

  // Few examples show these, so they have no weights: each leaves a share of the probability (`Shares`).

  /**
   * What is counted, the property in question or the deed is named neither near the best unit nor in the titles; or the file has only
   * the subject of its titles; or the best unit is about another option, or another name of code.
   */
  unasked: (of) => {
    const { asked } = of.question
    const isUnnamed = asked.length > 0 && asked.every((term) => of.nearOrTitled[term]! < enough.touching)
    return flag(isUnnamed || isOnlyTitled(of) || isOtherOption(of) || of.first.named === "nowhere")
  },
  /** A name of the question is nowhere in the best unit's file, or what happened is not near the unit. */
  absent: (of) => flag(isAbsent(of)),
  /** A question of one or two terms has one that is neither near the best unit nor in the titles. */
  shortGap: (of) => flag(of.question.terms.length <= maxShortTerms && gap(of) > maxShortGap)
} satisfies { readonly [Ground in keyof typeof confidenceWeights | "unasked" | "absent" | "shortGap"]: (of: Judged) => number }

/** What speaks for or against the best unit being an answer, each about 0..1. */
export type Grounds = { readonly [Ground in keyof typeof grounds]: number }

/** The grounds of the first of the ranked units; undefined where there is none. */
export const groundsOf = (
  question: Question,
  ranked: ReadonlyArray<Evidence>,
  weights: ReadonlyArray<number>,
  contexts: ReadonlyArray<Context>
): Grounds | undefined => {
  const first = ranked[0]
  if (first === undefined) return undefined
  const { distance, file } = contexts[first.unit.context]!
  const ofFile = ranked.filter(({ unit }) => contexts[unit.context]!.file === file)
  const near = orElse(first.withHeadings, first.inBlock)
  const judged: Judged = {
    question,
    weights,
    ranked,
    first,
    ofFile,
    distance,
    near,
    nearOrTitled: orElse(near, first.inTitles),
    isInFile: (term) => ofFile.some(({ withHeadings }) => withHeadings[term]! >= enough.touching)
  }
  return Record.map(grounds, (measure: (of: Judged) => number) => measure(judged))
}

/** Whether a unit mentions a relative of a name, as Italy of Italian, or the words that the letters of an abbreviation stand for. */
const mentions = ({ display, words }: Evidence["unit"], name: string): boolean =>
  name.length > 4
    ? words.some((word) => commonPrefix(word, name) >= 4)
    : /^[a-z]+$/.test(name) &&
      new RegExp(`\\b${[...name].map((letter) => `${letter.toUpperCase()}\\p{L}+`).join("[ -](?:(?:and|for|of|the) )*")}`, "u").test(
        display
      )

/** Whether the titles name a part of what the question is about, and the file has nothing of the rest: "rate-limit captcha". */
const isOnlyTitled = ({ first: { inTitles }, isInFile, question: { terms } }: Judged): boolean => {
  const rest = terms.flatMap(({ role }, term) => (role !== "generic" && inTitles[term]! < namedByTitles ? [term] : []))
  return rest.length > 0 && rest.length < terms.length && !rest.some(isInFile)
}

/** Whether the best unit is not about the option that the question is about, or about the same option of another command. */
const isOtherOption = ({ first, near, nearOrTitled, question, ranked }: Judged): boolean => {
  if (!asksOption(question)) return false
  const hasOption = first.typed || question.terms.some(({ option }, term) => option && near[term] === 1)
  // Where a file is named after a command, its options are explained there.
  const isElsewhere = (term: number): boolean => ranked.some(({ inTitles }) => inTitles[term]! >= enough.having)
  return !hasOption ||
    question.terms.some(({ option }, term) => !option && nearOrTitled[term]! < enough.touching && isElsewhere(term))
}

const isAbsent = ({ isInFile, nearOrTitled, ofFile, question: { happened, names, terms } }: Judged): boolean => {
  const isNear = (term: number): boolean => nearOrTitled[term]! >= enough.touching
  const isMentioned = (term: number): boolean => isInFile(term) || ofFile.some(({ unit }) => mentions(unit, terms[term]!.key))
  return !names.every((term) => isNear(term) || isMentioned(term)) || (happened !== undefined && !isNear(happened))
}
