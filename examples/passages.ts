// Whole passages that do not repeat one another: retrieve many, keep the different ones, read around them. node examples/passages.ts
import { Console, Effect } from "effect"
import { compose, diversify, Embedded, expand, generate, Pipeline, retrieve, runMain } from "sluice"
import { local } from "sluice/connectors"

const handbook = Pipeline.make("passages", {
  corpus: { displayName: "Passages" },
  sources: { docs: local(`${import.meta.dirname}/handbook`) },
  chunking: { strategy: "structure", size: 64, overlap: 0 },
  stages: compose(retrieve({ topK: 40 }), diversify({ topK: 4 }), expand({ to: "section" }), generate())
})

const program = Effect.gen(function*() {
  yield* handbook.run
  const { answer, contexts } = yield* handbook.ask("Who approves travel?")
  for (const { byteEnd, byteStart, sourceDisplayName } of contexts) {
    yield* Console.log(`${sourceDisplayName}, bytes ${byteStart} to ${byteEnd}`)
  }
  yield* Console.log(answer.text)
})

program.pipe(Effect.provide(Embedded.layer({ dataDir: ".sluice" })), runMain)
