import { ranking } from "./Ranking.ts"

/** What one chunk scored in each arm. A chunk that only one arm found needs its true score in the other as well. */
export interface Candidate {
  /** Orders equals, smaller first. */
  readonly id: number
  /** BM25; 0 where no term matches. */
  readonly sparse: number
  /** Cosine similarity, -1..1. */
  readonly cosine: number
  /** Cosine with the question moved towards what the best chunks are about; absent: `cosine` stands. */
  readonly related?: number
  /** BM25 of the whole file it is of; absent where files are single chunks. */
  readonly file?: number
  /** Share of the question that its file's title and name have, 0..1. */
  readonly title?: number
  /** The question names its file: see `text/FileNames.ts`. */
  readonly named?: boolean
  /** Share of the question's options of a command that it explains: see `text/CommandOptions.ts`. */
  readonly options?: number
}

export interface Fused extends Candidate {
  /** Of chunk, file and title together, 0..1. */
  readonly normalizedSparse: number
  /** 0..1. */
  readonly normalizedDense: number
  /** What the order is by, 0..1. */
  readonly fused: number
}

/** The weight of the dense arm where the request has no hybrid block, by what made the vectors, an embedder of words (a table of vectors is one) or a model: see docs/search.md. */
export const defaultAlpha = { words: 0.25, model: 0.5 } as const

/**
 * Mixes the two arms and orders by the mix: `(1 - alpha) * sparse + alpha * dense`, each arm scaled so that its best
 * score is 1 and its `ranking.candidates`-th best is 0. Both arms go equally deep, otherwise the shallower one's scale
 * is steeper.
 *
 * `candidates` are the union of the two arms' best, that many or more. Without scores of files and titles alpha 0 is
 * BM25's order and alpha 1 the cosine's, exactly; equals are ordered by id.
 */
export const fuse = (candidates: ReadonlyArray<Candidate>, alpha: number): Array<Fused> => {
  // Chunks beyond the candidates score 0 by BM25, but may score anything by cosine.
  const chunkWords = scaleOf(candidates, ({ sparse }) => sparse, 0)
  const fileWords = candidates.some(({ file }) => file !== undefined) ? scaleOf(candidates, ({ file }) => file ?? 0, 0) : zero
  const dense = candidates.some((candidate) => closeness(candidate) !== 0) ? scaleOf(candidates, closeness) : zero
  const words = new Float64Array(candidates.length)
  // Titles come on top: both arms shrink with the best, so that they do not weigh against each other in another way.
  let most = 1
  candidates.forEach(({ file, named, options, sparse, title }, at) => {
    const own = chunkWords(sparse)
    const whole = file === undefined ? own : fileWords(file)
    const said = (file === undefined ? own : (1 - ranking.file) * own + ranking.file * whole) + ranking.title * (title ?? 0) +
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
 * What {@link fuse} makes of chunks by BM25 alone, whose `ids` come in its order, the `ranking.candidates` best at least where
 * there are so many: the first `count` of them, and those that score what the last one does.
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

/** Field by field: there are hundreds in a question, and to spread each takes longer than all else that is done with it. */
const fusedOf = (
  { cosine, file, id, named, options, related, sparse, title }: Candidate,
  normalizedSparse: number,
  normalizedDense: number,
  fused: number
): Fused => ({ id, sparse, cosine, related, file, title, named, options, normalizedSparse, normalizedDense, fused })

/** Negative where `a` scores more; 0 where they are equal in all that counts. */
const byScore = (a: Fused, b: Fused, alpha: number): number =>
  b.fused - a.fused || (alpha < 1 ? b.sparse - a.sparse : 0) || (alpha > 0 ? b.cosine - a.cosine : 0)

/**
 * The first `count` of what {@link fuse} ordered, equals ordered by what `pathOf` says of them instead of by id: ids
 * tell the history of a corpus. Only equals that count are asked for.
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

/** What {@link scaleOf} comes to where all scores are 0. */
const zero = (): number => 0

const closeness = ({ cosine, related }: Candidate): number => related ?? cosine

/**
 * Linear from the `ranking.candidates`-th best score (0), or `least` where there are fewer, to the best (1);
 * nothing below 0. Where all are equal, all are best, unless they are 0.
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

/** The `rank`th largest of as many `values` or more, which are put in another order. */
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
