import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { spawn, type ChildProcess } from "node:child_process"
import { once } from "node:events"
import { chmodSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import type { CorpusName } from "../../../src/domain/Corpus.ts"
import { unpackHashes } from "../../../src/engines/embedded/store/Hash.ts"
import { Corpora } from "../../../src/ports/Corpora.ts"
import { Files } from "../../../src/ports/Files.ts"
import { pages } from "../../../src/ports/Paging.ts"
import { Retrieval } from "../../../src/ports/Retrieval.ts"
import { databaseFile } from "../../../src/state/Database.ts"
import { tempFolder } from "../../support/TempFolder.ts"
import { engine } from "./support/Engine.ts"
import { ingested, versionOf } from "./support/Ingested.ts"
import { random } from "./support/Random.ts"
import { seedsOf } from "../../support/Seeds.ts"

/** Starts the writer; returns when it has begun to write. */
const startWriter = (folder: string, task: string): Effect.Effect<ChildProcess> =>
  Effect.promise(async () => {
    const child = spawn(process.execPath, [join(import.meta.dirname, "support/WriterProcess.ts"), folder, task], {
      stdio: ["pipe", "pipe", "inherit"]
    })
    await once(child.stdout, "data")
    return child
  })

const ended = (child: ChildProcess): Effect.Effect<void> =>
  Effect.promise(async () => {
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit")
  })

/** Counts in the database that must agree with each other after any number of whole commits. */
const inconsistencies = (folder: string): ReadonlyArray<string> => {
  const db = new DatabaseSync(join(folder, databaseFile))
  const wrong: Array<string> = []
  const expect = (what: string, actual: unknown, expected: unknown): void => {
    if (JSON.stringify(actual) !== JSON.stringify(expected)) {
      wrong.push(`${what}: ${JSON.stringify(actual)} not ${JSON.stringify(expected)}`)
    }
  }
  expect("integrity", db.prepare("PRAGMA integrity_check").get()?.["integrity_check"], "ok")
  for (const corpus of db.prepare("SELECT * FROM corpora").all()) {
    const files = db.prepare("SELECT count(*) AS n, coalesce(sum(chunks), 0) AS c FROM files WHERE corpus = ?").get(corpus["id"] ?? 0)
    expect("files", corpus["files"], files?.["n"])
    expect("chunks", corpus["chunks"], files?.["c"])
    const indexed = db.prepare("SELECT coalesce(sum(chunks), 0) AS c FROM segments WHERE corpus = ?").get(corpus["id"] ?? 0)
    const buried = db.prepare("SELECT coalesce(sum(chunks), 0) AS c FROM tombstones WHERE corpus = ?").get(corpus["id"] ?? 0)
    expect("indexed chunks", Number(indexed?.["c"]) - Number(buried?.["c"]), corpus["chunks"])
  }
  expect(
    "files and their pages",
    db.prepare("SELECT file, sum(chunks) AS c FROM chunk_pages GROUP BY file ORDER BY file").all(),
    db.prepare("SELECT id AS file, chunks AS c FROM files ORDER BY id").all()
  )
  const uses = new Map<string, number>()
  for (const row of db.prepare("SELECT hashes FROM chunk_pages").all()) {
    for (const hash of unpackHashes(row["hashes"] as Uint8Array)) uses.set(hash, (uses.get(hash) ?? 0) + 1)
  }
  const counted = db.prepare("SELECT lower(hex(hash)) AS hash, uses FROM embeddings WHERE uses > 0").all()
  expect("uses of vectors", counted.length, uses.size)
  for (const row of counted) expect(`uses of ${row["hash"]}`, row["uses"], uses.get(String(row["hash"])))
  db.close()
  return wrong
}

const content = Effect.gen(function*() {
  const corpora = yield* Corpora
  const files = yield* Files
  const retrieval = yield* Retrieval
  const [corpus] = (yield* corpora.list({})).items
  if (corpus === undefined) return { files: [], answers: [] }
  const listed = [...yield* Stream.runCollect(pages((page) => files.list(corpus.name, page)))]
  const answers = yield* Effect.forEach(
    ["common words", "group3", "file7 filler", "version1"],
    (query) => retrieval.retrieve({ corpus: corpus.name, query, topK: 200, hybrid: { alpha: 0 } })
  )
  return {
    files: listed.map((file) => `${file.displayName} ${versionOf(file)} ${file.chunks}`).toSorted(),
    answers: answers.map((contexts) =>
      contexts.map(({ score, sourceDisplayName, text }) => `${score.toFixed(9)} ${sourceDisplayName} ${text}`).toSorted()
    )
  }
})

const seeds = seedsOf("SLUICE_KILL_SEEDS", 2, 20)

describe("a writer that is killed", () => {
  it.live(`leaves whole commits, and the next run converges (${seeds} seeds)`, () =>
    Effect.scoped(Effect.gen(function*() {
      const undisturbed = yield* tempFolder
      yield* ended(yield* startWriter(undisturbed, "ingest"))
      const expected = yield* Effect.provide(content, engine(undisturbed))
      assert.deepStrictEqual(
        expected.files,
        ingested.map((f) => `${f.displayName} ${f.target} ${f.text(0).split("\n\n").length}`).toSorted()
      )
      for (let seed = 1; seed <= seeds; seed++) {
        const folder = yield* tempFolder
        const next = random(seed)
        for (let kills = 0; kills < 2; kills++) {
          const child = yield* startWriter(folder, "ingest")
          yield* Effect.sleep(next() * 250)
          child.kill("SIGKILL")
          yield* ended(child)
          assert.deepStrictEqual(inconsistencies(folder), [], `seed ${seed}`)
        }
        yield* ended(yield* startWriter(folder, "ingest"))
        assert.deepStrictEqual(inconsistencies(folder), [], `seed ${seed}`)
        assert.deepStrictEqual(yield* Effect.provide(content, engine(folder)), expected, `seed ${seed}`)
      }
    })), { timeout: 240_000 + seeds * 20_000 })
})

describe("a reader beside a writer in another process", () => {
  it.live("sees the old version or the new one, whole", () =>
    Effect.scoped(Effect.gen(function*() {
      const folder = yield* tempFolder
      const child = yield* startWriter(folder, "replace")
      const seen = yield* Effect.provide(
        Effect.gen(function*() {
          const retrieval = yield* Retrieval
          const [corpus] = (yield* (yield* Corpora).list({})).items
          const versions = new Set<string>()
          while (versions.size < 20 && child.exitCode === null) {
            const found = yield* retrieval.retrieve({ corpus: corpus?.name ?? ("" as CorpusName), query: "marker", hybrid: { alpha: 0 } })
            const version = /version\d+/.exec(found[0]?.text ?? "")?.[0] ?? "none"
            assert.deepStrictEqual(found.map(({ text }) => text), [1, 2, 3].map((part) => `marker ${version} part${part}`))
            versions.add(version)
            yield* Effect.sleep(1)
          }
          child.stdin?.end()
          yield* ended(child)
          return versions.size
        }),
        engine(folder)
      )
      // The writer goes on until it was read while it wrote.
      assert.deepStrictEqual([child.exitCode, seen], [0, 20])
    })))
})

describe("a disk or a database that fails", () => {
  it.live("reports a damaged database and does not touch it", () =>
    Effect.scoped(Effect.gen(function*() {
      const folder = yield* tempFolder
      const path = join(folder, databaseFile)
      writeFileSync(path, "this is not a database, it is a note that someone put here".repeat(100))
      const before = readFileSync(path)
      const error = yield* Effect.flip(Effect.provide(Effect.void, engine(folder)))
      assert.strictEqual(error._tag === "StateError" && error.problem, "damaged")
      assert.deepStrictEqual(readFileSync(path), before)
    })))

  // Root may write anywhere.
  it.live.skipIf(process.getuid?.() === 0)(
    "says in one error that a directory cannot be written",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const folder = yield* tempFolder
        yield* Effect.acquireRelease(Effect.sync(() => chmodSync(folder, 0o500)), () => Effect.sync(() => chmodSync(folder, 0o700)))
        const error = yield* Effect.flip(Effect.provide(Effect.void, engine(folder)))
        assert.strictEqual(error._tag === "StateError" && error.problem, "readOnly")
      }))
  )
})
