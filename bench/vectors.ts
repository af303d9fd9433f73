/**
 * Ingest, edits and questions with the vectors in each database that is there, beside the managed one. The documents are
 * generated.
 *
 *     POSTGRES_URL=… WEAVIATE_URL=… QDRANT_URL=… LANCEDB_URI=./folder npm run bench:vectors -- [files, default 2000]
 */
import { Effect, Layer, Redacted } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { vectorStores } from "../src/compose/VectorStores.ts"
import type { VectorDb } from "../src/domain/Corpus.ts"
import { SecretVersion } from "../src/domain/Secret.ts"
import * as Embedded from "../src/engines/embedded/Embedded.ts"
import { HashEmbedder } from "../src/models/HashEmbedder.ts"
import { Corpora } from "../src/ports/Corpora.ts"
import { Files } from "../src/ports/Files.ts"
import { Retrieval } from "../src/ports/Retrieval.ts"
import { Secrets } from "../src/ports/Secrets.ts"
import { TextPool } from "../src/text/TextPool.ts"

const files = Number(process.argv[2] ?? 2_000)
const questions = 100

/** Numbers that repeat. */
let state = 7
const next = (): number => (state = (state * 1_664_525 + 1_013_904_223) >>> 0) / 2 ** 32

/** Words as often as words are: the n-th a share of 1/n. */
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

const url = process.env["POSTGRES_URL"]
const places: ReadonlyArray<readonly [string, VectorDb]> = [
  ["managed", { _tag: "managed" }],
  ...(url === undefined
    ? []
    : [["PostgreSQL", { _tag: "postgres", url: SecretVersion.make("projects/p/secrets/url/versions/1"), schema: "bench" }] as const]),
  ...(process.env["WEAVIATE_URL"] === undefined
    ? []
    : [["Weaviate", { _tag: "weaviate", httpEndpoint: process.env["WEAVIATE_URL"], collectionName: "SluiceBench" }] as const]),
  ...(process.env["QDRANT_URL"] === undefined
    ? []
    : [["Qdrant", { _tag: "qdrant", url: process.env["QDRANT_URL"], collection: "sluice-bench" }] as const]),
  ...(process.env["LANCEDB_URI"] === undefined
    ? []
    : [["LanceDB", { _tag: "lanceDb", uri: process.env["LANCEDB_URI"] }] as const])
]

const secrets = Layer.succeed(Secrets, { resolve: () => Effect.succeed(Redacted.make(url ?? "")) })

/** As `sluice run` does: the engine is closed when all is stored, which is when PostgreSQL makes its index of vectors. */
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

console.log("| database | chunks | ingest | files/s | a tenth edited | question p50 | p95 |\n|---|---|---|---|---|---|---|")
for (const [name, vectorDb] of places) {
  const folder = mkdtempSync(join(tmpdir(), "sluice-bench-"))
  const engine = Embedded.layer({ dataDir: join(folder, "data") }).pipe(
    Layer.provide([
      HashEmbedder,
      TextPool.layer(),
      vectorStores({ packages: join(import.meta.dirname, "../node_modules/.lancedb") }).pipe(Layer.provide(secrets))
    ])
  )
  /** With an engine of its own: the seconds that it takes, opening and closing among them. */
  const timed = async <A, E>(effect: Effect.Effect<A, E, Layer.Success<typeof engine>>) => {
    const began = performance.now()
    const value = await Effect.runPromise(Effect.provide(effect, engine))
    return { value, seconds: (performance.now() - began) / 1_000 }
  }
  const { seconds: ingest, value: filled } = await timed(fill(name, vectorDb))
  const { value: times } = await timed(ask(filled))
  const { seconds: edited } = await timed(edit(filled))
  await timed(Effect.flatMap(Corpora, (corpora) => corpora.delete(filled.corpus, { force: true })))
  const chunks = filled.stored.reduce((sum, file) => sum + (file.chunks ?? 0), 0)
  console.log(
    `| ${name} | ${chunks} | ${ingest.toFixed(1)} s | ${(files / ingest).toFixed(0)} | ${edited.toFixed(1)} s | ${
      times[questions / 2]?.toFixed(1)
    } ms | ${times[Math.floor(questions * 0.95)]?.toFixed(1)} ms |`
  )
  rmSync(folder, { recursive: true, force: true })
}
