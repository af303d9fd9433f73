import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { DatabaseSync } from "node:sqlite"
import { join } from "node:path"
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
    yield* writer.send("createCorpus", { name: "c", displayName: "c", vectorDb: { _tag: "managed" }, embedder: "none", at: 0 })
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
