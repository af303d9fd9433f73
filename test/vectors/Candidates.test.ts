import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { symlinkSync } from "node:fs"
import { join } from "node:path"
import { fakeOpenAi, sendEmbeddings } from "../fakes/Openai.ts"
import { command } from "../support/Command.ts"
import { events } from "../support/Finished.ts"
import { tempFolder, write } from "../support/TempFolder.ts"
import { lanceDbFolder } from "./support/LanceDb.ts"
import { postgresUrl } from "./support/Postgres.ts"

const question = "When is the roof checked?"

/** One corpus in a database, its candidate with vectors of another length beside it, promoted and taken back. */
const walk = (vectorDb: string, env: Readonly<Record<string, string>>) =>
  Effect.gen(function*() {
    const cwd = yield* tempFolder
    const fake = yield* fakeOpenAi((request, response) =>
      sendEmbeddings(request, response, (text) => [1, text.includes("roof") ? 9 : 0, 1, text.length % 3])
    )
    if (lanceDbFolder !== undefined) symlinkSync(join(lanceDbFolder, "node_modules"), join(cwd, "node_modules"))
    const pipeline = (embedding: string) => `
name: p
corpus: { displayName: P, vectorDb: ${vectorDb}${embedding} }
sources: { docs: { local: { path: ./docs } } }
`
    write(cwd, {
      "docs/a.md": "# A\n\nThe boiler is checked in spring.\n",
      "docs/b.md": "# B\n\nThe roof is checked in autumn.\n",
      "pipeline.yaml": pipeline("")
    })
    const run = (...args: ReadonlyArray<string>) => Effect.promise(() => command(args, { cwd, env }))
    const done = (...args: ReadonlyArray<string>) =>
      Effect.tap(run(...args), ({ code, stderr, stdout }) => Effect.sync(() => assert.strictEqual(code, 0, stdout + stderr)))
    const first = Effect.map(done("retrieve", question), ({ stdout }) => assert.match(stdout, /^[^]{0,80}b\.md/))
    const unchanged = Effect.map(
      done("run", "--json"),
      (ran) => assert.match(JSON.stringify(events(ran).at(-1)?.["report"]), /"totals":\{[^}]*"added":0,[^}]*"unchanged":2/)
    )

    yield* done("run")
    yield* first
    write(cwd, { "pipeline.yaml": pipeline(`, embedding: { openai: { url: "${fake.baseUrl}", model: four, dimensions: 4 } }`) })
    yield* done("run", "--candidate")
    // What serves has vectors of its own length, which the file does not name any more.
    yield* first
    assert.match(
      (yield* done("doctor")).stdout,
      /^ok +vectors [^]*2 chunks of 2048\s+dimensions[^]*^ok +candidate [^]*2 chunks of 4\s+dimensions/m
    )
    yield* done("promote")
    yield* first
    yield* unchanged
    yield* done("rollback")
    yield* first
    yield* unchanged
  }).pipe(Effect.scoped)

describe("a candidate by an embedder of other dimensions", () => {
  it.live("stands beside what serves in PostgreSQL", () =>
    Effect.gen(function*() {
      yield* walk("{ postgres: { url: projects/p/secrets/pg/versions/1, schema: candidates } }", { SLUICE_SECRET_PG: yield* postgresUrl })
    }))

  it.live.skipIf(lanceDbFolder === undefined)(
    "stands beside what serves in LanceDB",
    () => walk("{ lanceDb: { uri: ./vectors } }", {})
  )
})
