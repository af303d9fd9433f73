import { Context, type Effect } from "effect"
import type { ServiceError } from "../domain/Errors.ts"
import type { Operation, OperationName } from "../domain/Operation.ts"
import type { Page, PageRequest } from "./Paging.ts"

/** Long-running operations. They outlive the process that started them. */
export class Operations extends Context.Service<Operations, {
  readonly get: (name: OperationName) => Effect.Effect<Operation, ServiceError>
  readonly list: (page: PageRequest) => Effect.Effect<Page<Operation>, ServiceError>
  /** Cancels an operation, best effort: it may still succeed. */
  readonly cancel: (name: OperationName) => Effect.Effect<void, ServiceError>
  readonly delete: (name: OperationName) => Effect.Effect<void, ServiceError>
  /** Waits until the operation is done or `timeoutMs` milliseconds have passed, and returns its latest state. */
  readonly wait: (name: OperationName, timeoutMs: number) => Effect.Effect<Operation, ServiceError>
}>()("sluice/ports/Operations") {}
