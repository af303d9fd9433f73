import { createHash } from "node:crypto"
import type { VectorQuery } from "../ports/VectorStore.ts"

/** BM25's constants, and a chunk's length in terms: the collection's own mean is not known while it is filled. */
const k1 = 1.2
const b = 0.75
const meanLength = 128

/** A vector most of whose values are 0, by the places of those that are not. */
export interface SparseVector {
  readonly indices: ReadonlyArray<number>
  readonly values: ReadonlyArray<number>
}

/** A term's place in a sparse vector, 32 bits. Two terms of one corpus hardly ever share one. */
const indexOf = (term: string): number => createHash("sha256").update(term).digest().readUInt32BE()

/**
 * A chunk's terms as a sparse vector: of each, BM25's share of its frequency, without its rarity: less than {@link fullShare}.
 * Where there are more different ones than `most`, those are left out that the chunk has least of.
 */
export const sparseOf = (terms: ReadonlyArray<string>, most = Infinity): SparseVector => {
  const counts = new Map<number, number>()
  for (const term of terms) {
    const index = indexOf(term)
    counts.set(index, (counts.get(index) ?? 0) + 1)
  }
  const norm = k1 * (1 - b + (b * terms.length) / meanLength)
  const kept = counts.size <= most ? [...counts] : [...counts].toSorted(([, a], [, b]) => b - a).slice(0, most)
  return { indices: kept.map(([index]) => index), values: kept.map(([, count]) => (count * (k1 + 1)) / (count + norm)) }
}

/** What a value of {@link sparseOf} comes near to. */
export const fullShare = k1 + 1

/** A query's terms as a sparse vector of their weights. */
export const askedSparse = (terms: NonNullable<VectorQuery["terms"]>): SparseVector => {
  const weights = new Map(terms.map(({ term, weight }) => [indexOf(term), weight]))
  return { indices: [...weights.keys()], values: [...weights.values()] }
}
