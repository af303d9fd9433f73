import { Context, type Layer } from "effect"
import type { SecretError, ServiceError, StateError } from "../domain/Errors.ts"
import type { BatchServices } from "../pipeline/batch/BatchEngine.ts"
import type { Definition } from "../pipeline/definition/Definition.ts"

export interface BatchLaunchOptions {
  readonly dataDir: string
  /** Folders by the name of the bucket they stand for; the embedded engine's. */
  readonly buckets: ReadonlyMap<string, string>
  /** A SQLite file; the embedded engine's. */
  readonly tables?: string
  /** Rows put to the model at once; the embedded engine's. */
  readonly concurrency?: number
}

/** Makes what batch jobs need of a pipeline's engine, without the rest of it. Given by the composition root. */
export class BatchLauncher extends Context.Service<BatchLauncher, {
  readonly layer: (pipeline: Definition, options: BatchLaunchOptions) => Layer.Layer<BatchServices, ServiceError | StateError | SecretError>
}>()("sluice/cli/BatchLauncher") {}
