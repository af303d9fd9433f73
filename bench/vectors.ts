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

const measure = (name: string, vectorDb: VectorDb) =>
  Effect.gen(function*() {
    const corpora = yield* Corpora
    const { upload } = yield* Files
    const { retrieve } = yield* Retrieval
    const { name: corpus } = yield* corpora.create({ displayName: name, vectorDb })
    const began = performance.now()
    const stored = yield* Effect.forEach(documents, (text, i) =>
      upload({ corpus, displayName: `${i}.md`, content: Buffer.from(text), chunking: { strategy: "structure", size: 256, overlap: 0 } }), {
      concurrency: 64
    })
    const ingest = (performance.now() - began) / 1_000
    const chunks = stored.reduce((sum, { file }) =>
      sum + (file.chunks ?? 0), 0)
    yield* retrieve({ corpus, query: "warm" })
    const times: Array<number> = []
    for (const query of asked) {
      const from = performance.now()
      yield* retrieve({ corpus, query })
      times.push(performance.now() - from)
    }
    times.sort((a, b) =>
      a - b
    )
    const tenth = stored.slice(0, files / 10)
    const changing = performance.now()
    yield* Effect.forEach(tenth, ({ file }, i) =>
      upload({
        corpus,
        displayName: file.displayName,
        replaces: file.name,
        content: Buffer.from(`${documents[i]}\n\nAnd ${sentence(40)}.\n`),
        chunking: { strategy: "structure", size: 256, overlap: 0 }
      }), { concurrency: 64 })
    const edited = (performance.now() - changing) / 1_000
    yield* corpora.delete(corpus, { force: true })
    console.log(
      `| ${name} | ${chunks} | ${ingest.toFixed(1)} s | ${(files / ingest).toFixed(0)} | ${edited.toFixed(1)} s | ${
        times[questions / 2]?.toFixed(1)
      } ms | ${times[Math.floor(questions * 0.95)]?.toFixed(1)} ms |`
    )
  })

console.log("| database | chunks | ingest | files/s | a tenth edited | question p50 | p95 |\n|---|---|---|---|---|---|---|")
for (const [name, vectorDb] of places) {
  const folder = mkdtempSync(join(tmpdir(), "sluice-bench-"))
  await Effect.runPromise(
    measure(name, vectorDb).pipe(
      Effect.provide(
        Embedded.layer({ dataDir: join(folder, "data") }).pipe(
          Layer.provide([
            HashEmbedder,
            TextPool.layer(),
            vectorStores({ packages: join(import.meta.dirname, "../node_modules/.lancedb") }).pipe(Layer.provide(secrets))
          ])
        )
      )
    )
  )
  rmSync(folder, { recursive: true, force: true })
}
