/** A run of neighbouring segments, `from` inclusive, `to` exclusive. */
export interface MergeRun {
  readonly from: number
  readonly to: number
}

/** A segment of this many chunks is rewritten only to remove its dead ones. */
const largest = 262_144

/** Share of dead chunks from which rewriting a segment is worthwhile. */
const deadShare = 0.25

export interface MergeCandidate {
  readonly chunks: number
  readonly dead: number
}

/**
 * The neighbours to merge next; undefined where every segment is at least `ratio` times as large as all younger ones together. The number
 * of segments then grows with the logarithm of the corpus, and so does the number of times that a chunk is rewritten.
 */
export const mergePlan = (segments: ReadonlyArray<MergeCandidate>, ratio: number): MergeRun | undefined => {
  const decayed = segments.findIndex(({ chunks, dead }) => dead > chunks * deadShare)
  if (decayed >= 0) return { from: decayed, to: decayed + 1 }
  let younger = 0
  let from = segments.length
  for (let i = segments.length - 1; i >= 0; i--) {
    const { chunks, dead } = segments[i] as MergeCandidate
    const live = chunks - dead
    if (live >= largest) break
    if (i < segments.length - 1 && live < younger * ratio) from = i
    younger += live
  }
  return from < segments.length - 1 ? { from, to: segments.length } : undefined
}
