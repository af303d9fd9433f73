/**
 * Measures ingest, edits and questions with the vectors in each available database, beside the managed one. The documents are
 * generated; each database is measured in a separate process.
 *
 *     npm run bench:vectors -- [--files 2000] [--only postgres,weaviate,qdrant,lancedb,pinecone] [--recall]
 *
 * `--recall` also measures how many of the 100 nearest chunks PostgreSQL's index finds, compared to an exact search, and the time
 * of both.
 *
 * The databases are named by POSTGRES_URL, WEAVIATE_URL, QDRANT_URL, LANCEDB_URI (a folder), and PINECONE_INDEX with
 * PINECONE_API_KEY (2,048 dimensions, dot product). Databases whose variable is not set, or that --only does not name, are left
 * out; the managed one is always measured, because figures are only comparable within one run.
 */
import { Effect, Layer, Redacted } from "effect"
import postgresClient from "postgres"
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { vectorStores } from "../src/compose/VectorStores.ts"
import type { VectorDb } from "../src/domain/Corpus.ts"
import { SecretVersion } from "../src/domain/Secret.ts"
import * as Embedded from "../src/engines/embedded/Embedded.ts"
import { hashEmbedder, HashEmbedder } from "../src/models/HashEmbedder.ts"
import { Corpora } from "../src/ports/Corpora.ts"
import { Files } from "../src/ports/Files.ts"
import { Retrieval } from "../src/ports/Retrieval.ts"
import { Secrets } from "../src/ports/Secrets.ts"
import { VectorStores } from "../src/ports/VectorStore.ts"
import { TextPool } from "../src/text/TextPool.ts"
import { machineLine } from "./lib/Machine.ts"

const { values } = parseArgs({
  options: {
    files: { type: "string", default: "2000" },
    only: { type: "string" },
    recall: { type: "boolean", default: false },
    row: { type: "string" }
  }
})
const files = Number(values.files)
const questions = 100

/** State of the seeded random numbers. */
let state = 7
const next = (): number => (state = (state * 1_664_525 + 1_013_904_223) >>> 0) / 2 ** 32

/** Words with realistic frequencies: the n-th in proportion to 1/n. */
const vocabulary = Array.from(
  { length: 8_000 },
  () => Array.from({ length: 3 + Math.floor(next() * 7) }, () => "etaoinshrdlucmfw"[Math.floor(next() ** 1.5 * 16)]).join("")
)
const word = (): string => vocabulary[Math.floor(vocabulary.length ** next()) - 1] ?? "the"
const sentence = (length: number): string => Array.from({ length }, word).join(" ")
const documents = Array.from(
  { length: files },
  (_, i) => `# Document ${i}\n\n${Array.from({ length: 12 }, () => `${sentence(60)}.`).join("\n\n")}\n`
)
const chunking = { strategy: "structure", size: 256, overlap: 0 } as const
const asked = Array.from({ length: questions }, () => sentence(6))

const key = SecretVersion.make("projects/p/secrets/key/versions/1")

interface Place {
  readonly name: string
  readonly vectorDb: VectorDb
  /** Value of its secret version. */
  readonly secret?: string | undefined
}

const { LANCEDB_URI, PINECONE_API_KEY, PINECONE_INDEX, POSTGRES_URL, QDRANT_URL, WEAVIATE_URL } = process.env
const places: Readonly<Record<string, Place | undefined>> = {
  managed: { name: "managed", vectorDb: { _tag: "managed" } },
  postgres: POSTGRES_URL === undefined
    ? undefined
    : { name: "PostgreSQL", vectorDb: { _tag: "postgres", url: key, schema: "bench" }, secret: POSTGRES_URL },
  weaviate: WEAVIATE_URL === undefined
    ? undefined
    : { name: "Weaviate", vectorDb: { _tag: "weaviate", httpEndpoint: WEAVIATE_URL, collectionName: "SluiceBench" } },
  qdrant: QDRANT_URL === undefined
    ? undefined
    : { name: "Qdrant", vectorDb: { _tag: "qdrant", url: QDRANT_URL, collection: "sluice-bench" } },
  lancedb: LANCEDB_URI === undefined ? undefined : { name: "LanceDB", vectorDb: { _tag: "lanceDb", uri: LANCEDB_URI } },
  pinecone: PINECONE_INDEX === undefined
    ? undefined
    : { name: "Pinecone", vectorDb: { _tag: "pinecone", indexName: PINECONE_INDEX, apiKey: key }, secret: PINECONE_API_KEY }
}

/** Fills a database as `sluice run` does. The engine is closed at the end, which is when PostgreSQL makes its index of vectors. */
const fill = (name: string, vectorDb: VectorDb) =>
  Effect.gen(function*() {
    const corpora = yield* Corpora
    const { upload } = yield* Files
    const { name: corpus } = yield* corpora.create({ displayName: name, vectorDb })
    const stored = yield* Effect.forEach(
      documents,
      (text, i) => upload({ corpus, displayName: `${i}.md`, content: Buffer.from(text), chunking }),
      { concurrency: 64 }
    )
    return { corpus, stored: stored.map(({ file }) => file) }
  })

type Filled = Effect.Success<ReturnType<typeof fill>>

const ask = ({ corpus }: Filled) =>
  Effect.gen(function*() {
    const { retrieve } = yield* Retrieval
    yield* retrieve({ corpus, query: "warm" })
    const times: Array<number> = []
    for (const query of asked) {
      const from = performance.now()
      yield* retrieve({ corpus, query })
      times.push(performance.now() - from)
    }
    return times.toSorted((a, b) => a - b)
  })

const edit = ({ corpus, stored }: Filled) =>
  Effect.gen(function*() {
    const { upload } = yield* Files
    yield* Effect.forEach(stored.slice(0, files / 10), (file, i) =>
      upload({
        corpus,
        displayName: file.displayName,
        replaces: file.name,
        content: Buffer.from(`${documents[i]}\n\nAnd ${sentence(40)}.\n`),
        chunking
      }), { concurrency: 64 })
  })

/** Recall of PostgreSQL's index of vectors, compared to PostgreSQL's search without the index. */
const recall = (vectorDb: VectorDb, url: string, { corpus }: Filled) =>
  Effect.gen(function*() {
    const wanted = 100
    const id = corpus.slice(corpus.lastIndexOf("/") + 1)
    const { open } = yield* VectorStores
    const store = yield* open(vectorDb, { corpus: id, dimensions: hashEmbedder.dimensions })
    const sql = yield* Effect.acquireRelease(
      Effect.sync(() => postgresClient(url, { max: 1, fetch_types: false, prepare: false, onnotice: () => {} })),
      (sql) => Effect.promise(() => sql.end({ timeout: 1 }))
    )
    yield* Effect.promise(() => sql.unsafe("SET enable_indexscan = off"))
    let found = 0
    const times: Array<number> = []
    for (const vector of yield* hashEmbedder.embed(asked, "query")) {
      const from = performance.now()
      const { dense } = yield* store.search({ vector, count: wanted })
      times.push(performance.now() - from)
      const exact = yield* Effect.promise(() =>
        sql.unsafe<Array<{ readonly score: number }>>(
          `SELECT 1 - (embedding <=> $1::text::halfvec) AS score FROM bench.corpus_${id} ORDER BY embedding <=> $1::text::halfvec LIMIT ${wanted}`,
          [JSON.stringify([...vector])]
        )
      )
      // Chunks as near as the last exact one count as found.
      const least = Number(exact.at(-1)?.score) - 1e-5
      found += dense.filter(({ score }) => score >= least).length
    }
    const p50 = times.toSorted((a, b) => a - b)[questions / 2] ?? 0
    return `recall@${wanted} by vectors: ${(found / (wanted * questions)).toFixed(4)}, p50 ${p50.toFixed(1)} ms`
  }).pipe(Effect.scoped)

/** Measures one database, and prints its row. */
const measure = async ({ name, secret = "", vectorDb }: Place): Promise<void> => {
  const secrets = Layer.succeed(Secrets, { resolve: () => Effect.succeed(Redacted.make(secret)) })
  const folder = mkdtempSync(join(tmpdir(), "sluice-bench-"))
  const engine = Embedded.layer({ dataDir: join(folder, "data") }).pipe(
    Layer.provide([HashEmbedder, TextPool.layer()]),
    Layer.provideMerge(vectorStores({ packages: join(import.meta.dirname, "../node_modules/.lancedb") }).pipe(Layer.provide(secrets)))
  )
  /** Runs an effect with a new engine, and returns its seconds and processor seconds, including opening and closing the engine. */
  const timed = async <A, E>(effect: Effect.Effect<A, E, Layer.Success<typeof engine>>) => {
    const before = process.cpuUsage()
    const began = performance.now()
    const value = await Effect.runPromise(Effect.provide(effect, engine))
    const { system, user } = process.cpuUsage(before)
    return { value, seconds: (performance.now() - began) / 1_000, busy: (system + user) / 1e6 }
  }
  try {
    const { busy, seconds: ingest, value: filled } = await timed(fill(name, vectorDb))
    const { value: times } = await timed(ask(filled))
    const near = values.recall && vectorDb._tag === "postgres" ? (await timed(recall(vectorDb, secret, filled))).value : undefined
    const { seconds: edited } = await timed(edit(filled))
    await timed(Effect.flatMap(Corpora, (corpora) => corpora.delete(filled.corpus, { force: true })))
    const chunks = filled.stored.reduce((sum, file) => sum + (file.chunks ?? 0), 0)
    const [p50 = 0, p95 = 0] = [times[questions / 2], times[Math.floor(questions * 0.95)]]
    console.log(
      `| ${name} | ${chunks} | ${ingest.toFixed(1)} s | ${busy.toFixed(1)} s | ${(files / ingest).toFixed(0)} | ${edited.toFixed(1)} s | ${
        p50.toFixed(1)
      } ms | ${p95.toFixed(1)} ms |${near === undefined ? "" : `\n\n${near}\n`}`
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (values.row === undefined) {
  const only = values.only?.split(",")
  const unknown = only?.filter((name) => !(name in places)) ?? []
  if (unknown.length > 0) throw new Error(`--only knows ${Object.keys(places).join(", ")}, not ${unknown.join(", ")}`)
  const absent = only?.filter((name) => places[name] === undefined) ?? []
  if (absent.length > 0) throw new Error(`nothing says where ${absent.join(", ")} is: see the head of bench/vectors.ts`)
  console.log(`${machineLine}; ${files} files\n`)
  console.log(
    "| database | chunks | ingest | of it here | files/s | a tenth edited | question p50 | p95 |\n|---|---|---|---|---|---|---|---|"
  )
  const own = [import.meta.filename, "--files", String(files), ...(values.recall ? ["--recall"] : [])]
  for (const [name, place] of Object.entries(places)) {
    if (place === undefined || (only !== undefined && name !== "managed" && !only.includes(name))) continue
    const { status } = spawnSync(process.execPath, [...own, "--row", name], { stdio: "inherit" })
    if (status !== 0) process.exitCode = 1
  }
} else {
  const place = places[values.row]
  if (place === undefined) throw new Error(`nothing says where ${values.row} is`)
  await measure(place)
}
