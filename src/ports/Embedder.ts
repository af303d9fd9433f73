import { Context, type Effect } from "effect"
import type { ServiceError } from "../domain/Errors.ts"

/** Documents and questions may be embedded differently. */
export type EmbeddingTask = "document" | "query"

/**
 * Turns texts into unit vectors. One vector per text, in order, each of `dimensions` length and L2 norm 1
 * (a text with nothing in it gives the zero vector).
 *
 * `id` names everything that decides the numbers (model, version, dimensions); a corpus remembers it, and another
 * id means a rebuild.
 */
export class Embedder extends Context.Service<Embedder, {
  readonly id: string
  readonly dimensions: number
  readonly embed: (
    texts: ReadonlyArray<string>,
    task: EmbeddingTask
  ) => Effect.Effect<ReadonlyArray<Float32Array>, ServiceError>
}>()("sluice/ports/Embedder") {}
