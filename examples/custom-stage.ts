// A stage of one's own between retrieving and answering: one context a file. node examples/custom-stage.ts
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect } from "effect"
import { compose, corpusOf, definePipeline, embedded, Generator, generate, Models, retrieve, type Retrieved, runPipeline, type Stage } from "sluice"
import { local } from "sluice/connectors"

const pipeline = definePipeline({
  name: "custom-stage",
  corpus: { displayName: "Custom stage" },
  sources: { docs: { local: { path: `${import.meta.dirname}/handbook` } } },
  chunking: { strategy: "structure", size: 400, overlap: 0 }
})

/** Keeps one context a file, so that no long document crowds out the others. */
const onePerFile: Stage<Retrieved, Retrieved> = (input) => {
  const seen = new Set<string>()
  return Effect.succeed({ ...input, contexts: input.contexts.filter(({ file }) => !seen.has(file) && seen.add(file)) })
}

const program = Effect.gen(function*() {
  yield* runPipeline(pipeline)
  const { name } = yield* corpusOf(pipeline)
  const ask = compose(retrieve(name, { topK: 20 }), onePerFile, generate())
  const generator = yield* (yield* Models).generator({ _tag: "extractive" })
  const { answer, contexts } = yield* ask({ question: "Who approves travel?" }).pipe(Effect.provideService(Generator, generator))
  yield* Console.log(`${contexts.length} files, one context each`)
  yield* Console.log(answer.text)
}).pipe(Effect.scoped)

program.pipe(
  Effect.provide(embedded(pipeline, { dataDir: ".sluice", connectors: { local } })),
  NodeRuntime.runMain
)
