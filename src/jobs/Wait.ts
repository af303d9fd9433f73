import { Clock, Effect, Random } from "effect"
import { hasEnded as batchHasEnded } from "../domain/batch/BatchPrediction.ts"
import type { BatchPrediction } from "../ports/BatchPrediction.ts"

/** How often a job is looked at while it is waited for. */
export interface Looks {
  /** Milliseconds before the second look. */
  readonly first: number
  /** Most milliseconds between two looks. */
  readonly longest: number
  /** How many times longer each pause is than the one before. Default 1.5. */
  readonly growth?: number
}

export interface Waiting<A> {
  /** Most milliseconds to wait. Default: no limit. */
  readonly timeoutMs?: number
  /** The state that is known already; the first look then comes after a pause. */
  readonly known?: A
  /** Called with every state that is seen. */
  readonly observe?: (state: A) => Effect.Effect<void>
}

/**
 * Waits until a job that runs elsewhere has ended, or the time is over, and returns its latest state. Interrupting this does not affect the
 * job.
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

/**
 * {@link waitFor} for a batch job, which reports every change of its state and counts. A job whose state is not known here has ended once it
 * has an end time.
 */
export const waitForBatch = (get: BatchPrediction["Service"]["get"], looks: Looks): BatchPrediction["Service"]["wait"] =>
  Effect.fn("BatchPrediction.wait")(function*(name, { observe, timeoutMs = Infinity } = {}) {
    let told = ""
    return yield* waitFor(get(name), ({ endTime, state }) => batchHasEnded(state) || endTime !== undefined, looks, {
      timeoutMs,
      observe: (job) => {
        const seen = JSON.stringify([job.state, job.counts])
        if (seen === told) return Effect.void
        told = seen
        return observe?.(job) ?? Effect.void
      }
    })
  })
