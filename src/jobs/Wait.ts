import { Clock, Effect, Random } from "effect"
import { hasEnded as batchHasEnded } from "../domain/batch/BatchPrediction.ts"
import type { BatchPrediction } from "../ports/BatchPrediction.ts"

/** Milliseconds before the second look at a job, and at most between two; each time longer by `growth`, by default 1.5. */
export interface Looks {
  readonly first: number
  readonly longest: number
  readonly growth?: number
}

export interface Waiting<A> {
  /** Default: as long as it takes. */
  readonly timeoutMs?: number
  /** What is known of it already: the first look comes after a pause then. */
  readonly known?: A
  /** Told of every state seen. */
  readonly observe?: (state: A) => Effect.Effect<void>
}

/**
 * Looks at a job that somebody else runs until it has ended or the time is over, and gives its latest state.
 * Interrupting it leaves the job alone.
 */
export const waitFor = Effect.fnUntraced(function*<A, E, R>(
  look: Effect.Effect<A, E, R>,
  hasEnded: (state: A) => boolean,
  { first, growth = 1.5, longest }: Looks,
  { known, observe, timeoutMs = Infinity }: Waiting<A> = {}
): Effect.fn.Return<A, E, R> {
  const until = (yield* Clock.currentTimeMillis) + timeoutMs
  let state = known ?? (yield* look)
  for (let delay = first;; delay = Math.min(longest, delay * growth)) {
    yield* observe?.(state) ?? Effect.void
    const left = until - (yield* Clock.currentTimeMillis)
    if (hasEnded(state) || left <= 0) return state
    yield* Effect.sleep(Math.min(left, delay * (yield* Random.nextBetween(0.8, 1.2))))
    state = yield* look
  }
})

/** {@link waitFor} a batch job, telling each state and count that changes. */
export const waitForBatch = (get: BatchPrediction["Service"]["get"], looks: Looks): BatchPrediction["Service"]["wait"] =>
  Effect.fn("BatchPrediction.wait")(function*(name, { observe, timeoutMs = Infinity } = {}) {
    let told = ""
    return yield* waitFor(get(name), ({ state }) => batchHasEnded(state), looks, {
      timeoutMs,
      observe: (job) => {
        const seen = JSON.stringify([job.state, job.counts])
        if (seen === told) return Effect.void
        told = seen
        return observe?.(job) ?? Effect.void
      }
    })
  })
