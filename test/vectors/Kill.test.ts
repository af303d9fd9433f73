import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import postgresClient from "postgres"
import { events, sluice, start } from "../support/Sluice.ts"
import { tempFolder, write } from "../support/TempFolder.ts"
import { postgresUrl } from "./support/Postgres.ts"

/** Runs that are killed, and files of the corpus. */
const kills = Number(process.env["SLUICE_KILL_SEEDS"] ?? 2)
const files = Number(process.env["SLUICE_KILL_FILES"] ?? 30)

const random = (seed: number) => () => {
  seed = (seed * 1_664_525 + 1_013_904_223) >>> 0
  return seed / 2 ** 32
}

const words = "valve meter flow sensor pipe leak pressure report holiday allowance travel office safety cell battery".split(" ")

const documents = (version: number): Record<string, string> => {
  const next = random(version)
  const sentence = () => Array.from({ length: 12 }, () => words[Math.floor(next() * words.length)]).join(" ")
  return Object.fromEntries(
    Array.from({ length: files }, (_, i) => [`file${i}.md`, `# File ${i}\n\nVersion ${version}.\n\n${sentence()}.\n\n${sentence()}.\n`])
  )
}

const pipeline = `
name: kill
corpus: { displayName: Kill, vectorDb: { postgres: { url: projects/p/secrets/pg/versions/latest, schema: killed } } }
sources: { docs: { local: { path: ./docs } } }
chunking: { strategy: structure, size: 60, overlap: 0 }
`

describe("kill -9 with vectors in PostgreSQL", () => {
  it.live(`leaves nothing, after ${kills} times at random points, that the next run does not bring in order`, () =>
    Effect.gen(function*() {
      const cwd = yield* tempFolder
      const url = yield* postgresUrl
      const sql = yield* Effect.acquireRelease(
        Effect.sync(() => postgresClient(url, { max: 1, fetch_types: false, prepare: false, onnotice: () => {} })),
        (sql) => Effect.promise(() => sql.end({ timeout: 1 }))
      )
      const env = { SLUICE_SECRET_PG: url }
      write(cwd, { "pipeline.yaml": pipeline })
      const run = ["run", "pipeline.yaml", "--data-dir", "data", "--json"]
      const next = random(7)
      let length = 4_000
      for (let version = 1; version <= kills; version++) {
        write(join(cwd, "docs"), documents(version))
        const { child, finished } = start(run, { cwd, env })
        const timer = setTimeout(() => child.kill("SIGKILL"), length * (0.3 + 0.6 * next()))
        yield* Effect.promise(() => finished)
        clearTimeout(timer)
        if (version % 2 === 0) continue
        const began = Date.now()
        const done = yield* Effect.promise(() => sluice(run, { cwd, env }))
        assert.strictEqual(done.code, 0, done.stderr)
        length = Date.now() - began
      }
      const last = yield* Effect.promise(() => sluice(run, { cwd, env }))
      assert.strictEqual(last.code, 0, last.stderr)
      const calm = yield* Effect.promise(() => sluice(run, { cwd, env }))
      const report = events(calm).at(-1)?.["report"]
      assert.deepInclude(report, { embedded: 0 })
      const db = new DatabaseSync(join(cwd, "data", "sluice.db"), { readOnly: true })
      yield* Effect.addFinalizer(() => Effect.sync(() => db.close()))
      assert.strictEqual(Number(db.prepare("SELECT count(*) AS n FROM vector_work").get()?.["n"]), 0)
      const stored = db.prepare("SELECT name, chunks FROM files ORDER BY name").all().map((row) => `${row["name"]} ${row["chunks"]}`)
      assert.lengthOf(stored, files)
      const corpus = String(db.prepare("SELECT name FROM corpora").get()?.["name"])
      const there = yield* Effect.promise(() =>
        sql.unsafe<Array<{ file_id: string; chunks: number }>>(
          `SELECT file_id, count(*)::integer AS chunks FROM killed.corpus_${corpus} GROUP BY 1 ORDER BY 1`
        )
      )
      assert.deepStrictEqual(there.map(({ chunks, file_id }) => `${file_id} ${chunks}`), stored)
      const texts = yield* Effect.promise(() =>
        sql.unsafe(`SELECT count(*)::integer AS n FROM killed.corpus_${corpus} WHERE text LIKE '%Version ${kills}.%'`)
      )
      assert.strictEqual(texts[0]?.["n"], files)
    }).pipe(Effect.scoped), 60_000 + kills * 30_000)
})
