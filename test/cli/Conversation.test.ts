import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { PassThrough } from "node:stream"
import { typing } from "../../src/cli/Conversation.ts"

const ctrlC = "\x03"
const ctrlD = "\x04"

const setUp = (terminal = true) =>
  Effect.gen(function*() {
    const input = new PassThrough()
    const output = new PassThrough()
    let shown = ""
    output.on("data", (text: Buffer) => {
      shown += text.toString()
    })
    const conversation = yield* typing("> ", { input, output, terminal })
    return { ...conversation, input, type: (keys: string) => input.write(keys), shown: () => shown }
  })

describe("what a person types", () => {
  it.live("is read line by line; Ctrl-C drops a line that was begun, and leaves where none was", () =>
    Effect.gen(function*() {
      const { next, shown, type } = yield* setUp()
      type("one\r")
      assert.strictEqual(yield* next, "one")
      const second = yield* Effect.forkChild(next)
      type(`not this${ctrlC}two\r`)
      assert.strictEqual(yield* Fiber.join(second), "two")
      type(ctrlC)
      assert.isUndefined(yield* next)
      assert.isTrue(shown().endsWith("\n"), "what comes after has a line of its own")
    }).pipe(Effect.scoped))

  it.live("stops what is under way with Ctrl-C, and then goes on; what was typed meanwhile is kept", () =>
    Effect.gen(function*() {
      const { next, type, untilStopped } = yield* setUp()
      const begun = yield* Deferred.make<void>()
      let left = false
      const endless = Deferred.succeed(begun, undefined).pipe(
        Effect.andThen(Effect.never),
        Effect.onInterrupt(() =>
          Effect.sync(() => {
            left = true
          })
        )
      )
      const work = yield* Effect.forkChild(untilStopped(endless))
      yield* Deferred.await(begun)
      type(`typed ahead\r${ctrlC}`)
      assert.isFalse(yield* Fiber.join(work))
      assert.isTrue(left)
      assert.strictEqual(yield* next, "typed ahead")
      assert.isTrue(yield* untilStopped(Effect.void))
      const failure = yield* Effect.flip(untilStopped(Effect.fail("no")))
      assert.strictEqual(failure, "no")
      type(ctrlD)
      assert.isUndefined(yield* next)
    }).pipe(Effect.scoped))

  it.live("may end while something is under way", () =>
    Effect.gen(function*() {
      const { next, type, untilStopped } = yield* setUp()
      assert.isTrue(yield* untilStopped(Effect.sync(() => void type(`last\r${ctrlD}`))))
      assert.strictEqual(yield* next, "last")
      assert.isUndefined(yield* next)
    }).pipe(Effect.scoped))

  it.live("is a line each of a file, with no prompt", () =>
    Effect.gen(function*() {
      const { input, next, shown } = yield* setUp(false)
      input.end("one\ntwo")
      assert.deepStrictEqual([yield* next, yield* next, yield* next], ["one", "two", undefined])
      assert.strictEqual(shown(), "")
    }).pipe(Effect.scoped))
})
