import { assert, describe, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { rmSync, symlinkSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import postgresClient from "postgres"
import { QdrantClient } from "@qdrant/js-client-rest"
import { fakePinecone } from "../fakes/Pinecone.ts"
import { fakeQdrant } from "../fakes/Qdrant.ts"
import { fakeWeaviate } from "../fakes/Weaviate.ts"
import { events } from "../support/Finished.ts"
import { sluice, start } from "../support/Sluice.ts"
import { tempFolder, write } from "../support/TempFolder.ts"
import type * as LanceClient from "./support/LanceClient.d.ts"
import { lanceDbFolder } from "./support/LanceDb.ts"
import { postgresUrl } from "./support/Postgres.ts"
import { seedsOf } from "../support/Seeds.ts"

/** Runs that are killed with PostgreSQL, and files of the corpus: 2,000 are tried against a server before a release. */
const kills = seedsOf("SLUICE_KILL_SEEDS", 2, 20)
const files = Number(process.env["SLUICE_KILL_FILES"] ?? 30)

const random = (seed: number) => () => {
  seed = (seed * 1_664_525 + 1_013_904_223) >>> 0
  return seed / 2 ** 32
}

const words = "valve meter flow sensor pipe leak pressure report holiday allowance travel office safety cell battery".split(" ")

/** What a version of the documents changes: the first one writes all, each other a fifth anew, and deletes a twentieth. */
const changes = (version: number): { readonly written: Record<string, string>; readonly deleted: ReadonlyArray<string> } => {
  const next = random(version)
  const sentence = () => Array.from({ length: 12 }, () => words[Math.floor(next() * words.length)]).join(" ")
  const numbers = Array.from({ length: files }, (_, i) => i)
  const isDeleted = (i: number) => version > 1 && i % 20 === version % 20
  return {
    written: Object.fromEntries(
      numbers.filter((i) => version === 1 || (i % 5 === version % 5 && !isDeleted(i))).map((i) => [
        `file${i}.md`,
        `# File ${i}\n\nFile ${i} is of version ${version}.\n\n${sentence()}.\n\n${sentence()}.\n`
      ])
    ),
    deleted: numbers.filter(isDeleted).map((i) => `file${i}.md`)
  }
}

const pipeline = (vectorDb: string): string => `
name: kill
corpus: { displayName: Kill, vectorDb: ${vectorDb} }
sources: { docs: { local: { path: ./docs } } }
chunking: { strategy: structure, size: 60, overlap: 0 }
`

/** A chunk that is in a database: of which version of a file, and what it says. */
interface There {
  readonly file: string
  readonly text: string
}

interface Killed {
  readonly vectorDb: string
  readonly env: Readonly<Record<string, string>>
  readonly there: (corpus: string) => Effect.Effect<ReadonlyArray<There>>
  /** Runs that are killed. */
  readonly kills: number
}

const weaviateUrl = process.env["WEAVIATE_URL"] ?? ""
const qdrantUrl = process.env["QDRANT_URL"] ?? ""

const databases: Readonly<Record<string, (cwd: string) => Effect.Effect<Killed, never, Scope.Scope>>> = {
  PostgreSQL: () =>
    Effect.gen(function*() {
      const url = yield* postgresUrl
      const sql = yield* Effect.acquireRelease(
        Effect.sync(() => postgresClient(url, { max: 1, fetch_types: false, prepare: false, onnotice: () => {} })),
        (sql) => Effect.promise(() => sql.end({ timeout: 1 }))
      )
      return {
        vectorDb: "{ postgres: { url: projects/p/secrets/pg/versions/latest, schema: killed } }",
        env: { SLUICE_SECRET_PG: url },
        there: (corpus) => Effect.promise(() => sql.unsafe<Array<There>>(`SELECT file_id AS file, text FROM killed.corpus_${corpus}`)),
        kills
      }
    }),
  Weaviate: () =>
    Effect.gen(function*() {
      const { origin } = weaviateUrl === "" ? yield* fakeWeaviate() : { origin: weaviateUrl }
      const collection = `Killed${Date.now()}`
      yield* Effect.addFinalizer(() => Effect.promise(() => fetch(`${origin}/v1/schema/${collection}`, { method: "DELETE" })))
      const chunksAfter = async (after: string): Promise<ReadonlyArray<There>> => {
        const response = await fetch(`${origin}/v1/objects?class=${collection}&limit=100${after === "" ? "" : `&after=${after}`}`)
        const { objects } = await response.json() as {
          readonly objects: ReadonlyArray<{ readonly id: string; readonly properties: Readonly<Record<string, unknown>> }>
        }
        const last = objects.at(-1)
        const found = objects.filter(({ properties }) => properties["chunkDataType"] === "TEXT")
          .map(({ properties }) => ({ file: String(properties["fileId"]), text: String(properties["chunkData"]) }))
        return last === undefined ? found : [...found, ...await chunksAfter(last.id)]
      }
      return {
        vectorDb: `{ weaviate: { httpEndpoint: "${origin}", collectionName: ${collection} } }`,
        env: {},
        there: () => Effect.promise(() => chunksAfter("")),
        kills: 2
      }
    }),
  Qdrant: () =>
    Effect.gen(function*() {
      const { origin } = qdrantUrl === "" ? yield* fakeQdrant() : { origin: qdrantUrl }
      const collection = `killed-${Date.now()}`
      const client = new QdrantClient({ url: origin, checkCompatibility: false })
      if (qdrantUrl !== "") yield* Effect.addFinalizer(() => Effect.promise(() => client.deleteCollection(collection)))
      return {
        vectorDb: `{ qdrant: { url: "${origin}", collection: ${collection} } }`,
        env: {},
        there: (corpus) =>
          Effect.promise(async () => {
            const filter = { must: [{ key: "corpusId", match: { value: corpus } }] }
            const { points } = await client.scroll(collection, { filter, limit: 100_000, with_payload: true })
            return points.filter(({ payload }) => payload?.["chunkDataType"] === "TEXT")
              .map(({ payload }) => ({ file: String(payload?.["fileId"]), text: String(payload?.["chunkData"]) }))
          }),
        kills: 2
      }
    }),
  Pinecone: () =>
    Effect.gen(function*() {
      const { namespaces, origin } = yield* fakePinecone({ dimension: 2_048, metric: "dotproduct" })
      return {
        vectorDb: "{ pinecone: { indexName: docs, apiKey: projects/p/secrets/pinecone/versions/1 } }",
        env: { PINECONE_CONTROLLER_HOST: origin, SLUICE_SECRET_PINECONE: "pc-key" },
        there: (corpus) =>
          Effect.sync(() =>
            [...namespaces.get(corpus)?.values() ?? []].map(({ metadata }) => ({
              file: String(metadata["fileId"]),
              text: String(metadata["chunkData"])
            }))
          ),
        kills: 2
      }
    }),
  ...(lanceDbFolder === undefined ? {} : {
    LanceDB: (cwd) =>
      Effect.sync(() => {
        symlinkSync(join(lanceDbFolder ?? "", "node_modules"), join(cwd, "node_modules"))
        const client: typeof LanceClient = createRequire(join(lanceDbFolder ?? "", "package.json"))("@lancedb/lancedb")
        return {
          vectorDb: "{ lanceDb: { uri: ./lance } }",
          env: {},
          there: (corpus) =>
            Effect.promise(async () => {
              const table = await (await client.connect(join(cwd, "lance"))).openTable(`corpus_${corpus}`)
              const rows = await table.query().where("ordinal >= 0").limit(100_000).toArray()
              return rows.map((row) => row.toJSON()).map((row) => ({ file: String(row["file_id"]), text: String(row["text"]) }))
            }),
          kills: 2
        }
      })
  })
}

for (const [name, database] of Object.entries(databases)) {
  describe(`kill -9 with vectors in ${name}`, () => {
    it.live("leaves nothing, at random points, that the next run does not bring in order", () =>
      Effect.gen(function*() {
        const cwd = yield* tempFolder
        const { env, kills, there, vectorDb } = yield* database(cwd)
        write(cwd, { "pipeline.yaml": pipeline(vectorDb) })
        const run = ["run", "pipeline.yaml", "--data-dir", "data", "--json"]
        const next = random(7)
        const expected = new Map<string, number>()
        for (let version = 1; version <= kills; version++) {
          const { deleted, written } = changes(version)
          write(join(cwd, "docs"), written)
          for (const name of Object.keys(written)) expected.set(name, version)
          for (const name of deleted) {
            rmSync(join(cwd, "docs", name), { force: true })
            expected.delete(name)
          }
          const { child, finished } = start(run, { cwd, env })
          // Where it is in its work, not how long it took: machines differ.
          let room = 1 + Math.floor(next() * 0.8 * Object.keys(written).length)
          child.stdout?.on("data", (text: string) => {
            room -= text.split("\n").filter((line) => line.includes(`"type":"file"`)).length
            if (room <= 0) child.kill("SIGKILL")
          })
          const { signal, stderr } = yield* Effect.promise(() => finished)
          // A few files are done before they are told of.
          if (files >= 1_000) assert.strictEqual(signal, "SIGKILL", stderr)
          if (version % 2 === 0) continue
          const done = yield* Effect.promise(() => sluice(run, { cwd, env }))
          assert.strictEqual(done.code, 0, done.stderr)
        }
        const last = yield* Effect.promise(() => sluice(run, { cwd, env }))
        assert.strictEqual(last.code, 0, last.stderr)
        const calm = yield* Effect.promise(() => sluice(run, { cwd, env }))
        const report = events(calm).at(-1)?.["report"]
        assert.deepInclude(report, { embedded: 0 })
        const db = new DatabaseSync(join(cwd, "data", "sluice.db"), { readOnly: true, timeout: 60_000 })
        yield* Effect.addFinalizer(() => Effect.sync(() => db.close()))
        assert.strictEqual(Number(db.prepare("SELECT count(*) AS n FROM vector_work").get()?.["n"]), 0)
        const stored = db.prepare("SELECT name, chunks FROM files ORDER BY name").all().map((row) => `${row["name"]} ${row["chunks"]}`)
        assert.lengthOf(stored, expected.size)
        const corpus = String(db.prepare("SELECT name FROM corpora").get()?.["name"])
        const chunks = yield* there(corpus)
        const counted = [...Map.groupBy(chunks, ({ file }) => file)].map(([file, all]) => `${file} ${all.length}`).toSorted()
        assert.deepStrictEqual(counted, stored.toSorted())
        const versions = chunks.flatMap(({ text }) => /File \d+ is of version \d+/.exec(text) ?? [])
        assert.sameMembers(
          versions,
          [...expected].map(([name, version]) => `File ${/\d+/.exec(name)?.[0]} is of version ${version}`)
        )
      }).pipe(Effect.scoped), 240_000 + kills * 60_000 + files * 500)
  })
}
