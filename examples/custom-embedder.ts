// A custom embedder in place of the built-in one: node examples/custom-embedder.ts
import { Console, Effect, Layer } from "effect"
import { Embedded, Embedder, Pipeline, runMain } from "sluice"
import { local } from "sluice/connectors"

/** Counts letters: a poor embedder, but one that shows what an embedder is. Call a model here instead. */
const letters = Layer.succeed(Embedder, {
  id: "letters-26-v1",
  dimensions: 26,
  embed: (texts) =>
    Effect.sync(() =>
      texts.map((text) => {
        const vector = new Float32Array(26)
        for (const [letter] of text.toLowerCase().matchAll(/[a-z]/g)) vector[letter.charCodeAt(0) - 97]! += 1
        const length = Math.hypot(...vector) || 1
        return vector.map((count) => count / length)
      })
    )
})

const handbook = Pipeline.make("letters", {
  corpus: { displayName: "Letters" },
  sources: { docs: local({ path: `${import.meta.dirname}/handbook`, include: ["**/*.md"] }) }
})

const program = Effect.gen(function*() {
  const report = yield* handbook.run
  yield* Console.log(`${report.embedded} chunks embedded`)
  const { contexts } = yield* handbook.retrieve("annual leave", { hybrid: { alpha: 0.5 }, topK: 3 })
  for (const { distance, sourceDisplayName } of contexts) yield* Console.log(`${sourceDisplayName} at ${distance?.toFixed(3)}`)
})

program.pipe(Effect.provide(Embedded.layer({ dataDir: ".sluice", embedder: letters })), runMain)
