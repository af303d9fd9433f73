import type { Context } from "../../domain/Retrieval.ts"
import type { Named } from "./CodeNames.ts"
import type { Matches } from "./Matching.ts"
import { observe } from "./Observed.ts"
import type { Question } from "./Question.ts"
import { scoreOf, type Signs, signsOf } from "./Signs.ts"
import type { Unit } from "./Units.ts"

/** How well one unit answers a question. */
export interface Evidence {
  readonly unit: Unit
  /** The weighted sum of its signs, by which units are ranked. */
  readonly score: number
  readonly signs: Signs
  /** The weighted share of the question's terms, 0..1, that the quote has with all its surroundings. */
  readonly covered: number
  /** How much of each term the quote has. */
  readonly matches: Matches
  /** How much of each term the quote has with what stands above it. */
  readonly withHeadings: Matches
  /** How much of each term its paragraph, list or table has. */
  readonly inBlock: Matches
  /** How much of each term the document's title and name and the chunk's headings have. */
  readonly inTitles: Matches
  /** Whether the quote has the number, the date, the name or the explanation of an option that the question is about. */
  readonly typed: boolean
  /** Whether the names of code that the question has are near the quote. */
  readonly named: Named
}

/** Scores every unit, in order. `weights` are those of the question's terms, in order. */
export const evidenceFor = (
  question: Question,
  contexts: ReadonlyArray<Context>,
  units: ReadonlyArray<Unit>
): { readonly evidence: ReadonlyArray<Evidence>; readonly weights: ReadonlyArray<number> } => {
  const { observed, weights } = observe(question, contexts, units)
  const evidence = observed.map((one): Evidence => {
    const { covered, surroundings: { block, quote, titles, withHeadings }, named, typed, unit } = one
    const signs = signsOf(one)
    return { unit, score: scoreOf(signs), signs, covered, matches: quote, withHeadings, inBlock: block, inTitles: titles, typed, named }
  })
  return { evidence, weights }
}
