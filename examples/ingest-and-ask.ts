// Sync a folder into a corpus on this machine, then answer a question from it: node examples/ingest-and-ask.ts
import { Console, Effect } from "effect"
import { Embedded, Pipeline, runMain } from "sluice"
import { local } from "sluice/connectors"

const handbook = Pipeline.make("ingest-and-ask", {
  corpus: { displayName: "Ingest and ask" },
  sources: { docs: local(`${import.meta.dirname}/handbook`) }
})

const program = Effect.gen(function*() {
  const { totals } = yield* handbook.run
  yield* Console.log(`${totals.added} added, ${totals.unchanged} unchanged, ${totals.skipped} skipped, ${totals.failed} failed`)
  const { answer } = yield* handbook.ask("How many unused days of annual leave carry over?")
  yield* Console.log(answer.text)
  for (const { index, quote, sourceDisplayName } of answer.citations) yield* Console.log(`[${index}] ${sourceDisplayName}: ${quote}`)
})

program.pipe(Effect.provide(Embedded.layer({ dataDir: ".sluice" })), runMain)
