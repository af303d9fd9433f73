import type { Context } from "../../domain/Retrieval.ts"
import { confidenceWeights } from "./Coefficients.ts"
import type { Evidence } from "./Evidence.ts"
import type { Question } from "./Question.ts"
import { same } from "./Select.ts"

/** What speaks for the best unit being an answer, each 0..1. */
export interface Grounds {
  readonly bias: number
  /** See `Signs`. */
  readonly own: number
  readonly told: number
  readonly block: number
  readonly context: number
  readonly title: number
  readonly names: number
  readonly adjacency: number
  readonly definition: number
  /** How much the quote and its surroundings have of the question's rarest term, … */
  readonly rarest: number
  /** … and of the term they have least of; the share of terms that are nowhere in the contexts. */
  readonly least: number
  readonly missing: number
  /** A number, date or name was asked for and is not there. */
  readonly untyped: number
  /** Cosine similarity of the context, and retrieval's place for it. */
  readonly cosine: number
  readonly rank: number
  /** Another context says the same. */
  readonly agreement: number
  /** The question has few terms, of which the share in a text tells less. */
  readonly few: number
}

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
    untyped: question.type !== "other" && question.type !== "person" && !first.typed ? 1 : 0,
    cosine: distance === undefined ? 0.3 : Math.max(0, 1 - distance),
    rank: first.signs.rank,
    agreement: ranked.some((other) => other.unit.context !== first.unit.context && same(first, other)) ? 1 : 0,
    few: 1 / Math.max(1, question.terms.length)
  }
}

/** The probability that the answer is right, 0..1. */
export const confidenceOf = (grounds: Grounds): number => {
  let sum = 0
  for (const ground of Object.keys(confidenceWeights) as Array<keyof Grounds>) sum += confidenceWeights[ground] * grounds[ground]
  return 1 / (1 + Math.exp(-sum))
}
