/** What one chunk scored in each arm. A chunk that only one arm found needs its true score in the other as well. */
export interface Candidate {
  /** Orders equals, smaller first. */
  readonly id: number
  /** BM25; 0 where no term matches. */
  readonly sparse: number
  /** Cosine similarity, -1..1. */
  readonly cosine: number
}

export interface Fused extends Candidate {
  /** 0..1. */
  readonly normalizedSparse: number
  /** 0..1. */
  readonly normalizedDense: number
  /** What the order is by, 0..1. */
  readonly fused: number
}

/** How many candidates each arm brings at least; the depth the default weight was measured at. */
export const candidateDepth = 100

/**
 * The weight of the dense arm where the request has no hybrid block, measured with the offline embedder: on nine
 * collections it gains 0.015 nDCG@10 on average over BM25 alone and loses no more than 0.001 on any (`bench/quality.ts`).
 * Nearly half of that is the words of grammar, which count less in a mix (`QueryTerms.ts`).
 */
export const defaultAlpha = 0.2

/**
 * Mixes the two arms and orders by the mix: `(1 - alpha) * sparse + alpha * dense`, each arm scaled so that its best
 * score is 1 and its `depth`-th best is 0. Both arms go equally deep, otherwise the shallower one's scale is steeper.
 *
 * `candidates` are the union of the two arms' best `depth` or more. Alpha 0 is BM25's order and alpha 1 the cosine's,
 * exactly; equals are ordered by id.
 */
export const fuse = (
  candidates: ReadonlyArray<Candidate>,
  alpha: number,
  depth: number = candidateDepth
): Array<Fused> => {
  const bySparse = Float64Array.from(candidates, (candidate) => candidate.sparse).sort().reverse()
  const byCosine = Float64Array.from(candidates, (candidate) => candidate.cosine).sort().reverse()
  // Chunks beyond the candidates score 0 by BM25, but may score anything by cosine.
  const sparse = scale(bySparse[0] ?? 0, Math.max(0, bySparse[depth - 1] ?? 0))
  const dense = scale(byCosine[0] ?? 0, byCosine[Math.min(depth, byCosine.length) - 1] ?? 0)
  return candidates
    .map(({ cosine, id, sparse: bm25 }): Fused => {
      const normalizedSparse = sparse(bm25)
      const normalizedDense = dense(cosine)
      return { id, sparse: bm25, cosine, normalizedSparse, normalizedDense, fused: (1 - alpha) * normalizedSparse + alpha * normalizedDense }
    })
    .sort((a, b) => byScore(a, b, alpha) || a.id - b.id)
}

/** Negative where `a` scores more; 0 where they are equal in all that counts. */
const byScore = (a: Fused, b: Fused, alpha: number): number =>
  b.fused - a.fused || (alpha < 1 ? b.sparse - a.sparse : 0) || (alpha > 0 ? b.cosine - a.cosine : 0)

/**
 * The first `count` of what {@link fuse} ordered, equals ordered by what `pathOf` says of them instead of by id: ids
 * tell the history of a corpus. Only equals that count are asked for.
 */
export const firstByPath = (fused: ReadonlyArray<Fused>, count: number, alpha: number, pathOf: (id: number) => string): ReadonlyArray<Fused> => {
  const first: Array<Fused> = []
  while (first.length < count && first.length < fused.length) {
    const from = first.length
    let to = from + 1
    while (to < fused.length && byScore(fused[from] as Fused, fused[to] as Fused, alpha) === 0) to++
    if (to === from + 1) {
      first.push(fused[from] as Fused)
      continue
    }
    const equals = fused.slice(from, to).map((hit) => ({ hit, path: pathOf(hit.id) }))
    equals.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.hit.id - b.hit.id))
    for (const { hit } of equals) first.push(hit)
  }
  return first.slice(0, count)
}

/** Linear from `floor` (0) to `best` (1), nothing below 0. Where all are equal, all are best, unless they are 0. */
const scale = (best: number, floor: number) => (score: number): number => {
  if (score < floor) return 0
  if (best > floor) return (score - floor) / (best - floor)
  return best === 0 ? 0 : 1
}
