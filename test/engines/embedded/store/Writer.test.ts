import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { DatabaseSync } from "node:sqlite"
import { join } from "node:path"
import { isIntact } from "../../../../src/engines/embedded/store/Checksum.ts"
import type { NewChunk } from "../../../../src/engines/embedded/store/ChunkPage.ts"
import type { Commands } from "../../../../src/engines/embedded/store/Commands.ts"
import { textHash } from "../../../../src/engines/embedded/store/Hash.ts"
import { packVector } from "../../../../src/engines/embedded/store/Vector.ts"
import { Writer } from "../../../../src/engines/embedded/store/Writer.ts"
import { databaseFile } from "../../../../src/state/Database.ts"
import { eventually } from "../../../support/Eventually.ts"
import { tempFolder } from "../../../support/TempFolder.ts"

const mebi = 1024 * 1024

/** Of as many chunks as there are texts. */
const chunksOf = (chunks: number, characters: number) =>
  Array.from({ length: chunks }, (_, at) => {
    const text = `${at} ${"apples and pears ".repeat(Math.ceil(characters / 17))}`.slice(0, characters)
    return { text, headings: [], byteStart: 0, byteEnd: 1, tokens: 1, hash: textHash(text) }
  })

/** The command that puts a file; `onSent` runs when it is copied to the writer's thread. */
const putFile = (name: string, chunks: ReadonlyArray<NewChunk>, onSent: () => void): Commands["putFile"]["in"] => {
  const file = { name, displayName: name, sourceUri: name, sizeBytes: 1, tokens: 1, chunks }
  Object.defineProperty(file, "title", { enumerable: true, get: () => void onSent() })
  return { corpus: "c", file, at: 0 }
}

/** Sends files while somebody else holds the database, and says how many came to the writer before; then, how many commits they took. */
const send = Effect.fnUntraced(function*(files: number, chunks: number, characters: number, least: number) {
  const folder = yield* tempFolder
  return yield* Effect.gen(function*() {
    const writer = yield* Writer
    const all = chunksOf(chunks, characters)
    const vectors = all.map(({ hash }) => ({ hash, vector: packVector(new Float32Array(8)) }))
    yield* writer.send("createCorpus", corpus)
    yield* writer.send("putVectors", { embedder: "none", vectors, at: 0 })
    const other = new DatabaseSync(join(folder, databaseFile), { timeout: 60_000 })
    const generation = () => Number(other.prepare("SELECT generation FROM corpora").get()?.["generation"])
    const before = generation()
    other.exec("BEGIN IMMEDIATE")
    let sent = 0
    const sending = yield* Effect.forkChild(
      Effect.forEach(Array.from({ length: files }, (_, i) => putFile(`f${i}`, all, () => sent++)), (file) => writer.send("putFile", file), {
        concurrency: "unbounded",
        discard: true
      })
    )
    yield* eventually("files come to the writer", Effect.sync(() => sent >= least))
    // Whoever is not held up comes within this turn and the next.
    yield* Effect.sleep("50 millis")
    const waited = sent
    other.exec("ROLLBACK")
    yield* Fiber.join(sending)
    const commits = generation() - before
    other.close()
    return { waited, commits }
  }).pipe(Effect.provide(Writer.layer(folder, { withReader: false })))
})

const corpus = { name: "c", displayName: "c", vectorDb: { _tag: "managed" }, embedder: "none", at: 0 } as const

describe("the writer's thread", () => {
  it.live("starts before there is something to write, where it is told to", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      let threads = 0
      const count = () => void threads++
      process.on("worker", count)
      const open = (started: boolean) =>
        Effect.scoped(Effect.as(Layer.build(Writer.layer(folder, { started })), threads)).pipe(Effect.map(() => threads))
      assert.deepStrictEqual([yield* open(false), yield* open(true)], [0, 1])
      process.off("worker", count)
    }))

  it.live("is not waited for by the corpus that comes first, where it starts at once", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      yield* Effect.gen(function*() {
        const writer = yield* Writer
        yield* writer.send("createCorpus", corpus)
        assert.isFalse(writer.isRunning())
        yield* writer.send("createCorpus", { ...corpus, name: "d" })
        const again = yield* Effect.flip(writer.send("createCorpus", corpus))
        yield* writer.send("updateCorpus", { name: "c", displayName: "changed", at: 1 })
        assert.isTrue(writer.isRunning())
        yield* writer.send("createCorpus", { ...corpus, name: "e" })
        assert.strictEqual(again._tag, "ServiceError")
      }).pipe(Effect.provide(Writer.layer(folder, { started: true })), Effect.scoped)
      const db = new DatabaseSync(join(folder, databaseFile))
      const rows = db.prepare("SELECT * FROM corpora ORDER BY id").all()
      db.close()
      assert.deepStrictEqual(rows.map(({ display_name, name }) => [name, display_name]), [["c", "changed"], ["d", "c"], ["e", "c"]])
      assert.isTrue(rows.every((row) => isIntact("corpora", row)))
    }))

  it.live("does not let the one who is left wait for company", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      yield* Effect.gen(function*() {
        const writer = yield* Writer
        const files = chunksOf(1, 8)
        yield* writer.send("createCorpus", corpus)
        yield* writer.send("putVectors", {
          embedder: "none",
          vectors: files.map(({ hash }) => ({ hash, vector: packVector(new Float32Array(8)) })),
          at: 0
        })
        const waited: Array<number> = []
        for (let round = 0; round < 8; round++) {
          yield* Effect.forEach(Array.from({ length: 32 }, (_, i) => putFile(`f${round}-${i}`, files, () => {})), (file) =>
            writer.send("putFile", file), {
            concurrency: "unbounded",
            discard: true
          })
          const since = performance.now()
          yield* writer.send("writeState", { statements: [{ sql: "DELETE FROM runs WHERE id = ?", parameters: [-1] }] })
          waited.push(performance.now() - since)
        }
        // Files after so many wait for 75 ms for others.
        assert.isBelow(Math.min(...waited), 60)
      }).pipe(Effect.provide(Writer.layer(folder, { withReader: false })), Effect.scoped)
    }))
})

describe("what waits for the writer", () => {
  it.live("is bounded by its texts, and a commit too", () =>
    Effect.gen(function*() {
      const { commits, waited } = yield* send(24, 1, mebi / 2, 8)
      assert.isBelow(waited, 17)
      assert.isAtLeast(commits, 24 / 4)
    }))

  it.live("is bounded by how many chunks there are, however short", () =>
    Effect.gen(function*() {
      const { waited } = yield* send(24, 1_000, 8, 8)
      assert.isBelow(waited, 20)
    }))

  it.live("is all of many small files", () =>
    Effect.gen(function*() {
      const { waited } = yield* send(256, 6, 1_000, 256)
      assert.strictEqual(waited, 256)
    }))
})
