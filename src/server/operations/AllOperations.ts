import type { DatabaseSync } from "node:sqlite"
import { Effect, Layer } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import type { Operation } from "../../domain/Operation.ts"
import { waitFor } from "../../jobs/Wait.ts"
import { Operations } from "../../ports/Operations.ts"
import type { Page } from "../../ports/Paging.ts"
import { asked } from "./Asked.ts"
import { Journal } from "./Journal.ts"

/** Milliseconds between two looks at an operation that is waited for. */
const looks = { first: 100, longest: 100 }

/**
 * The operations of a data directory: those that clients of its server started, under the names that they received, and the
 * engine's own. The engine's operation behind a server's import is not listed as well.
 */
export const allOperations = (database: DatabaseSync): Layer.Layer<Operations, never, Operations> =>
  Layer.effect(
    Operations,
    Effect.gen(function*() {
      const engine = yield* Operations
      const journal = yield* Journal
      const server = asked(journal, engine)

      /** Lists the server's operations, newest first, then the engine's. A page token says in which of the two lists to continue. */
      const list: Operations["Service"]["list"] = Effect.fn("AllOperations.list")(function*({ size, token = "" }) {
        const [, place = token === "" ? "server" : "", inner = ""] = /^(server|engine):(.*)$/.exec(token) ?? []
        if (place === "") return yield* ServiceError.invalid("pageToken", "is not one that a listing gave")
        const page = { size, token: inner === "" ? undefined : inner }
        if (place === "server") {
          const { items, nextToken } = yield* server.list(page)
          return { items: items.map(({ operation }) => operation), nextToken: nextToken === undefined ? "engine:" : `server:${nextToken}` }
        }
        const { items, nextToken } = yield* engine.list(page)
        const works = yield* journal.works
        const found: Page<Operation> = { items: items.filter(({ name }) => !works.has(name)) }
        return nextToken === undefined ? found : { ...found, nextToken: `engine:${nextToken}` }
      })

      const get: Operations["Service"]["get"] = Effect.fn("AllOperations.get")(function*(name) {
        const entry = yield* server.find(name)
        return entry === undefined ? yield* engine.get(name) : entry.operation
      })

      return Operations.of({
        list,
        get,
        cancel: Effect.fn("AllOperations.cancel")(function*(name) {
          const entry = yield* server.find(name)
          yield* entry === undefined ? engine.cancel(name) : server.cancel(entry)
        }),
        delete: Effect.fn("AllOperations.delete")(function*(name) {
          const entry = yield* server.find(name)
          yield* entry === undefined ? engine.delete(name) : server.delete(entry)
        }),
        wait: Effect.fn("AllOperations.wait")(function*(name, timeoutMs) {
          return yield* waitFor(get(name), ({ done }) => done, looks, { timeoutMs })
        })
      })
    })
  ).pipe(Layer.provide(Journal.layer(database)))
