import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { layer } from "../../src/models/OfflineTextEmbedder.ts"
import { Embedder } from "../../src/ports/Embedder.ts"
import { TextEmbedder } from "../../src/ports/TextEmbedder.ts"

const short = Layer.succeed(
  Embedder,
  Embedder.of({ id: "short", dimensions: 4, embed: (texts) => Effect.succeed(texts.map(() => new Float32Array([0.5, 0.5, 0.5, 0.5]))) })
)

it.effect("a model with short vectors stands in for longer ones, up to the longest of Google's", () =>
  Effect.gen(function*() {
    const { embed } = yield* TextEmbedder
    const [long] = yield* embed(["text"], "query", 6)
    assert.deepStrictEqual([...long ?? []], [0.5, 0.5, 0.5, 0.5, 0, 0])
    const [folded] = yield* embed(["text"], "query", 1)
    assert.deepStrictEqual([...folded ?? []], [1])
    assert.match((yield* Effect.flip(embed(["text"], "query", 3_073))).message, /at most 3072/)
  }).pipe(Effect.provide(layer.pipe(Layer.provide(short)))))
