import type { Context } from "../../domain/Retrieval.ts"
import { holdsType, type Question, type Term } from "./Question.ts"
import type { Unit } from "./Units.ts"
import { commonPrefix, editDistance, foldedWords, normalize, wordsOfNormal } from "./Words.ts"

/** How well one unit bears on the question. All figures 0..1. */
export interface Evidence {
  readonly unit: Unit
  /** What the order is by. */
  readonly score: number
  /**
   * Weighted share of the question's terms in the quote, with what the surroundings add: headings, lead-in, the
   * sentences around, the rest of the context.
   */
  readonly covered: number
  /** How much of each term the quote has, … */
  readonly matches: ReadonlyArray<number>
  /** … and how much with what stands above it. */
  readonly told: ReadonlyArray<number>
  readonly typed: boolean
}

/** Credit for a term found not in the quote but near it. */
const near = { above: 0.7, heading: 0.7, neighbour: 0.5, context: 0.35 }

/** Scores every unit. `weights` are those of the question's terms, in order. */
export const evidenceFor = (
  question: Question,
  contexts: ReadonlyArray<Context>,
  units: ReadonlyArray<Unit>
): { readonly evidence: ReadonlyArray<Evidence>; readonly weights: ReadonlyArray<number> } => {
  const matcher = matcherOf(question, contexts, units)
  const own = units.map((unit) => question.terms.map((_, term) => matcher(term, unit)))
  const weights = weightsOf(question, own)
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const share = (matches: ReadonlyArray<number>): number =>
    total === 0 ? 0 : matches.reduce((sum, match, term) => sum + match * weights[term]!, 0) / total

  const ofContext = contexts.map((_, context) => best(units.flatMap((unit, at) => (unit.context === context ? [own[at]!] : []))))
  const matchesOf = (text: string): Array<number> => {
    const normal = normalize(text)
    const words = wordsOfNormal(normal)
    const told = { normal, words, wordSet: new Set(words) }
    return question.terms.map((_, term) => matcher(term, told))
  }
  const ofHeadings = contexts.map((context) =>
    matchesOf([...context.headings, nameOf(context), context.metadata?.["title"] ?? ""].join("\n")))
  const ofAbove = new Map([...new Set(units.map(({ above }) => above))].map((above) => [above, matchesOf(above)]))

  const evidence = units.map((unit, at): Evidence => {
    const mine = own[at]!
    const above = ofAbove.get(unit.above) ?? []
    const around = [at - 1, at + 1].filter((other) => units[other]?.context === unit.context).map((other) => own[other]!)
    const told = mine.map((match, term) =>
      Math.max(match, near.above * above[term]!, near.heading * ofHeadings[unit.context]![term]!))
    const covered = share(told.map((match, term) =>
      Math.max(match, ...around.map((other) => near.neighbour * other[term]!), near.context * ofContext[unit.context]![term]!)))
    const typed = holdsType(question, unit.display)
    const score = covered + 0.5 * share(mine) + 0.15 * adjacency(question.terms, unit, mine) +
      (question.type === "other" ? 0 : typed ? 0.2 : 0) +
      (unit.position === 0 ? 0.03 : 0) - 0.02 * Math.min(unit.context, 10) - shapePenalty(unit, contexts[unit.context]!.text)
    return { unit, score, covered, matches: mine, told, typed }
  })
  return { evidence, weights }
}

/** Of the file, without its ending and the zeros that make names sort: what `rule-0008.md` says of itself is "rule 8". */
const nameOf = ({ sourceDisplayName }: Context): string =>
  sourceDisplayName.replace(/\.\w+$/, "").replace(/(?<!\d)0+(?=\d)/g, "")

/** Best of each term over several units. */
const best = (rows: ReadonlyArray<ReadonlyArray<number>>): Array<number> =>
  (rows[0] ?? []).map((_, term) => Math.max(...rows.map((row) => row[term]!)))

/** A term's importance, doubled as it goes from being in every unit to being in none. */
const weightsOf = (question: Question, own: ReadonlyArray<ReadonlyArray<number>>): Array<number> =>
  question.terms.map((term, at) => {
    const frequency = own.filter((matches) => matches[at]! >= 0.8).length
    const rarity = Math.log((own.length + 1) / (frequency + 1)) / Math.log(own.length + 1.001)
    return (1 + rarity) * term.importance
  })

/**
 * How much of a term a text has: 1 for the word, less for a relative of it (a longer or shorter form, a part
 * of a compound) or, when no context has the word, a probable misspelling.
 */
const matcherOf = (question: Question, contexts: ReadonlyArray<Context>, units: ReadonlyArray<Unit>) => {
  const vocabulary = new Set<string>()
  for (const unit of units) for (const word of unit.words) vocabulary.add(word)
  for (const context of contexts) for (const word of foldedWords(context.headings.join("\n"))) vocabulary.add(word)
  const relatives = question.terms.map((term) => (term.cjk ? new Map<string, number>() : relativesOf(term, vocabulary)))
  return (at: number, { normal, words, wordSet }: Pick<Unit, "normal" | "words" | "wordSet">): number => {
    const term = question.terms[at]!
    if (term.cjk) return cjkMatch(term.key, normal)
    if (wordSet.has(term.key)) return term.of === undefined || isBeside(words, term.key, term.of) ? 1 : 0
    let credit = 0
    for (const [word, value] of relatives[at]!) if (value > credit && wordSet.has(word)) credit = value
    return credit
  }
}

/** Whether a number stands within two words of its name: "8 May" has May 8, and so has "May 7 and 8". */
const isBeside = (words: ReadonlyArray<string>, number: string, name: string): boolean =>
  words.some((word, at) => word === number && words.slice(Math.max(0, at - 2), at + 3).includes(name))

const relativesOf = (term: Term, vocabulary: ReadonlySet<string>): Map<string, number> => {
  const found = new Map<string, number>()
  const key = term.key
  if (key.length < 4 || /\p{N}/u.test(key)) return found
  const misspelt = !vocabulary.has(key)
  for (const word of vocabulary) {
    if (word === key || word.length < 4) continue
    const longer = Math.max(word.length, key.length)
    const prefix = commonPrefix(word, key)
    if (prefix >= 4 && prefix >= 0.7 * longer) found.set(word, 0.8)
    else if (key.length >= 5 && word.length >= 5 && (word.includes(key) || key.includes(word))) found.set(word, 0.6)
    else if (misspelt && word[0] === key[0]) {
      const limit = key.length >= 8 ? 2 : 1
      if (editDistance(word, key, limit) <= limit) found.set(word, 0.8)
    }
  }
  return found
}

/** The word itself, or the share of its character pairs when it is long enough to have several. */
const cjkMatch = (key: string, normal: string): number => {
  if (normal.includes(key)) return 1
  if (key.length < 3) return 0
  let pairs = 0
  for (let at = 0; at + 2 <= key.length; at++) if (normal.includes(key.slice(at, at + 2))) pairs++
  return (0.8 * pairs) / (key.length - 1)
}

/** Share of neighbouring question terms that stand within three words of each other, in order. */
const adjacency = (terms: ReadonlyArray<Term>, unit: Unit, own: ReadonlyArray<number>): number => {
  if (terms.length < 2) return 0
  let close = 0
  for (let at = 0; at + 1 < terms.length; at++) {
    if (own[at] !== 1 || own[at + 1] !== 1) continue
    const [left, right] = [terms[at]!, terms[at + 1]!]
    if (left.cjk || right.cjk) {
      const first = unit.normal.indexOf(left.key)
      const second = unit.normal.indexOf(right.key, first)
      if (second >= 0 && second - first <= left.key.length + 4) close++
    } else if (unit.words.some((word, place) => word === left.key && unit.words.slice(place + 1, place + 4).includes(right.key))) close++
  }
  return close / (terms.length - 1)
}

/** Fragments at a chunk's edges, stubs, code, menus and walls of text answer badly. */
const shapePenalty = (unit: Unit, text: string): number => {
  let penalty = 0
  if (unit.start === 0 && /^\p{Ll}/u.test(unit.display)) penalty += 0.15
  if (unit.kind === "sentence") {
    if (unit.end === text.trimEnd().length && !/[.!?。！？"”』」)]$/u.test(unit.display)) penalty += 0.1
    if (unit.display.length < 20 && !/[\u3040-\u9fff]/.test(unit.display)) penalty += 0.1
  }
  if (unit.display.length > 350) penalty += 0.1
  if ((unit.display.match(/[{}[\]<>=_\\|$#`]/g)?.length ?? 0) > 0.03 * unit.display.length) penalty += 0.15
  if (unit.kind === "sentence" && unit.display.length > 120 && !/[.!?:。！？：]["'”’»」』)\]]*$/u.test(unit.display)) penalty += 0.15
  return penalty
}
