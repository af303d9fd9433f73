import { bm25Defaults } from "../../../domain/Corpus.ts"

/** The parameters of BM25. */
export interface Bm25Parameters {
  /** How much repetitions of a term count: at 0 not at all. */
  readonly k1: number
  /** How much a chunk's length counts: at 0 not at all, at 1 fully. */
  readonly b: number
}

/** Inverse document frequency in Lucene's form, which is never negative. */
export const idf = (chunks: number, documentFrequency: number): number =>
  Math.log(1 + (chunks - documentFrequency + 0.5) / (documentFrequency + 0.5))

/** The part of BM25's denominator that depends on the chunk only: `k1 * (1 - b + b * length / average)`. */
export const lengthNorm = (length: number, averageLength: number, { b, k1 }: Bm25Parameters = bm25Defaults): number =>
  k1 * (1 - b + (averageLength > 0 ? (b * length) / averageLength : 0))

/** BM25 of one term in a chunk. `norm` is the chunk's {@link lengthNorm} with the same `k1`. */
export const termScore = (weight: number, frequency: number, norm: number, k1: number = bm25Defaults.k1): number =>
  weight * ((frequency * (k1 + 1)) / (frequency + norm))
