/**
 * Opens a data directory with the built package, as a user of the library would, and asks its pipeline questions. Prints an
 * `Answered` as JSON.
 *
 *     node bench/lib/Queries.ts DATA_DIR < queries.json
 */
import { ManagedRuntime } from "effect"
import { readFileSync } from "node:fs"
import { Embedded, Pipeline } from "sluice"
import { local } from "sluice/connectors"
import { latencies } from "./Statistics.ts"
import type { Answered } from "./Subject.ts"

const topK = 10
/** Questions that are also asked of every chunk, which takes long in a large corpus. */
const comparedQueries = 50

const dataDir = process.argv[2] ?? ".sluice"
const queries: ReadonlyArray<string> = JSON.parse(readFileSync(0, "utf8"))
const started = performance.now()
const pipeline = Pipeline.make("bench", { corpus: { displayName: "Bench" }, sources: { docs: local(".") } })
const runtime = ManagedRuntime.make(Embedded.layer({ dataDir }))
const retrieve = (query: string, alpha: number, filter = {}) =>
  runtime.runPromise(pipeline.retrieve(query, { topK, hybrid: { alpha }, filter }))
/** Share of the first of a search that compares every chunk, as a threshold does, that are not found without. */
const missed = async (alpha: number): Promise<number> => {
  let [all, lost] = [0, 0]
  for (const query of queries.slice(-comparedQueries)) {
    const found = new Set((await retrieve(query, alpha)).contexts.map(({ chunkId }) => chunkId))
    const exact = (await retrieve(query, alpha, { minSimilarity: -1 })).contexts
    all += exact.length
    lost += exact.filter(({ chunkId }) => !found.has(chunkId)).length
  }
  return all === 0 ? 0 : lost / all
}
const { contexts } = await retrieve(queries[0] ?? "", 0.5)
const reopenSeconds = (performance.now() - started) / 1000
if (contexts.length === 0) throw new Error(`${dataDir} answers nothing`)
const answered: Answered = {
  reopenSeconds,
  sparse: await latencies(queries, (query) => retrieve(query, 0)),
  dense: await latencies(queries, (query) => retrieve(query, 1)),
  hybrid: await latencies(queries, (query) => retrieve(query, 0.5)),
  missed: { hybrid: await missed(0.5), dense: await missed(1) }
}
process.stdout.write(`${JSON.stringify(answered)}\n`)
await runtime.dispose()
