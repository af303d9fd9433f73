import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { DatabaseSync } from "node:sqlite"
import { join } from "node:path"
import type { EmbeddedOptions } from "../../../src/engines/embedded/Embedded.ts"
import { sumOf } from "../../../src/engines/embedded/store/Checksum.ts"
import { Corpora } from "../../../src/ports/Corpora.ts"
import { Files } from "../../../src/ports/Files.ts"
import { Retrieval } from "../../../src/ports/Retrieval.ts"
import { analysisVersion } from "../../../src/search/analysis/AnalysisVersion.ts"
import { databaseFile } from "../../../src/state/Database.ts"
import { eventually } from "../../support/Eventually.ts"
import { tempFolder } from "../../support/TempFolder.ts"
import { engine, textFile } from "./support/Engine.ts"

const inDatabase = <A>(folder: string, body: (db: DatabaseSync) => A): A => {
  const db = new DatabaseSync(join(folder, databaseFile), { timeout: 60_000 })
  try {
    return body(db)
  } finally {
    db.close()
  }
}

const versions = (folder: string): ReadonlyArray<unknown> =>
  inDatabase(folder, (db) => db.prepare("SELECT DISTINCT analysis FROM segments").all().map((row) => row["analysis"]))

/** What an older Sluice would have left. */
const age = (folder: string): void =>
  inDatabase(folder, (db) => {
    for (const row of db.prepare("SELECT * FROM segments").all()) {
      const old = { ...row, analysis: "0", analyzers: "[\"en\"]" }
      db.prepare("UPDATE segments SET analysis = ?, analyzers = ?, sum = ? WHERE id = ?").run(
        old.analysis,
        old.analyzers,
        sumOf("segments", old),
        row["id"] ?? 0
      )
    }
  })

const fill = Effect.gen(function*() {
  const { name } = yield* (yield* Corpora).create({ displayName: "corpus", vectorDb: { _tag: "managed" } })
  const files = yield* Files
  yield* Effect.forEach(
    Array.from({ length: 30 }, (_, i) => i),
    (i) => files.upload(textFile(name, `f${i}.txt`, `The lantern of keeper${i} is lit.\n\nThe tide comes in at hour${i}.`)),
    { concurrency: 8, discard: true }
  )
})

const ask = Effect.gen(function*() {
  const [corpus] = (yield* (yield* Corpora).list({})).items
  const found = yield* (yield* Retrieval).retrieve({ corpus: corpus!.name, query: "lantern of keeper7", topK: 5 })
  return found.map(({ score, text }) => ({ score, text }))
})

const opened =
  (folder: string, options?: Omit<EmbeddedOptions, "dataDir">) => <A, E>(body: Effect.Effect<A, E, Corpora | Files | Retrieval>) =>
    Effect.provide(body, engine(folder, options), { local: true })

describe("an index that another version made", () => {
  it.live("answers at once, and is let be by a program that ends", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      const expected = yield* opened(folder)(Effect.andThen(fill, ask))
      age(folder)
      assert.deepStrictEqual(yield* opened(folder)(ask), expected)
      assert.deepStrictEqual(versions(folder), ["0"])
    }))

  it.live("is rebuilt behind the answers of a program that goes on", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      const expected = yield* opened(folder)(Effect.andThen(fill, ask))
      age(folder)
      yield* opened(folder)(Effect.gen(function*() {
        assert.deepStrictEqual(yield* ask, expected)
        yield* eventually("the index is rebuilt", Effect.sync(() => versions(folder).every((version) => version === analysisVersion)))
        assert.deepStrictEqual(yield* ask, expected)
      }))
    }))

  it.live("is rebuilt whole by who opens the store to write", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      const expected = yield* opened(folder)(Effect.andThen(fill, ask))
      age(folder)
      yield* opened(folder, { rebuildsOutdated: true })(Effect.void)
      assert.deepStrictEqual(versions(folder), [analysisVersion])
      assert.deepStrictEqual(yield* opened(folder)(ask), expected)
    }))
})
