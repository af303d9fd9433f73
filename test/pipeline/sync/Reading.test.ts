import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { ServiceError } from "../../../src/domain/Errors.ts"
import { readItem } from "../../../src/pipeline/sync/Decision.ts"
import type { Connector } from "../../../src/ports/Connector.ts"

/** How often an item is read that fails so often with this, and what comes of it. */
const read = Effect.fnUntraced(function*(failures: number, code: ServiceError["code"]) {
  let reads = 0
  const connector: Connector = {
    kind: "test",
    check: Effect.void,
    list: () => Stream.empty,
    read: () =>
      Stream.suspend(() =>
        ++reads <= failures ? Stream.fail(new ServiceError({ code, message: "no" })) : Stream.make(Uint8Array.of(1), Uint8Array.of(2))
      )
  }
  const item = { path: "a", uri: "file:///a", displayName: "a", revision: "1" }
  const fiber = yield* Effect.forkChild(Effect.result(readItem(connector, item, 10)))
  yield* TestClock.adjust("1 minute")
  const ended = yield* Fiber.join(fiber)
  return [reads, ended._tag === "Success" ? [...ended.success] : ended.failure._tag === "ServiceError" ? ended.failure.code : ""]
})

it.effect("an item that changes while it is read is read three times more, and nothing else is read again", () =>
  Effect.gen(function*() {
    assert.deepStrictEqual(yield* read(0, "ABORTED"), [1, [1, 2]])
    assert.deepStrictEqual(yield* read(1, "ABORTED"), [2, [1, 2]])
    assert.deepStrictEqual(yield* read(3, "ABORTED"), [4, [1, 2]])
    assert.deepStrictEqual(yield* read(4, "ABORTED"), [4, "ABORTED"])
    assert.deepStrictEqual(yield* read(1, "NOT_FOUND"), [1, "NOT_FOUND"])
  }))
