import { Context, type Effect } from "effect"
import type { BatchJob, BatchJobName, BatchSpec } from "../domain/batch/BatchPrediction.ts"
import type { ServiceError } from "../domain/Errors.ts"
import type { Page, PageRequest } from "./Paging.ts"

/**
 * Jobs that put many prompts to a model, of the project and region an engine is bound to. Rows are not looked at when a
 * job is created, only when it runs: whoever wants to know earlier checks them first. An engine that sees at creation
 * that a place of the job is not there, or not to be used, refuses it.
 */
export class BatchPrediction extends Context.Service<BatchPrediction, {
  readonly create: (spec: BatchSpec) => Effect.Effect<BatchJob, ServiceError>
  readonly get: (name: BatchJobName) => Effect.Effect<BatchJob, ServiceError>
  /** Newest first; `filter` as `parseBatchFilter` reads it. */
  readonly list: (page: PageRequest, filter?: string) => Effect.Effect<Page<BatchJob>, ServiceError>
  /** Best effort: the job may still end in success. Its answers so far are kept. */
  readonly cancel: (name: BatchJobName) => Effect.Effect<void, ServiceError>
  /** Forgets a job that has ended, not its results; `FAILED_PRECONDITION` while it goes on. */
  readonly delete: (name: BatchJobName) => Effect.Effect<void, ServiceError>
  /**
   * Returns when the job has ended or `timeoutMs` have passed, with its latest state; tells each state that it sees
   * change. Interrupting it leaves the job alone. An engine without a server does the job's work meanwhile.
   */
  readonly wait: (
    name: BatchJobName,
    options?: { readonly timeoutMs?: number; readonly observe?: (job: BatchJob) => Effect.Effect<void> }
  ) => Effect.Effect<BatchJob, ServiceError>
}>()("sluice/ports/BatchPrediction") {}
