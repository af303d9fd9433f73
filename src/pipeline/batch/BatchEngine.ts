import { Context } from "effect"
import type { BatchPrediction } from "../../ports/BatchPrediction.ts"
import type { ObjectStore } from "../../ports/ObjectStore.ts"
import type { TableStore } from "../../ports/TableStore.ts"

/** Where batch jobs are run. */
export class BatchEngine extends Context.Service<BatchEngine, {
  readonly name: "embedded" | "vertex"
  /** What jobs' names begin with: `projects/{project}/locations/{location}`. */
  readonly parent: string
  /** The region that an input table must be in; absent where tables have none. */
  readonly location?: string
}>()("sluice/pipeline/BatchEngine") {}

/** Everything a batch needs of the engine it runs on: jobs, and the places where rows and results are. */
export type BatchServices = BatchEngine | BatchPrediction | ObjectStore | TableStore
