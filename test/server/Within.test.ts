import { assert, describe, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber } from "effect"
import { vi } from "vitest"
import { within } from "../../src/server/Within.ts"

/** Longer than any test: nothing is late by it. */
const hour = 3_600_000

describe("what is to end within a time", () => {
  it.live("is what it comes to, where it does", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* within(hour, Effect.succeed("in time"), () => "late"), "in time")
      assert.strictEqual(yield* within(hour, Effect.as(Effect.sleep(1), "after a while"), () => "late"), "after a while")
      assert.strictEqual(yield* Effect.flip(within(hour, Effect.fail("refused"), () => "late")), "refused")
      const exit = yield* Effect.exit(within(hour, Effect.interrupt, () => "late"))
      assert.isTrue(Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause))
    }))

  it.live("holds no timer once it is over", () =>
    Effect.gen(function*() {
      const set = vi.spyOn(globalThis, "setTimeout")
      const clear = vi.spyOn(globalThis, "clearTimeout")
      yield* Effect.ensuring(
        Effect.gen(function*() {
          yield* within(hour, Effect.yieldNow, () => {})
          const timers = set.mock.results.filter((_, at) => set.mock.calls[at]?.[1] === hour).map(({ value }) => value)
          assert.strictEqual(timers.length, 1)
          assert.deepInclude(clear.mock.calls, timers)
        }),
        Effect.sync(() => vi.restoreAllMocks())
      )
    }))

  it.live("is late only when it has ended, also where it may not be interrupted from outside", () =>
    Effect.gen(function*() {
      for (const region of [Effect.interruptible, Effect.uninterruptible]) {
        const seen: Array<string> = []
        const never = Effect.onInterrupt(Effect.never, () => Effect.andThen(Effect.sleep(1), Effect.sync(() => seen.push("ended"))))
        assert.strictEqual(yield* region(within(1, never, () => `late after ${seen.join()}`)), "late after ended")
      }
    }))

  it.live("is late even where its end could not be put off and brought something after all", () =>
    Effect.gen(function*() {
      const slow = Effect.uninterruptible(Effect.as(Effect.sleep(100), "something"))
      assert.strictEqual(yield* within(1, slow, () => "late"), "late")
    }))

  it.live("ends with what runs it", () =>
    Effect.gen(function*() {
      const begun = yield* Deferred.make<void>()
      let ended = false
      const call = Deferred.succeed(begun, undefined).pipe(
        Effect.andThen(Effect.never),
        Effect.onInterrupt(() =>
          Effect.sync(() => {
            ended = true
          })
        )
      )
      const fiber = yield* Effect.forkChild(within(hour, call, () => undefined))
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(fiber)
      assert.isTrue(ended)
    }))
})
