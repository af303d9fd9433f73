// A custom stage between retrieving and answering: one context per file. node examples/custom-stage.ts
import { Console, Effect } from "effect"
import { compose, Embedded, generate, Pipeline, retrieve, type Retrieved, runMain, type Stage } from "sluice"
import { local } from "sluice/connectors"

/** Keeps one context per file, so that no long document crowds out the others. */
const onePerFile: Stage<Retrieved, Retrieved> = (input) => {
  const seen = new Set<string>()
  return Effect.succeed({ ...input, contexts: input.contexts.filter(({ file }) => !seen.has(file) && seen.add(file)) })
}

const handbook = Pipeline.make("custom-stage", {
  corpus: { displayName: "Custom stage" },
  sources: { docs: local(`${import.meta.dirname}/handbook`) },
  stages: compose(retrieve({ topK: 20 }), onePerFile, generate())
})

const program = Effect.gen(function*() {
  yield* handbook.run
  const { answer, contexts } = yield* handbook.ask("Who approves travel?")
  yield* Console.log(`${contexts.length} files, one context each`)
  yield* Console.log(answer.text)
})

program.pipe(Effect.provide(Embedded.layer({ dataDir: ".sluice" })), runMain)
