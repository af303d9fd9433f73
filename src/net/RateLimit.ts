import { Clock, Context, Effect } from "effect"

interface RateLimits {
  /** Waits for its turn, first come, first served. */
  readonly take: (key: string, perMinute: number) => Effect.Effect<void>
  /** Stops all turns for this many milliseconds: a 429 stops the bucket, not just the request that got it. */
  readonly pause: (key: string, milliseconds: number) => Effect.Effect<void>
}

interface Bucket {
  /** When the next turn would be due without bursts (the "theoretical arrival time" of GCRA). */
  next: number
  pausedUntil: number
  /** Milliseconds by which pauses have delayed the waiting callers. */
  delay: number
}

/**
 * Token buckets by key, stored as the time of the next token. A bucket holds a second's worth of its rate (at least one
 * token), so that a minute's quota is spent evenly; after a pause it starts empty, and waiting callers keep their
 * distances.
 */
export const make = (): RateLimits => {
  const buckets = new Map<string, Bucket>()
  const bucketOf = (key: string): Bucket => {
    const bucket = buckets.get(key) ?? { next: -Infinity, pausedUntil: 0, delay: 0 }
    buckets.set(key, bucket)
    return bucket
  }
  return {
    take: Effect.fnUntraced(function*(key: string, perMinute: number) {
      const bucket = bucketOf(key)
      const interval = 60_000 / perMinute
      const now = yield* Clock.currentTimeMillis
      const turn = Math.max(bucket.next, now - Math.max(0, 1000 - interval))
      const before = bucket.delay
      bucket.next = turn + interval
      const due = (): number => turn + bucket.delay - before
      yield* Effect.gen(function*() {
        for (let at = now; at < due(); at = yield* Clock.currentTimeMillis) yield* Effect.sleep(Math.ceil(due() - at))
      }).pipe(Effect.onInterrupt(() =>
        Effect.sync(() => {
          bucket.next -= interval
        })
      ))
    }),
    pause: Effect.fnUntraced(function*(key: string, milliseconds: number) {
      const bucket = bucketOf(key)
      const now = yield* Clock.currentTimeMillis
      const longer = now + milliseconds - Math.max(now, bucket.pausedUntil)
      if (longer <= 0) return
      bucket.delay += longer
      bucket.pausedUntil = now + milliseconds
      bucket.next = Math.max(bucket.next, now) + longer
    })
  }
}

/** The buckets of this process: all callers of the same model at the same host share a bucket. */
export const RateLimit = Context.Reference<RateLimits>("sluice/net/RateLimit", { defaultValue: make })
