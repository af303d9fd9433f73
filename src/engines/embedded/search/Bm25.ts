import { bm25Defaults } from "../../../domain/Corpus.ts"

/** How soon repeating a term stops to count, and how much a chunk's length weighs. */
export interface Bm25Parameters {
  readonly k1: number
  readonly b: number
}

/** Inverse document frequency, Lucene's form: never negative. */
export const idf = (chunks: number, documentFrequency: number): number =>
  Math.log(1 + (chunks - documentFrequency + 0.5) / (documentFrequency + 0.5))

/** The part of the denominator that depends on the chunk only: `k1 * (1 - b + b * length / average)`. */
export const lengthNorm = (length: number, averageLength: number, { b, k1 }: Bm25Parameters = bm25Defaults): number =>
  k1 * (1 - b + (averageLength > 0 ? (b * length) / averageLength : 0))

/** What one term adds to a chunk's score; `norm` is by the same `k1`. */
export const termScore = (weight: number, frequency: number, norm: number, k1: number = bm25Defaults.k1): number =>
  weight * ((frequency * (k1 + 1)) / (frequency + norm))
