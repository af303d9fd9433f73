import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { RagFileName } from "../../src/domain/RagFile.ts"
import type { Context } from "../../src/domain/Retrieval.ts"
import { make } from "../../src/models/ExtractiveGenerator.ts"
import type { Embedder } from "../../src/ports/Embedder.ts"

const question = "What happens when I keep flunking a card?"

const texts = [
  "A card that is put aside is gray.",
  "A card that lapses is put aside.",
  ...["Cranes", "Chains", "Hooks", "Trucks", "Boats", "Gates", "Lamps", "Ropes"].map((things) => `${things} are in hall 3.`)
]

const contexts = texts.map((text, at): Context => ({
  chunkId: `c${at}`,
  file: RagFileName.make(`corpora/c/ragFiles/f${at}`),
  sourceUri: `file:///f${at}.md`,
  sourceDisplayName: `f${at}.md`,
  text,
  headings: ["Rules"],
  score: 1
}))

/** Knows that to lapse is to flunk, and tells what it was given. */
const knowing = (more: Partial<Embedder["Service"]> = {}) => {
  const embedded: Array<string> = []
  const embedder: Embedder["Service"] = {
    id: "knowing",
    dimensions: 2,
    embed: (texts, task) =>
      Effect.sync(() => {
        embedded.push(...texts.map((text) => `${task}: ${text}`))
        return texts.map((text) => (/lapses|flunking/.test(text) ? Float32Array.of(1, 0) : Float32Array.of(0.6, 0.8)))
      }),
    ...more
  }
  return { embedded, embedder }
}

const citedBy = (embedder?: Embedder["Service"]) =>
  Effect.map(
    make({ minConfidence: 0 }, () => Effect.succeed(embedder)).answer({ question, contexts }),
    ({ citations }) => citations[0]?.sourceDisplayName
  )

describe("an extractive answer with a model's vectors", () => {
  it.effect("takes the passage that is near the question, where words alone take another", () =>
    Effect.gen(function*() {
      const { embedded, embedder } = knowing()
      assert.strictEqual(yield* citedBy(), "f0.md")
      assert.strictEqual(yield* citedBy(embedder), "f1.md")
      assert.sameMembers(embedded, [`query: ${question}`, ...texts.map((text) => `document: Rules\n${text}`)])
    }))

  it.effect("is as before where vectors are sums of words, which the signs know already", () =>
    Effect.gen(function*() {
      const { embedded, embedder } = knowing({ ofWords: true })
      assert.strictEqual(yield* citedBy(embedder), "f0.md")
      assert.deepStrictEqual(embedded, [])
    }))

  it.effect("is as before where all is equally near, and where there is nothing to compare", () =>
    Effect.gen(function*() {
      const { embedder } = knowing({ embed: (texts) => Effect.succeed(texts.map(() => Float32Array.of(1, 0))) })
      assert.strictEqual(yield* citedBy(embedder), "f0.md")
      assert.isFalse((yield* make({}, () => Effect.succeed(embedder)).answer({ question, contexts: [] })).grounded)
    }))
})
