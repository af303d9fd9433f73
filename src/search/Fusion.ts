import { ranking } from "./Ranking.ts"

/** A chunk that may answer the question. A chunk found by one arm alone needs its true score in the other arm too. */
export interface Candidate {
  /** Orders equals, smaller first. */
  readonly id: number
  /** BM25; 0 where no term matches. */
  readonly sparse: number
  /** Cosine similarity, -1..1. */
  readonly cosine: number
  /** Cosine similarity with the query vector moved towards the best chunks; where it is absent, `cosine` counts. */
  readonly related?: number | undefined
  /** What the ranking knows of the chunk besides its own words and vector. */
  readonly facts?: CandidateFacts | undefined
}

/** Facts that raise or lower a chunk's sparse score. An explanation shows each under the same name. */
export interface CandidateFacts {
  /** BM25 of the chunk's whole file; absent where every file is a single chunk. */
  readonly file?: number | undefined
  /** Share of the question that the title and name of the chunk's file have, 0..1. */
  readonly title?: number | undefined
  /** Whether a heading of the chunk is the question: see `analysis/HeadingKeys.ts`. */
  readonly headed?: boolean | undefined
  /** Whether the question names the chunk's file by its number: see `text/NumberedNames.ts`. */
  readonly named?: boolean | undefined
  /** Share of the command options in the question that the chunk explains, 0..1: see `text/CommandOptions.ts`. */
  readonly options?: number | undefined
  /** Share of the question's neighbouring words that the chunk has near each other, 0..1; only the best chunks are read for it. */
  readonly proximity?: number | undefined
}

/** A candidate with its scores in the mix. */
export interface Fused extends Candidate {
  /** Sparse score of chunk, file and title together, 0..1. */
  readonly normalizedSparse: number
  /** Dense score, 0..1. */
  readonly normalizedDense: number
  /** The mix of both, 0..1. */
  readonly fused: number
  /** By which hits are ordered, 0..1: the mix, unless {@link nearer} has changed it. */
  readonly score: number
}

/**
 * The weight of the dense arm where the request has no hybrid block, by the kind of embedder: `words` for one that embeds word
 * by word (as a table of vectors does), `model` for a model. See docs/search.md.
 */
export const defaultAlpha = { words: 0.25, model: 0.5 } as const

/**
 * Mixes the two arms and orders by the mix: `(1 - alpha) * sparse + alpha * dense`, each arm scaled so that its best
 * score is 1 and its `ranking.candidates`-th best is 0. Both arms go equally deep: a shallower arm would have a steeper scale.
 *
 * `candidates` are the union of both arms' best, `ranking.candidates` or more of each. Without facts, alpha 0 is exactly the
 * order of BM25 and alpha 1 exactly the order of the cosine; equals are ordered by id.
 */
export const fuse = (candidates: ReadonlyArray<Candidate>, alpha: number): Array<Fused> => {
  // Chunks beyond the candidates score 0 by BM25, but may score anything by cosine.
  const chunkWords = scaleOf(candidates, ({ sparse }) => sparse, 0)
  const fileWords = candidates.some(({ facts }) => facts?.file !== undefined)
    ? scaleOf(candidates, ({ facts }) => facts?.file ?? 0, 0)
    : zero
  const dense = candidates.some((candidate) => closeness(candidate) !== 0) ? scaleOf(candidates, closeness) : zero
  const words = new Float64Array(candidates.length)
  // Titles come on top and may lift the best above 1. Both arms are then divided by it, so that their weights stay as they are.
  let most = 1
  candidates.forEach(({ facts: { file, headed, named, options, title } = {}, sparse }, at) => {
    const own = chunkWords(sparse)
    const whole = file === undefined ? own : fileWords(file)
    const said = (file === undefined ? own : (1 - ranking.file) * own + ranking.file * whole) + ranking.title * (title ?? 0) +
      (headed === true ? ranking.headed : 0) +
      (named === true ? ranking.named : 0) + ranking.option * (options ?? 0) * whole ** 2
    words[at] = said
    most = Math.max(most, said)
  })
  return candidates
    .map((candidate, at): Fused => {
      const normalizedSparse = (words[at] as number) / most
      const normalizedDense = dense(closeness(candidate)) / most
      return fusedOf(candidate, normalizedSparse, normalizedDense, (1 - alpha) * normalizedSparse + alpha * normalizedDense)
    })
    .sort((a, b) => byScore(a, b, alpha) || a.id - b.id)
}

/**
 * Orders the first hits again, as many as there are `proximities`, by how near each other they have the question's words. The others
 * stay behind them.
 */
export const nearer = (hits: ReadonlyArray<Fused>, proximities: ReadonlyArray<number>, alpha: number): ReadonlyArray<Fused> => {
  const scoreOf = (fused: number, proximity: number): number => (fused + ranking.proximity * proximity) / (1 + ranking.proximity)
  const first = proximities
    .map((proximity, at): Fused => {
      const hit = hits[at] as Fused
      return { ...hit, facts: { ...hit.facts, proximity }, score: scoreOf(hit.fused, proximity) }
    })
    .sort((a, b) => byScore(a, b, alpha) || a.id - b.id)
  for (let at = first.length; at < hits.length; at++) {
    const hit = hits[at] as Fused
    first.push(fusedOf(hit, hit.normalizedSparse, hit.normalizedDense, hit.fused, scoreOf(hit.fused, 0)))
  }
  return first
}

/**
 * Like {@link fuse} with alpha 0, for chunks that BM25 alone has found: the first `count`, and after them those that score the
 * same as the last. `ids` come best first, and are `ranking.candidates` or more where the corpus has that many.
 */
export const fuseWords = (ids: ReadonlyArray<number>, scores: Float64Array, count: number): ReadonlyArray<Fused> => {
  const scoreAt = (place: number): number | undefined => ids.length > place ? scores[ids[place] as number] : undefined
  const scaled = scaleBetween(scoreAt(ranking.candidates - 1) ?? 0, scoreAt(0) ?? 0)
  const fused: Array<Fused> = []
  for (const id of ids) {
    const sparse = scores[id] as number
    if (fused.length >= count && sparse !== fused[fused.length - 1]?.sparse) break
    const normalizedSparse = scaled(sparse)
    fused.push(fusedOf({ id, sparse, cosine: 0 }, normalizedSparse, 0, normalizedSparse))
  }
  return fused
}

/** Written field by field: a question has hundreds of candidates, and an object spread would take longer than all the rest. */
const fusedOf = (
  { cosine, facts, id, related, sparse }: Candidate,
  normalizedSparse: number,
  normalizedDense: number,
  fused: number,
  score = fused
): Fused => ({ id, sparse, cosine, related, facts, normalizedSparse, normalizedDense, fused, score })

/** A candidate with the scores of a second search; its facts stand. */
export const rescored = ({ cosine, facts, id }: Candidate, sparse: number, related: number | undefined): Candidate => (
  { id, sparse, cosine, related, facts }
)

/** Compares for sorting, best first; 0 where no score that matters at this alpha differs. */
const byScore = (a: Fused, b: Fused, alpha: number): number =>
  b.score - a.score || (alpha < 1 ? b.sparse - a.sparse : 0) || (alpha > 0 ? b.cosine - a.cosine : 0)

/**
 * The first `count` hits of {@link fuse}, with equals ordered by path instead of by id: ids depend on the history of a corpus.
 * `pathOf` is called only for equals whose order matters.
 */
export const firstByPath = (
  fused: ReadonlyArray<Fused>,
  count: number,
  alpha: number,
  pathOf: (id: number) => string
): ReadonlyArray<Fused> => {
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

/** The scale of an arm in which all scores are 0. */
const zero = (): number => 0

const closeness = ({ cosine, related }: Candidate): number => related ?? cosine

/**
 * A linear scale from the `ranking.candidates`-th best score, which becomes 0, to the best, which becomes 1; lower scores become 0
 * too. With fewer candidates it starts at `least`, or at the lowest score. Where all scores are equal, all become 1, or 0 if they
 * are 0.
 */
const scaleOf = (
  candidates: ReadonlyArray<Candidate>,
  scoreOf: (candidate: Candidate) => number,
  least?: number
): (score: number) => number => {
  const scores = new Float64Array(candidates.length)
  let [worst, best] = [Infinity, -Infinity]
  for (let i = 0; i < scores.length; i++) {
    const score = scoreOf(candidates[i] as Candidate)
    scores[i] = score
    if (score < worst) worst = score
    if (score > best) best = score
  }
  if (scores.length === 0) return scaleBetween(0, 0)
  return scaleBetween(scores.length < ranking.candidates ? least ?? worst : largest(scores, ranking.candidates), best)
}

/** The `rank`th largest of `values`, which must be at least `rank` in number and are reordered. */
const largest = (values: Float64Array, rank: number): number => {
  const wanted = rank - 1
  let [from, to] = [0, values.length - 1]
  while (from < to) {
    const pivot = values[(from + to) >> 1] as number
    let [i, j] = [from, to]
    while (i <= j) {
      while ((values[i] as number) > pivot) i++
      while ((values[j] as number) < pivot) j--
      if (i > j) break
      const value = values[i] as number
      values[i++] = values[j] as number
      values[j--] = value
    }
    if (wanted <= j) to = j
    else if (wanted >= i) from = i
    else break
  }
  return values[wanted] as number
}

const scaleBetween = (floor: number, best: number) => (score: number): number => {
  if (score < floor) return 0
  if (best > floor) return (score - floor) / (best - floor)
  return best === 0 ? 0 : 1
}
