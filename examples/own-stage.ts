// A pipeline file that uses a custom stage: node examples/own-stage.ts
import { Console, Effect } from "effect"
import { Embedded, Pipeline, runMain } from "sluice"
import { connectors } from "sluice/connectors"

const program = Effect.gen(function*() {
  const handbook = yield* Pipeline.load(`${import.meta.dirname}/own-stage/pipeline.yaml`, connectors)
  yield* handbook.run
  const { answer, contexts } = yield* handbook.ask("Who approves travel?")
  yield* Console.log(`${contexts.length} contexts of ${new Set(contexts.map(({ file }) => file)).size} files`)
  yield* Console.log(answer.text)
})

program.pipe(Effect.provide(Embedded.layer({ dataDir: ".sluice" })), runMain)
