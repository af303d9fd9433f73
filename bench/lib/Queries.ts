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

const dataDir = process.argv[2] ?? ".sluice"
const queries: ReadonlyArray<string> = JSON.parse(readFileSync(0, "utf8"))
const started = performance.now()
const pipeline = Pipeline.make("bench", { corpus: { displayName: "Bench" }, sources: { docs: local(".") } })
const runtime = ManagedRuntime.make(Embedded.layer({ dataDir }))
const retrieve = (query: string, alpha: number) => runtime.runPromise(pipeline.retrieve(query, { topK, hybrid: { alpha } }))
const { contexts } = await retrieve(queries[0] ?? "", 0.5)
const reopenSeconds = (performance.now() - started) / 1000
if (contexts.length === 0) throw new Error(`${dataDir} answers nothing`)
const answered: Answered = {
  reopenSeconds,
  sparse: await latencies(queries, (query) => retrieve(query, 0)),
  dense: await latencies(queries, (query) => retrieve(query, 1)),
  hybrid: await latencies(queries, (query) => retrieve(query, 0.5))
}
process.stdout.write(`${JSON.stringify(answered)}\n`)
await runtime.dispose()
