import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { DatabaseSync } from "node:sqlite"
import { join } from "node:path"
import { Corpora } from "../../../../src/ports/Corpora.ts"
import { Ledger } from "../../../../src/ports/Ledger.ts"
import { databaseFile } from "../../../../src/state/Database.ts"
import * as SqliteLedger from "../../../../src/state/SqliteLedger.ts"
import { State } from "../../../../src/state/State.ts"
import { tempFolder } from "../../../support/TempFolder.ts"
import { engine } from "../support/Engine.ts"

describe("the ledger beside a writer", () => {
  it.live("waits in the writer's queue for whoever holds the database, and holds nothing up meanwhile", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      const layer = SqliteLedger.layer.pipe(Layer.provideMerge(engine(folder)), Layer.provide(State.layer(folder)))
      yield* Effect.gen(function*() {
        const ledger = yield* Ledger
        const run = yield* ledger.startRun("scope", 1)
        // The writer's thread runs from here on.
        yield* (yield* Corpora).create({ displayName: "corpus", vectorDb: { _tag: "managed" } })
        const other = new DatabaseSync(join(folder, databaseFile), { timeout: 60_000 })
        other.exec("BEGIN IMMEDIATE")
        const writes = yield* Effect.forkChild(Effect.all([
          ledger.beginGeneration("scope", {
            scope: "scope",
            number: 1,
            role: "live",
            corpus: (yield* (yield* Corpora).list({})).items[0]!.name
          }),
          ledger.setListing("scope", "docs", { cursor: "c", signature: "s", whole: 1, again: [] }),
          ledger.setContents("scope", "docs", "a.zip", { revision: "r", signature: "s", contents: "[]" }),
          ledger.setContents("scope", "docs", "b.zip", { revision: "r", signature: "s", contents: "[]" }),
          ledger.startRun("scope", 2)
        ]))
        // Written from this thread, they would hold it here until SQLite gives up.
        const since = performance.now()
        yield* Effect.sleep("100 millis")
        assert.isBelow(performance.now() - since, 5_000)
        assert.isUndefined(yield* ledger.listing("scope", "docs"))
        other.exec("ROLLBACK")
        other.close()
        const [, , , , second] = yield* Fiber.join(writes)
        assert.isAbove(second, run)
        assert.strictEqual((yield* ledger.listing("scope", "docs"))?.cursor, "c")
        yield* ledger.keepContents("scope", "docs", new Set(["b.zip"]))
        assert.deepStrictEqual((yield* ledger.contents("scope", "docs", ["a.zip", "b.zip"])).map((record) => record?.revision), [
          undefined,
          "r"
        ])
        assert.deepStrictEqual((yield* ledger.runs("scope", 9)).map(({ started }) => started), [2, 1])
      }).pipe(Effect.provide(layer))
    }))
})
