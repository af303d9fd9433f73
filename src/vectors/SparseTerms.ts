import { createHash } from "node:crypto"
import type { VectorQuery } from "../ports/VectorStore.ts"

/** BM25's constants. */
const k1 = 1.2
const b = 0.75
/** Mean number of terms in a chunk, assumed: the collection's own mean is unknown while it is being filled. */
const meanLength = 128

/** A sparse vector: the indices and values of its components that are not 0. */
export interface SparseVector {
  readonly indices: ReadonlyArray<number>
  readonly values: ReadonlyArray<number>
}

/** A term's index in a sparse vector, 32 bits of a hash. Two terms of one corpus rarely collide. */
const indexOf = (term: string): number => createHash("sha256").update(term).digest().readUInt32BE()

/**
 * A chunk's terms as a sparse vector. A value is BM25's term frequency component, without inverse document frequency: less
 * than {@link fullShare}. With more than `most` different terms, the least frequent ones are left out.
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

/** Upper bound of the values of {@link sparseOf}, which they approach but never reach. */
export const fullShare = k1 + 1

/** A query's terms as a sparse vector with their weights as values. */
export const askedSparse = (terms: NonNullable<VectorQuery["terms"]>): SparseVector => {
  const weights = new Map(terms.map(({ term, weight }) => [indexOf(term), weight]))
  return { indices: [...weights.keys()], values: [...weights.values()] }
}
