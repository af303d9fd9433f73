/**
 * Opens a data directory as a library user would and asks it questions. Prints an `Answered` as JSON.
 *
 *     node bench/lib/Queries.ts DATA_DIR < queries.json
 */
import { Context, Effect, Layer } from "effect"
import { readFileSync } from "node:fs"
import { layer as embedded } from "../../src/engines/embedded/Embedded.ts"
import { HashEmbedder } from "../../src/models/HashEmbedder.ts"
import { Corpora } from "../../src/ports/Corpora.ts"
import { Retrieval } from "../../src/ports/Retrieval.ts"
import { TextPool } from "../../src/text/TextPool.ts"
import { latencies } from "./Statistics.ts"
import type { Answered } from "./Subject.ts"

const topK = 10

const program = Effect.gen(function*() {
  const dataDir = process.argv[2] ?? ".sluice"
  const queries: ReadonlyArray<string> = JSON.parse(readFileSync(0, "utf8"))
  const started = performance.now()
  const services = yield* Layer.build(
    embedded({ dataDir }).pipe(Layer.provide(Layer.mergeAll(HashEmbedder, TextPool.layerInline())))
  )
  const corpora = Context.get(services, Corpora)
  const retrieval = Context.get(services, Retrieval)
  const [corpus] = (yield* corpora.list({})).items
  if (corpus === undefined) return yield* Effect.die(new Error(`${dataDir} holds no corpus`))
  const retrieve = (query: string, alpha: number) =>
    Effect.runPromise(retrieval.retrieve({ corpus: corpus.name, query, topK, hybrid: { alpha } }))
  yield* Effect.promise(() => retrieve(queries[0] ?? "", 0.5))
  const reopenSeconds = (performance.now() - started) / 1000
  const answered: Answered = {
    reopenSeconds,
    sparse: yield* Effect.promise(() => latencies(queries, (query) => retrieve(query, 0))),
    dense: yield* Effect.promise(() => latencies(queries, (query) => retrieve(query, 1))),
    hybrid: yield* Effect.promise(() => latencies(queries, (query) => retrieve(query, 0.5)))
  }
  process.stdout.write(`${JSON.stringify(answered)}\n`)
})

await Effect.runPromise(Effect.scoped(program))
