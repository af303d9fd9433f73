import { Effect, Layer } from "effect"
import { waitFor } from "../../jobs/Wait.ts"
import { Operations } from "../../ports/Operations.ts"
import type { Names } from "./Names.ts"
import { OperationRunner } from "./OperationRunner.ts"
import { Reader } from "./store/Reader.ts"
import { operationOfRow } from "./store/Rows.ts"
import { Writer } from "./store/Writer.ts"

/** Milliseconds between looks at an operation that is waited for, as it may run in another process. */
const looks = { first: 100, longest: 100 }

/** The Operations port over the store. */
export const embeddedOperations = (names: Names): Layer.Layer<Operations, never, Reader | Writer | OperationRunner> =>
  Layer.effect(
    Operations,
    Effect.gen(function*() {
      const reader = yield* Reader
      const writer = yield* Writer
      const runner = yield* OperationRunner
      return Operations.of({
        get: runner.get,
        list: Effect.fn("Operations.list")(function*(request) {
          const page = yield* reader.page("operations", request)
          return { ...page, items: page.items.map((row) => operationOfRow(row, names)) }
        }),
        cancel: runner.cancel,
        delete: Effect.fn("Operations.delete")(function*(name) {
          yield* writer.send("deleteOperation", { name: names.operationId(name) })
        }),
        wait: Effect.fn("Operations.wait")(function*(name, timeoutMs) {
          return yield* waitFor(runner.get(name), ({ done }) => done, looks, { timeoutMs })
        })
      })
    })
  )
