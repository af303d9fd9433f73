import { Clock, Effect, Layer } from "effect"
import { ServiceError } from "../domain/Errors.ts"
import type { Operation } from "../domain/Operation.ts"
import { Operations } from "../ports/Operations.ts"
import type { Page } from "../ports/Paging.ts"
import { asked } from "../server/operations/Asked.ts"
import { Journal } from "../server/operations/Journal.ts"
import { State } from "../state/State.ts"

/** Milliseconds between looks while waiting. */
const waitPoll = 100

/**
 * The operations of a data directory: those that clients of its server asked for, under the names they were told, and
 * the engine's own. The engine's work for an import of a server is not told twice.
 */
export const operations: Layer.Layer<Operations, never, Operations | State> = Layer.effect(
  Operations,
  Effect.gen(function*() {
    const engine = yield* Operations
    const journal = yield* Journal
    const server = asked(journal, engine)

    /** The server's first, newest first, then the engine's; a page's token says which of the two it goes on in. */
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
        const until = (yield* Clock.currentTimeMillis) + timeoutMs
        let operation = yield* get(name)
        for (let left = timeoutMs; !operation.done && left > 0; left = until - (yield* Clock.currentTimeMillis)) {
          yield* Effect.sleep(Math.min(waitPoll, left))
          operation = yield* get(name)
        }
        return operation
      })
    })
  })
).pipe(Layer.provide(Layer.unwrap(Effect.map(State, ({ database }) => Journal.layer(database)))))
