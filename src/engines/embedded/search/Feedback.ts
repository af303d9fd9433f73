import { type Candidate, type Fused, rescored } from "../../../search/Fusion.ts"
import { ranking } from "../../../search/Ranking.ts"
import type { Dense } from "./DenseArm.ts"

/**
 * The candidates as a second search scores them: BM25 from `sparseOf`, and cosines with the query vector moved towards the best
 * hits of the first search. Without `movedTo` the first search's cosines stand. The ids ascend where `movedTo` needs that.
 */
export const fedBack = (
  candidates: ReadonlyArray<Candidate>,
  first: ReadonlyArray<Fused>,
  movedTo: Dense["movedTo"] | undefined,
  sparseOf: (id: number) => number
): ReadonlyArray<Candidate> => {
  const best = first.slice(0, ranking.feedbackChunks).map(({ id }) => id)
  const related = movedTo?.(best, ranking.feedback)(Int32Array.from(candidates, ({ id }) => id))
  return candidates.map((candidate, at) => rescored(candidate, sparseOf(candidate.id), related?.[at]))
}
