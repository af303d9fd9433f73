import { assert, describe, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { existsSync, rmSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import postgresClient from "postgres"
import { connectors } from "../../connectors/index.ts"
import * as Embedded from "../../src/compose/EmbeddedEntry.ts"
import type { SyncEvent } from "../../src/domain/Report.ts"
import * as Pipeline from "../../src/pipeline/Pipeline.ts"
import { fakePinecone } from "../fakes/Pinecone.ts"
import { fakeQdrant } from "../fakes/Qdrant.ts"
import { fakeWeaviate } from "../fakes/Weaviate.ts"
import { command } from "../support/Command.ts"
import { events } from "../support/Finished.ts"
import { tempFolder, write } from "../support/TempFolder.ts"
import { lanceDbFolder } from "./support/LanceDb.ts"
import { postgresUrl } from "./support/Postgres.ts"

const yaml = (vectorDb: object, name = "lost"): string =>
  `name: ${name}
corpus: { displayName: Lost, vectorDb: ${JSON.stringify(vectorDb)} }
sources: { docs: { local: { path: ./docs } } }
chunking: { strategy: structure, size: 40, overlap: 0 }
`

const sentence = (of: string) => `The ${of} is looked at in spring, and once more in autumn before the first frost comes.`
const documents: Readonly<Record<string, string>> = Object.fromEntries(
  ["boiler", "roof", "garden", "cellar"].map((of) => [
    `${of}.md`,
    `# ${of}\n\n${sentence(of)}\n\n## Who\n\nWho looks at the ${of} says so to the caretaker, in writing.\n\n## When\n\n${
      sentence(`tank of the ${of}`)
    } ${sentence(`pump of the ${of}`)}\n`
  ])
)

/** A database, and how many chunks it has of each version. */
interface Database {
  readonly vectorDb: object
  readonly versions: Effect.Effect<Readonly<Record<string, number>>>
}

const key = "projects/p/secrets/lost/versions/latest"
const countBy = (files: ReadonlyArray<unknown>): Readonly<Record<string, number>> =>
  Object.fromEntries([...Map.groupBy(files, String)].map(([file, all]) => [file, all.length]))

const databases: Readonly<Record<string, Effect.Effect<Database, never, Scope.Scope>>> = {
  Weaviate: Effect.map(fakeWeaviate(), ({ classes, origin }) => ({
    vectorDb: { weaviate: { httpEndpoint: origin, collectionName: "Lost" } },
    versions: Effect.sync(() =>
      countBy(
        [...classes.get("Lost")?.objects.values() ?? []].filter(({ properties }) => properties["chunkDataType"] === "TEXT").map((object) =>
          object.properties["fileId"]
        )
      )
    )
  })),
  Qdrant: Effect.map(fakeQdrant(), ({ collections, origin }) => ({
    vectorDb: { qdrant: { url: origin, collection: "lost" } },
    versions: Effect.sync(() =>
      countBy(
        [...collections.get("lost")?.points.values() ?? []].filter(({ payload }) => payload["chunkDataType"] === "TEXT").map((point) =>
          point.payload["fileId"]
        )
      )
    )
  })),
  Pinecone: Effect.gen(function*() {
    const { namespaces, origin } = yield* fakePinecone({ dimension: 2048 })
    process.env["PINECONE_CONTROLLER_HOST"] = origin
    yield* Effect.addFinalizer(() => Effect.sync(() => void delete process.env["PINECONE_CONTROLLER_HOST"]))
    return {
      vectorDb: { pinecone: { indexName: "docs", apiKey: key } },
      versions: Effect.sync(() =>
        countBy([...namespaces].flatMap(([name, records]) => name === "corpora" ? [] : [...records.keys()].map((id) => id.split("#")[0])))
      )
    }
  })
}

const rowsOf = <A>(dataDir: string, body: (db: DatabaseSync) => A): A => {
  const db = new DatabaseSync(join(dataDir, "sluice.db"), { timeout: 60_000 })
  try {
    return body(db)
  } finally {
    db.close()
  }
}
/** Files that are visible, with their chunks. */
const visible = (dataDir: string) =>
  rowsOf(
    dataDir,
    (db) =>
      Object.fromEntries(db.prepare("SELECT name, chunks FROM files").all().map((row) => [String(row["name"]), Number(row["chunks"])]))
  )

describe("a data directory that is lost", () => {
  for (const [name, database] of Object.entries(databases)) {
    it.live(
      `is made again from ${name}: nothing is embedded twice, nothing stays that no source has, nothing is double`,
      () =>
        Effect.gen(function*() {
          process.env["SLUICE_SECRET_LOST"] = "pc-key"
          const folder = yield* tempFolder
          const { vectorDb, versions } = yield* database
          write(folder, { "pipeline.yaml": yaml(vectorDb) })
          write(join(folder, "docs"), documents)
          const pipeline = yield* Pipeline.load(join(folder, "pipeline.yaml"), connectors)
          const on = (dataDir: string) => Effect.provide(Embedded.layer({ dataDir: join(folder, dataDir) }))
          const first = yield* pipeline.run.pipe(on("one"))
          assert.strictEqual(first.totals.added, 4)
          assert.isAbove(first.embedded ?? 0, 4)
          const before = yield* versions
          const question = "Who looks at the cellar?"
          const found = yield* pipeline.retrieve(question).pipe(on("one"))

          const plan = yield* pipeline.plan().pipe(on("two"))
          assert.strictEqual(plan.corpus.action, "keep")
          assert.strictEqual(plan.embeddings, 0)
          assert.strictEqual(plan.totals.unchanged, 4)
          assert.match(plan.warnings.join("\n"), /4 files found in .*none of them is embedded again/)
          assert.deepStrictEqual(yield* versions, before)

          // Meanwhile one file went, and one was edited.
          rmSync(join(folder, "docs", "roof.md"))
          write(join(folder, "docs"), { "garden.md": "# Garden\n\nIt is another one.\n" })
          const seen: Array<SyncEvent> = []
          const again = yield* pipeline.runWith({ observe: (event) => Effect.sync(() => void seen.push(event)) }).pipe(on("two"))
          assert.deepInclude(again.totals, { unchanged: 2, changed: 1, deleted: 1, added: 0, failed: 0 })
          assert.strictEqual(again.embedded, 1)
          assert.deepInclude(seen.find(({ type }) => type === "foundInDatabase"), { files: 4 })
          assert.match(again.sources[0]?.note ?? "", /4 files found in/)
          const after = yield* versions
          assert.deepStrictEqual(after, visible(join(folder, "two")))
          assert.lengthOf(Object.keys(after).filter((version) => version in before), 2)
          const same = yield* pipeline.retrieve(question).pipe(on("two"))
          const shown = ({ contexts }: typeof found) =>
            contexts.map(({ byteEnd, byteStart, headings, sourceDisplayName, text }) => ({
              byteEnd,
              byteStart,
              headings,
              sourceDisplayName,
              text
            }))
          assert.deepStrictEqual(shown(same)[0], shown(found)[0])
          const calm = yield* pipeline.run.pipe(on("two"))
          assert.deepInclude(calm.totals, { unchanged: 3, changed: 0, added: 0 })
          assert.strictEqual(calm.embedded, 0)
          assert.isUndefined(calm.sources[0]?.note)

          // The first one is not lost after all: it may write no more, and takes nothing away.
          write(join(folder, "docs"), { "boiler.md": "# Boiler\n\nIt is new.\n" })
          const refused = yield* Effect.flip(pipeline.run.pipe(on("one")))
          assert.match(
            refused.message,
            /pipeline\.yaml:2:\d+ {2}corpus\.vectorDb\.\w+: corpus "Lost" in .*taken over by another data directory/
          )
          assert.deepStrictEqual(yield* versions, after)
        }).pipe(Effect.scoped)
    )
  }

  it.live("is made again though the process that did so was killed, and what is of no whole file goes", () =>
    Effect.gen(function*() {
      const folder = yield* tempFolder
      const { classes, origin } = yield* fakeWeaviate()
      write(folder, { "pipeline.yaml": yaml({ weaviate: { httpEndpoint: origin, collectionName: "Lost" } }) })
      write(join(folder, "docs"), documents)
      const pipeline = yield* Pipeline.load(join(folder, "pipeline.yaml"), connectors)
      const on = (dataDir: string) => Effect.provide(Embedded.layer({ dataDir: join(folder, dataDir) }))
      yield* pipeline.run.pipe(on("one"))
      const { objects } = classes.get("Lost")!
      const chunks = [...objects].filter(([, { properties }]) => properties["chunkDataType"] === "TEXT")
      const files = [...new Set(chunks.map(([, { properties }]) => String(properties["fileId"])))]
      // A version that was only half written when the directory was lost, and one that was half deleted.
      const [half] = chunks.find(([, { properties }]) => properties["fileId"] === files[0] && properties["chunkOrdinal"] === 1)!
      objects.delete(half)
      yield* pipeline.run.pipe(on("two"))
      // As if killed before the ledger was written: a file is not taken in yet, and nothing is accounted for.
      rowsOf(join(folder, "two"), (db) => {
        db.exec(`DELETE FROM ledger; DELETE FROM generations;
          DELETE FROM chunk_pages WHERE file = (SELECT id FROM files WHERE name = '${files[3]}'); DELETE FROM files WHERE name = '${
          files[3]
        }'`)
      })
      const again = yield* pipeline.run.pipe(on("two"))
      assert.deepInclude(again.totals, { unchanged: 4, added: 0, changed: 0 })
      assert.strictEqual(again.embedded, 0)
      const there = countBy(
        [...objects.values()].filter(({ properties }) => properties["chunkDataType"] === "TEXT").map(({ properties }) =>
          properties["fileId"]
        )
      )
      assert.deepStrictEqual(there, visible(join(folder, "two")))
      assert.notProperty(there, files[0]!)
    }).pipe(Effect.scoped))

  const byCommand = (
    name: string,
    prepare: Effect.Effect<Database & { readonly env?: Record<string, string>; readonly modules?: string }, never, Scope.Scope>
  ) =>
    it.live(`is made again from ${name} by the commands`, () =>
      Effect.gen(function*() {
        const cwd = yield* tempFolder
        const { env = {}, modules, vectorDb, versions } = yield* prepare
        if (modules !== undefined) symlinkSync(modules, join(cwd, "node_modules"))
        write(cwd, { "pipeline.yaml": yaml(vectorDb) })
        write(join(cwd, "docs"), documents)
        const run = (...args: ReadonlyArray<string>) =>
          Effect.promise(() => command([...args, "pipeline.yaml", "--data-dir", "data", "--json"], { cwd, env }))
        assert.strictEqual((yield* run("run")).code, 0)
        const before = yield* versions
        assert.lengthOf(Object.keys(before), 4)
        rmSync(join(cwd, "data"), { recursive: true })
        const plan = yield* run("plan")
        assert.include(plan.stdout, "4 files found in")
        rmSync(join(cwd, "docs", "roof.md"))
        const again = yield* run("run")
        assert.strictEqual(again.code, 0, again.stderr)
        const report = events(again).at(-1)?.["report"]
        assert.deepInclude(report, { embedded: 0 })
        assert.deepInclude(Object(report)["totals"], { unchanged: 3, deleted: 1, added: 0, changed: 0 })
        const after = yield* versions
        assert.lengthOf(Object.keys(after), 3)
        assert.deepStrictEqual(after, visible(join(cwd, "data")))
        const status = yield* Effect.promise(() => command(["status", "pipeline.yaml", "--data-dir", "data"], { cwd, env }))
        assert.match(status.stdout.replace(/\s+/g, " "), /4 files found in/)
        assert.isTrue(existsSync(join(cwd, "data", "sluice.db")))
      }).pipe(Effect.scoped))

  byCommand(
    "PostgreSQL",
    Effect.gen(function*() {
      const url = yield* postgresUrl
      const schema = `lost_${Date.now()}`
      const sql = yield* Effect.acquireRelease(
        Effect.sync(() => postgresClient(url, { max: 1, fetch_types: false, prepare: false, onnotice: () => {} })),
        (sql) => Effect.promise(() => sql.end({ timeout: 1 }))
      )
      return {
        env: { SLUICE_SECRET_LOST: url },
        vectorDb: { postgres: { url: key, schema } },
        versions: Effect.promise(async () => {
          const [record] = await sql.unsafe<Array<{ corpus: string }>>(`SELECT corpus FROM ${schema}.corpus_records`)
          return countBy((await sql.unsafe(`SELECT file_id FROM ${schema}.corpus_${record?.corpus}`)).map((row) => row["file_id"]))
        })
      }
    })
  )

  if (lanceDbFolder !== undefined) {
    const modules = join(lanceDbFolder, "node_modules")
    byCommand(
      "LanceDB",
      Effect.map(tempFolder, (folder) => ({
        modules,
        vectorDb: { lanceDb: { uri: folder } },
        versions: Effect.promise(async () => {
          const { connect } = await import(join(modules, "@lancedb", "lancedb", "dist", "index.js"))
          const db = await connect(folder)
          const name = (await db.tableNames()).find((table: string) => /^corpus_\d+$/.test(table))
          const rows = await (await db.openTable(name)).query().select(["file_id"]).toArray()
          return countBy(rows.map((row: { readonly file_id: string }) => row.file_id))
        })
      }))
    )
  }
})
