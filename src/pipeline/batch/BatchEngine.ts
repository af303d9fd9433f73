import { Context } from "effect"
import type { BatchPrediction } from "../../ports/BatchPrediction.ts"
import type { ObjectStore } from "../../ports/ObjectStore.ts"
import type { TableStore } from "../../ports/TableStore.ts"

/** The engine that runs batch jobs. */
export class BatchEngine extends Context.Service<BatchEngine, {
  readonly name: "embedded" | "vertex"
  /** Prefix of job names: `projects/{project}/locations/{location}`. */
  readonly parent: string
  /** Region that an input table must be in; absent where tables have no region. */
  readonly location?: string
}>()("sluice/pipeline/BatchEngine") {}

/** Services that a batch needs of the engine it runs on: jobs, and the stores of rows and results. */
export type BatchServices = BatchEngine | BatchPrediction | ObjectStore | TableStore
