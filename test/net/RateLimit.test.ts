import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Ref } from "effect"
import { TestClock } from "effect/testing"
import { ServiceError } from "../../src/domain/Errors.ts"
import { make } from "../../src/net/RateLimit.ts"
import { retry } from "../../src/net/Retry.ts"

/** Starts `count` takers and gives the times at which they passed, as they pass. */
const takers = Effect.fnUntraced(function*(limit: ReturnType<typeof make>, count: number, perMinute: number) {
  const times: Array<number> = []
  const fiber = yield* Effect.forEach(Array.from({ length: count }), () =>
    limit.take("k", perMinute).pipe(
      Effect.andThen(Clock.currentTimeMillis),
      Effect.map((now) => times.push(now))
    ), { concurrency: count, discard: true }).pipe(Effect.forkChild)
  return { times, fiber }
})

describe("RateLimit", () => {
  it.effect("spreads a rate over the minute, a second's worth at once", () =>
    Effect.gen(function*() {
      const { times, fiber } = yield* takers(make(), 10, 240)
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(times, [0, 0, 0, 0, 250, 500, 750, 1000, 1250, 1500])
    }))

  it.effect("keeps keys apart", () =>
    Effect.gen(function*() {
      const limit = make()
      yield* limit.take("a", 1)
      yield* limit.take("b", 1)
      assert.strictEqual(yield* Clock.currentTimeMillis, 0)
    }))

  it.effect("puts everybody off for a pause, and lets them through one by one after it", () =>
    Effect.gen(function*() {
      const limit = make()
      const { times, fiber } = yield* takers(limit, 4, 60)
      yield* TestClock.adjust("500 millis")
      yield* limit.pause("k", 10_000)
      yield* limit.pause("k", 2_000)
      yield* TestClock.adjust("60 seconds")
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(times, [0, 11_000, 12_000, 13_000])
    }))

  it.effect("gives the turn of one who stopped waiting to the next", () =>
    Effect.gen(function*() {
      const limit = make()
      yield* limit.take("k", 60)
      const gone = yield* Effect.forkChild(limit.take("k", 60))
      yield* TestClock.adjust("1 millis")
      yield* Fiber.interrupt(gone)
      const next = yield* Effect.forkChild(limit.take("k", 60))
      yield* TestClock.adjust("999 millis")
      yield* Fiber.join(next)
      assert.strictEqual(yield* Clock.currentTimeMillis, 1000)
    }))
})

describe("retry", () => {
  const failing = (error: ServiceError) =>
    Effect.gen(function*() {
      const tries = yield* Ref.make<ReadonlyArray<number>>([])
      const call = Clock.currentTimeMillis.pipe(
        Effect.flatMap((now) => Ref.update(tries, (times) => [...times, now])),
        Effect.andThen(Effect.fail(error))
      )
      const fiber = yield* call.pipe(retry({ times: 4, baseMs: 1000, capMs: 3000 }), Effect.exit, Effect.forkChild)
      yield* TestClock.adjust("10 minutes")
      yield* Fiber.join(fiber)
      const times = yield* Ref.get(tries)
      return times.slice(1).map((time, at) => time - times[at]!)
    })

  it.effect("waits longer each time, up to a cap, a bounded number of times", () =>
    Effect.gen(function*() {
      const waits = yield* failing(new ServiceError({ code: "UNAVAILABLE", message: "" }))
      assert.strictEqual(waits.length, 4)
      const expected = [1000, 2000, 3000, 3000]
      waits.forEach((wait, at) => assert.isTrue(wait >= 0.8 * expected[at]! - 1 && wait <= 1.2 * expected[at]! + 1, `${wait}`))
    }))

  it.effect("waits as long as the service asks, unless that is too long", () =>
    Effect.gen(function*() {
      const busy = (retryAfter: number) => new ServiceError({ code: "RESOURCE_EXHAUSTED", message: "", retryAfter })
      assert.deepStrictEqual(yield* failing(busy(7000)), [7000, 7000, 7000, 7000])
      assert.deepStrictEqual(yield* failing(busy(500_000)), [])
    }))

  it.effect("does not repeat what cannot succeed", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* failing(new ServiceError({ code: "INVALID_ARGUMENT", message: "" })), [])
      for (const reason of ["insufficient_quota", "INSUFFICIENT_QUOTA"]) {
        assert.deepStrictEqual(yield* failing(new ServiceError({ code: "RESOURCE_EXHAUSTED", message: "", reason })), [])
      }
    }))
})
