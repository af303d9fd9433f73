// Sync a folder into a corpus on this machine, then answer a question from it: node examples/ingest-and-ask.ts
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect } from "effect"
import { askPipeline, definePipeline, embedded, runPipeline } from "sluice"
import { local } from "sluice/connectors"

const pipeline = definePipeline({
  name: "ingest-and-ask",
  corpus: { displayName: "Ingest and ask" },
  sources: { docs: { local: { path: `${import.meta.dirname}/handbook` } } },
  chunking: { strategy: "structure", size: 400, overlap: 0 }
})

const program = Effect.gen(function*() {
  const { totals } = yield* runPipeline(pipeline)
  yield* Console.log(`${totals.added} added, ${totals.unchanged} unchanged, ${totals.skipped} skipped, ${totals.failed} failed`)
  const { answer } = yield* askPipeline(pipeline, { question: "How many unused days of annual leave carry over?" })
  yield* Console.log(answer.text)
  for (const { index, quote, sourceDisplayName } of answer.citations) yield* Console.log(`[${index}] ${sourceDisplayName}: ${quote}`)
})

program.pipe(
  Effect.provide(embedded(pipeline, { dataDir: ".sluice", connectors: { local } })),
  NodeRuntime.runMain
)
