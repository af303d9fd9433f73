import { Effect, Layer, Result } from "effect"
import type { ServiceError, StateError } from "../domain/Errors.ts"
import type { Definition } from "../pipeline/definition/Definition.ts"
import { forEngine } from "../pipeline/definition/ForEngine.ts"
import type { Endpoints } from "../ports/Endpoints.ts"
import type { ModelCatalog } from "../ports/ModelCatalog.ts"
import type { Operations } from "../ports/Operations.ts"

/**
 * The catalog and the endpoints of a pipeline's engine, and the operations that deployments are followed through.
 *
 * @example
 * ```ts
 * const deployed = Effect.gen(function*() {
 *   const { deploy } = yield* ModelCatalog
 *   const { name } = yield* deploy({ publisherModelName: "publishers/google/models/gemma3@gemma-3-1b-it", acceptEula: true })
 *   return yield* (yield* Operations).wait(name, 2 * 3_600_000)
 * }).pipe(Effect.provide(modelGarden(pipeline, { dataDir: ".sluice" })))
 * ```
 */
export const modelGarden = (
  pipeline: Definition,
  options: { readonly dataDir: string }
): Layer.Layer<ModelCatalog | Endpoints | Operations, ServiceError | StateError> =>
  // Loaded on use: each engine does without the other's code.
  Layer.unwrap(Effect.promise(async () =>
    pipeline.engine._tag === "vertex"
      ? (await import("./Vertex.ts")).vertexGarden(Result.getOrThrow(forEngine(pipeline)), options)
      : (await import("./Garden.ts")).embeddedGarden(options)
  ))
