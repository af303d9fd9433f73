import { Context, type Effect } from "effect"
import type { ServiceError } from "../domain/Errors.ts"
import type { EmbeddingTask } from "./Embedder.ts"

/** Embeds texts of a caller who says how long the vectors are to be; the vectors of a corpus are an `Embedder`'s. */
export class TextEmbedder extends Context.Service<TextEmbedder, {
  readonly model: string
  /** It stands in for any model, and gives vectors of the length that model would; else only of the length asked for or its own. */
  readonly standsIn: boolean
  /** One unit vector a text, in order. `dimensions`: their length; absent, the model's own. */
  readonly embed: (
    texts: ReadonlyArray<string>,
    task: EmbeddingTask,
    dimensions: number | undefined
  ) => Effect.Effect<ReadonlyArray<Float32Array>, ServiceError>
}>()("sluice/ports/TextEmbedder") {}
