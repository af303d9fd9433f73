import { Context, type Effect } from "effect"
import type { BatchJob, BatchJobName, BatchSpec } from "../domain/batch/BatchPrediction.ts"
import type { ServiceError } from "../domain/Errors.ts"
import type { Page, PageRequest } from "./Paging.ts"

/**
 * Batch jobs that send many prompts to a model, in the project and region the engine is bound to. Rows are only checked
 * when the job runs, not when it is created: check them first to know earlier. Creation fails where the engine can see
 * that the input or output of the job does not exist or cannot be used.
 */
export class BatchPrediction extends Context.Service<BatchPrediction, {
  readonly create: (spec: BatchSpec) => Effect.Effect<BatchJob, ServiceError>
  readonly get: (name: BatchJobName) => Effect.Effect<BatchJob, ServiceError>
  /** Lists jobs, newest first; `filter` in the syntax of `parseBatchFilter`. */
  readonly list: (page: PageRequest, filter?: string) => Effect.Effect<Page<BatchJob>, ServiceError>
  /** Cancels a job, best effort: it may still succeed. Answers made so far are kept. */
  readonly cancel: (name: BatchJobName) => Effect.Effect<void, ServiceError>
  /** Deletes the record of a job that has ended, not its results; `FAILED_PRECONDITION` while it is running. */
  readonly delete: (name: BatchJobName) => Effect.Effect<void, ServiceError>
  /**
   * Waits until the job has ended or `timeoutMs` have passed, and returns its latest state; calls `observe` for each
   * change of state that it sees. Interrupting the wait leaves the job running. An engine without a server does the job's
   * work during the wait.
   */
  readonly wait: (
    name: BatchJobName,
    options?: { readonly timeoutMs?: number; readonly observe?: (job: BatchJob) => Effect.Effect<void> }
  ) => Effect.Effect<BatchJob, ServiceError>
}>()("sluice/ports/BatchPrediction") {}
