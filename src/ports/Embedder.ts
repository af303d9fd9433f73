import { Context, type Effect } from "effect"
import type { ServiceError } from "../domain/Errors.ts"

/** Documents and questions may be embedded differently. */
export type EmbeddingTask = "document" | "query"

/** A vector without its zeros: ascending components, and the value of each. */
export interface SparseVector {
  readonly components: Uint16Array
  readonly values: Float32Array
}

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
  /** What `embed` gives, from an embedder that has it without the zeros: long vectors are then never written out. */
  readonly embedSparse?: (
    texts: ReadonlyArray<string>,
    task: EmbeddingTask
  ) => Effect.Effect<ReadonlyArray<SparseVector>, ServiceError>
}>()("sluice/ports/Embedder") {}
