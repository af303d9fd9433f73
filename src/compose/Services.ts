import { Effect, Layer } from "effect"
import type { SecretError, ServiceError, StateError } from "../domain/Errors.ts"
import type { PipelineInvalid } from "../pipeline/definition/PipelineInvalid.ts"
import type { Definition } from "../pipeline/definition/Definition.ts"
import type { Services } from "../pipeline/Services.ts"
import type { Embedder } from "../ports/Embedder.ts"
import type { FileMetadataStore } from "../ports/FileMetadataStore.ts"
import type { Generation } from "../ports/Generation.ts"
import type { PartnerChat } from "../ports/PartnerChat.ts"
import type { Secrets } from "../ports/Secrets.ts"
import { type ConnectorSet, makeConnectors } from "./Connectors.ts"
import { embeddedServices, type EmbeddedServicesOptions } from "./Embedded.ts"
import { fitOwn } from "./Fit.ts"
import { localModels } from "./LocalModels.ts"
import type { VertexServicesOptions } from "./Vertex.ts"

export interface EmbeddedOptions extends Omit<EmbeddedServicesOptions, "writes" | "onlyRunsLock"> {
  /** The sources the pipeline may name: `{ local }` from `sluice/connectors`. */
  readonly connectors: ConnectorSet
}

/**
 * Everything a pipeline needs to run and to answer, on this machine. `Generation` and `PartnerChat` are there too: they
 * speak as the service's do, and the model of the pipeline's stage answers.
 *
 * Fails with `PipelineInvalid` where the pipeline names another engine, or asks for what this one, with these connectors,
 * does not have. A run takes the data directory for itself: a second one fails with the holder's name, or waits `waitMs`.
 * Programs that only ask take no lock, any number of them, beside a run too.
 *
 * @example
 * ```ts
 * runPipeline(pipeline).pipe(Effect.provide(embedded(pipeline, { dataDir: ".sluice", connectors: { local } })))
 * ```
 */
export const embedded = (
  pipeline: Definition,
  options: EmbeddedOptions
): Layer.Layer<Services | FileMetadataStore | Embedder | Secrets | Generation | PartnerChat, PipelineInvalid | ServiceError | StateError | SecretError> =>
  Layer.unwrap(Effect.map(fitOwn(pipeline, "embedded", Object.keys(options.connectors)), (own) =>
    Layer.merge(makeConnectors(options.connectors, options), localModels(own)).pipe(
      Layer.provideMerge(embeddedServices(own, { ...options, writes: process.argv[1] ?? "a program", onlyRunsLock: true }))
    )))

export interface VertexOptions extends Omit<VertexServicesOptions, "writes"> {
  /** The sources the pipeline may name: `{ local }` from `sluice/connectors`. Those the service imports by itself need none. */
  readonly connectors: ConnectorSet
}

/**
 * Everything a pipeline needs to run and to answer, with its corpora on Vertex AI, or on a server that speaks like it.
 * Its models are there too, to be asked directly: `Generation` and `PartnerChat`. The ledger is kept
 * in the data directory, which this program takes for itself. Fails with `PipelineInvalid` as {@link embedded} does.
 *
 * @example
 * ```ts
 * runPipeline(pipeline).pipe(Effect.provide(vertex(pipeline, { dataDir: ".sluice", connectors: { local } })))
 * ```
 */
export const vertex = (
  pipeline: Definition,
  options: VertexOptions
): Layer.Layer<Services | FileMetadataStore | Secrets | Generation | PartnerChat, PipelineInvalid | ServiceError | StateError | SecretError> =>
  Layer.unwrap(Effect.gen(function*() {
    const own = yield* fitOwn(pipeline, "vertex", Object.keys(options.connectors))
    // The HTTP client is large, and the embedded engine does without.
    const { vertexServices } = yield* Effect.promise(() => import("./Vertex.ts"))
    return makeConnectors(options.connectors, options).pipe(
      Layer.provideMerge(vertexServices(own, { ...options, writes: process.argv[1] ?? "a program" }))
    )
  }))
