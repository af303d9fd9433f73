import { Effect, Layer } from "effect"
import { ServiceError } from "../domain/Errors.ts"
import { mostDimensions } from "../domain/TextEmbedding.ts"
import { Embedder } from "../ports/Embedder.ts"
import { TextEmbedder } from "../ports/TextEmbedder.ts"

/**
 * The corpora's embedder, for any text. Shorter vectors are folded, component by component onto the remaining ones: with hashed features
 * that preserves angles better than truncation, which would drop most words. Longer ones, as clients of a longer model expect, end in
 * zeros, which change no angle.
 */
export const layer: Layer.Layer<TextEmbedder, never, Embedder> = Layer.effect(
  TextEmbedder,
  Effect.gen(function*() {
    const { dimensions: own, embed, id } = yield* Embedder
    return TextEmbedder.of({
      model: id,
      standsIn: true,
      embed: Effect.fn("TextEmbedder.embed")(function*(texts, task, dimensions = own) {
        yield* Effect.annotateCurrentSpan({ model: id, texts: texts.length })
        const most = Math.max(own, mostDimensions)
        if (dimensions > most) return yield* ServiceError.invalid("parameters.outputDimensionality", `must be at most ${most}`)
        const vectors = yield* embed(texts, task)
        return dimensions === own ? vectors : vectors.map((vector) => ofLength(vector, dimensions))
      })
    })
  })
)

const ofLength = (vector: Float32Array, dimensions: number): Float32Array => {
  const folded = new Float32Array(dimensions)
  for (let at = 0; at < vector.length; at++) folded[at % dimensions]! += vector[at]!
  let squares = 0
  for (let at = 0; at < dimensions; at++) squares += folded[at]! * folded[at]!
  const scale = squares === 0 ? 1 : 1 / Math.sqrt(squares)
  for (let at = 0; at < dimensions; at++) folded[at]! *= scale
  return folded
}
