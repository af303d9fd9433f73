// A model of effect/ai answers, and every citation is verified: node examples/own-model.ts
import { Console, Effect, Stream } from "effect"
import { LanguageModel } from "effect/ai"
import { compose, Embedded, generateBy, Pipeline, retrieve, runMain } from "sluice"
import { fromLanguageModel } from "sluice/ai"
import { local } from "sluice/connectors"

const script = "Five unused days carry over [1: \"five unused days\"]. Zebras graze on Mars [1: \"zebras graze on Mars\"]."

/** A model that always gives the same answer, half of it invented. Use a provider's instead, such as `OpenAiLanguageModel.model`. */
const model = LanguageModel.make({
  generateText: () => Effect.succeed([{ type: "text", text: script }]),
  streamText: () =>
    Stream.fromIterable([
      { type: "text-start" as const, id: "1" },
      ...script.split(/(?<= )/).map((delta) => ({ type: "text-delta" as const, id: "1", delta })),
      { type: "text-end" as const, id: "1" }
    ])
})

const program = Effect.gen(function*() {
  const handbook = Pipeline.make("own-model", {
    corpus: { displayName: "Own model" },
    sources: { docs: local({ path: `${import.meta.dirname}/handbook`, include: ["people/**"] }) },
    stages: compose(retrieve({ topK: 5 }), generateBy(fromLanguageModel(yield* model, { name: "parrot" })))
  })
  yield* handbook.run
  const { answer } = yield* handbook.ask("How many unused days of annual leave carry over?")
  yield* Console.log(answer.text)
  for (const { end, citations, start } of answer.supports) {
    yield* Console.log(`${citations.length} citations: ${answer.text.slice(start, end)}`)
  }
})

program.pipe(Effect.provide(Embedded.layer({ dataDir: ".sluice" })), runMain)
