import { Context, type Effect } from "effect"
import type { ServiceError } from "../domain/Errors.ts"
import type { EmbeddingTask } from "./Embedder.ts"

/** Embeds texts for callers who choose the length of the vectors; an `Embedder` makes those of a corpus. */
export class TextEmbedder extends Context.Service<TextEmbedder, {
  readonly model: string
  /** Whether it stands in for any model, returning vectors of that model's length; otherwise only of the requested length or its own. */
  readonly standsIn: boolean
  /** Returns one unit vector per text, in order. `dimensions` is their length; undefined means the model's own. */
  readonly embed: (
    texts: ReadonlyArray<string>,
    task: EmbeddingTask,
    dimensions: number | undefined
  ) => Effect.Effect<ReadonlyArray<Float32Array>, ServiceError>
}>()("sluice/ports/TextEmbedder") {}
