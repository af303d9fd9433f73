import type { Context } from "../../domain/Retrieval.ts"
import { confidenceWeights, type Grounds } from "./Coefficients.ts"
import type { Evidence } from "./Evidence.ts"
import { asksOption, type Question } from "./Question.ts"
import { same } from "./Select.ts"
import { commonPrefix } from "./Words.ts"

/** Of the first of the ranked units. */
export const groundsOf = (
  question: Question,
  ranked: ReadonlyArray<Evidence>,
  weights: ReadonlyArray<number>,
  contexts: ReadonlyArray<Context>
): Grounds | undefined => {
  const first = ranked[0]
  if (first === undefined) return undefined
  const { distance } = contexts[first.unit.context]!
  const near = question.terms.map((_, term) => Math.max(first.told[term]!, first.block[term]!))
  const heaviest = weights.indexOf(Math.max(...weights))
  const { file } = contexts[first.unit.context]!
  const ofFile = ranked.filter(({ unit }) => contexts[unit.context]!.file === file)
  const isInFile = (term: number): boolean => ofFile.some(({ told }) => told[term]! >= 0.5)
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const missing = weights.reduce((sum, weight, term) => sum + (ranked.some(({ told }) => told[term]! >= 0.5) ? 0 : weight), 0)
  return {
    bias: 1,
    own: first.signs.own,
    told: first.signs.told,
    block: first.signs.block,
    context: first.signs.context,
    title: first.signs.title,
    names: first.signs.names,
    adjacency: first.signs.adjacency,
    definition: first.signs.definition,
    rarest: near[heaviest] ?? 0,
    least: Math.min(1, ...near),
    missing: total === 0 ? 1 : missing / total,
    untyped:
      !first.typed && (question.type === "number" || question.type === "date" || question.terms.some(({ also }) => also !== undefined))
        ? 1
        : 0,
    cosine: distance === undefined ? 0.3 : Math.max(0, 1 - distance),
    rank: first.signs.rank,
    agreement: ranked.some((other) => other.unit.context !== first.unit.context && same(first, other)) ? 1 : 0,
    best: Math.min(1.5, first.score / 20),
    margin: Math.min(
      1,
      (first.score - (ranked.find(({ unit }) => unit.context !== first.unit.context || unit.block !== first.unit.block)?.score ?? 0)) / 5
    ),
    nameless: namelessOf(question, first, near),
    window: first.signs.window,
    headed: first.signs.headed,
    votes: first.signs.votes,
    named: first.signs.named,
    other: question.terms.some(({ of }, term) => of !== undefined && Math.max(near[term]!, first.titled[term]!) < 0.9) ? 1 : 0,
    unasked: (question.asked.length > 0 && question.asked.every((term) => Math.max(near[term]!, first.titled[term]!) < 0.5)) ||
        isOnlyTitled(question, first, isInFile) || isOtherOption(question, first, ranked, near)
      ? 1
      : 0,
    absent: isAbsent(question, first, ofFile, isInFile) ? 1 : 0,
    // "Big" of "how big" says only what sort of answer is wanted.
    gap: (1 - Math.min(1, ...near.map((match, term) => question.terms[term]!.importance < 1 ? 1 : Math.max(match, first.titled[term]!)))) /
      Math.max(1, question.terms.length),
    few: 1 / Math.max(1, question.terms.length),
    terms: Math.min(1, question.terms.length / 10),
    early: first.signs.early,
    typedNear: first.signs.typedNear
  }
}

/** Whether a unit speaks of a name's family, Italy for Italian, or of what the letters of an abbreviation stand for. */
const speaksOf = (name: string, { display, words }: Evidence["unit"]): boolean =>
  name.length > 4
    ? words.some((word) => commonPrefix(word, name) >= 4)
    : /^[a-z]+$/.test(name) &&
      new RegExp(`\\b${[...name].map((letter) => `${letter.toUpperCase()}\\p{L}+`).join("[ -](?:(?:and|for|of|the) )*")}`, "u").test(
        display
      )

/** Whether the titles name a part of what is asked for, and the file has nothing of the rest: "rate-limit captcha". */
const isOnlyTitled = ({ terms }: Question, { titled }: Evidence, isInFile: (term: number) => boolean): boolean => {
  const rest = terms.flatMap(({ importance }, term) => (importance >= 1 && titled[term]! < 0.6 ? [term] : []))
  return rest.length > 0 && rest.length < terms.length && !rest.some(isInFile)
}

/** Whether what is said is not of the option that is asked for, or of the same one of another command. */
const isOtherOption = (
  question: Question,
  { titled, typed }: Evidence,
  ranked: ReadonlyArray<Evidence>,
  near: ReadonlyArray<number>
): boolean =>
  asksOption(question) && ((!typed && question.terms.every(({ option }, term) => !option || near[term] !== 1)) ||
    // A command that a file is named after is told of there.
    question.terms.some(({ option }, term) =>
      !option && Math.max(near[term]!, titled[term]!) < 0.5 && ranked.some((other) => other.titled[term]! >= 0.8)
    ))

/** A name that the file of the best unit has nowhere, or, of a question when something happened, no word of it near the unit. */
const isAbsent = (
  { happened, names, terms }: Question,
  first: Evidence,
  ofFile: ReadonlyArray<Evidence>,
  isInFile: (term: number) => boolean
): boolean => {
  const isNear = (term: number): boolean => Math.max(first.told[term]!, first.block[term]!, first.titled[term]!) >= 0.5
  const isSpokenOf = (term: number): boolean => isInFile(term) || ofFile.some(({ unit }) => speaksOf(terms[term]!.key, unit))
  return !names.every((term) => isNear(term) || isSpokenOf(term)) || (happened !== undefined && !isNear(happened))
}

const namelessOf = (question: Question, first: Evidence, near: ReadonlyArray<number>): number => {
  const names = question.terms.flatMap(({ importance }, term) => (importance > 1 ? [Math.max(near[term]!, first.titled[term]!)] : []))
  return names.length === 0 ? 0 : names.filter((match) => match < 0.9).length / names.length
}

/** What is left of the probability. Few examples show these, so they are no weights. */
export interface Shares {
  /** Where a number, a date or a name is asked for and there is none, and where it asks about another of a number. */
  readonly untyped: number
  /** Where what is asked for, an entrance fee of a museum, is not named, or only the subject of the titles is there. */
  readonly unasked: number
  /** Where a name is not in the file, or what happened is not near the quote. */
  readonly absent: number
  /** Where a question of one or two terms has one that is nowhere near the quote. */
  readonly gap: number
}

export const shares: Shares = { untyped: 0.25, unasked: 0.25, absent: 0.6, gap: 0.6 }

/** Few examples tell .99 from 1. */
const mostCertain = 0.99

/** The probability that the answer is right, 0..0.99. */
export const confidenceOf = (grounds: Grounds, { absent, gap, unasked, untyped }: Shares = shares): number => {
  let sum = 0
  for (const ground of Object.keys(confidenceWeights) as Array<keyof typeof confidenceWeights>) {
    sum += confidenceWeights[ground] * grounds[ground]
  }
  const share = (grounds.untyped + grounds.other > 0 ? untyped : 1) * (grounds.unasked > 0 ? unasked : 1) *
    (grounds.absent > 0 ? absent : 1) * (grounds.few >= 0.5 && grounds.gap > 0.09 ? gap : 1)
  return Math.min(mostCertain, share / (1 + Math.exp(-sum)))
}
