// A pipeline file that uses a custom parser and a custom chunker: node examples/own-parser.ts
import { Console, Effect } from "effect"
import { Embedded, Pipeline, runMain } from "sluice"
import { connectors } from "sluice/connectors"

const program = Effect.gen(function*() {
  const meetings = yield* Pipeline.load(`${import.meta.dirname}/own-parser/pipeline.yaml`, connectors)
  const { chunks, totals } = yield* meetings.run
  yield* Console.log(`${totals.added} calls in ${chunks} chunks`)
  const { answer } = yield* meetings.ask("When does the warehouse in Porto get its scanners?")
  yield* Console.log(`${answer.text} (${answer.citations[0]?.sourceDisplayName})`)
})

program.pipe(Effect.provide(Embedded.layer({ dataDir: ".sluice" })), runMain)
