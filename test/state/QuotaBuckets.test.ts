import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Quota } from "../../src/ports/Quota.ts"
import * as QuotaBuckets from "../../src/state/QuotaBuckets.ts"
import { State } from "../../src/state/State.ts"
import { tempFolder } from "../support/TempFolder.ts"

/** Takes `n` turns one after another and tells when each was given. */
const turns = (n: number, perMinute: number) =>
  Effect.gen(function*() {
    const quota = yield* Quota
    return yield* Effect.forEach(Array.from({ length: n }), () => Effect.andThen(quota.take("b", perMinute), Clock.currentTimeMillis))
  })

describe("QuotaBuckets", () => {
  it.effect("lets a minute's worth through at once, and then as it ages", () =>
    Effect.gen(function*() {
      const fiber = yield* Effect.forkChild(turns(7, 3))
      yield* TestClock.adjust("5 minutes")
      const at = yield* Fiber.join(fiber)
      assert.deepStrictEqual(at.map((t) => t - at[0]!), [0, 0, 0, 61_000, 61_000, 61_000, 122_000])
    }).pipe(Effect.provide(QuotaBuckets.layerMemory)))

  it.effect("keeps buckets apart", () =>
    Effect.gen(function*() {
      const quota = yield* Quota
      yield* quota.take("one", 1)
      yield* quota.take("two", 1)
    }).pipe(Effect.provide(QuotaBuckets.layerMemory)))

  it.effect("a pause holds up those who wait and those who come", () =>
    Effect.gen(function*() {
      const quota = yield* Quota
      yield* quota.take("b", 1)
      const waiting = yield* Effect.forkChild(Effect.andThen(quota.take("b", 1), Clock.currentTimeMillis))
      yield* TestClock.adjust("1 second")
      yield* quota.pause("b", 10_000)
      yield* quota.pause("b", 4_000)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* Fiber.join(waiting), 71_000)

      yield* quota.pause("b", 10_000)
      const late = yield* Effect.forkChild(Effect.andThen(quota.take("b", 1), Clock.currentTimeMillis))
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* Fiber.join(late), 3_600_000 + 1_000 + 10_000)
    }).pipe(Effect.provide(QuotaBuckets.layerMemory)))

  it.effect("a turn that is given up is free again", () =>
    Effect.gen(function*() {
      const quota = yield* Quota
      yield* quota.take("b", 1)
      const gone = yield* Effect.forkChild(quota.take("b", 1))
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(gone)
      const next = yield* Effect.forkChild(Effect.andThen(quota.take("b", 1), Clock.currentTimeMillis))
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual(yield* Fiber.join(next), 61_000)
    }).pipe(Effect.provide(QuotaBuckets.layerMemory)))

  it.effect("spends amounts together, as the youngest minute leaves room", () =>
    Effect.gen(function*() {
      const quota = yield* Quota
      const call = (tokens: number) =>
        Effect.flatMap(
          quota.spend([{ bucket: "queries", perMinute: 10, amount: 1 }, { bucket: "tokens", perMinute: 1000, amount: tokens }]),
          (receipts) => Effect.map(Clock.currentTimeMillis, (at) => ({ at, receipts }))
        )
      const first = yield* call(600)
      yield* TestClock.adjust("10 seconds")
      yield* call(300)
      const third = yield* Effect.forkChild(call(200))
      const small = yield* Effect.forkChild(call(1))
      const huge = yield* Effect.forkChild(call(5000))
      yield* TestClock.adjust("10 minutes")
      assert.strictEqual((yield* Fiber.join(third)).at, 61_000)
      assert.strictEqual((yield* Fiber.join(small)).at, 61_000, "does not overtake")
      assert.strictEqual((yield* Fiber.join(huge)).at, 122_000, "has a minute to itself")
      assert.lengthOf(first.receipts, 2)
    }).pipe(Effect.provide(QuotaBuckets.layerMemory)))

  it.effect("is corrected by what a spending came to", () =>
    Effect.gen(function*() {
      const quota = yield* Quota
      const tokens = (amount: number) => quota.spend([{ bucket: "tokens", perMinute: 1000, amount }])
      const [receipt = -1] = yield* tokens(1000)
      yield* quota.settle(receipt, 100)
      yield* tokens(900)
      const over = yield* Effect.forkChild(Effect.andThen(tokens(1), Clock.currentTimeMillis))
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual(yield* Fiber.join(over), 61_000)
    }).pipe(Effect.provide(QuotaBuckets.layerMemory)))

  it.effect("a spending waits out a pause, and one that is given up is free again", () =>
    Effect.gen(function*() {
      const quota = yield* Quota
      const both = quota.spend([{ bucket: "queries", perMinute: 10, amount: 1 }, { bucket: "tokens", perMinute: 1000, amount: 1000 }])
      yield* quota.pause("queries", 5_000)
      const paused = yield* Effect.forkChild(Effect.andThen(both, Clock.currentTimeMillis))
      yield* TestClock.adjust("1 second")
      const gone = yield* Effect.forkChild(both)
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(gone)
      const next = yield* Effect.forkChild(Effect.andThen(both, Clock.currentTimeMillis))
      yield* TestClock.adjust("5 minutes")
      assert.strictEqual(yield* Fiber.join(paused), 5_000)
      assert.strictEqual(yield* Fiber.join(next), 66_000)
    }).pipe(Effect.provide(QuotaBuckets.layerMemory)))

  it.effect("gives as many places as there are, and tells who has them", () =>
    Effect.gen(function*() {
      const quota = yield* Quota
      assert.deepStrictEqual(yield* quota.occupy("b", 2, "one", 60_000), [])
      assert.deepStrictEqual(yield* quota.occupy("b", 2, "two", 120_000), [])
      assert.deepStrictEqual(yield* quota.occupy("b", 2, "two", 120_000), [])
      assert.deepStrictEqual(yield* quota.occupy("b", 2, "three", 60_000), ["one", "two"])
      yield* TestClock.adjust("61 seconds")
      assert.deepStrictEqual(yield* quota.occupy("b", 2, "three", 60_000), [])
      yield* quota.vacate("b", "three")
      assert.deepStrictEqual(yield* quota.occupy("b", 2, "four", 60_000), [])
    }).pipe(Effect.provide(QuotaBuckets.layerMemory)))

  it.effect("is one for all who open the same data directory", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      const open = QuotaBuckets.layer.pipe(Layer.provide(State.layer(folder)))
      const here = yield* Layer.build(Layer.fresh(open))
      const there = yield* Layer.build(Layer.fresh(open))
      yield* turns(2, 2).pipe(Effect.provide(here))
      const fiber = yield* Effect.forkChild(turns(1, 2).pipe(Effect.provide(there)))
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual(yield* Fiber.join(fiber), [61_000])
    }).pipe(Effect.scoped))
})
