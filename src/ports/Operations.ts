import { Context, type Effect } from "effect"
import type { ServiceError } from "../domain/Errors.ts"
import type { Operation, OperationName } from "../domain/Operation.ts"
import type { Page, PageRequest } from "./Paging.ts"

/** Long-running operations. They outlive the process that started them. */
export class Operations extends Context.Service<Operations, {
  readonly get: (name: OperationName) => Effect.Effect<Operation, ServiceError>
  readonly list: (page: PageRequest) => Effect.Effect<Page<Operation>, ServiceError>
  /** Best effort: the operation may still end in success. */
  readonly cancel: (name: OperationName) => Effect.Effect<void, ServiceError>
  readonly delete: (name: OperationName) => Effect.Effect<void, ServiceError>
  /** Returns when it is done or `timeoutMs` has passed, whichever is first, with its latest state. */
  readonly wait: (name: OperationName, timeoutMs: number) => Effect.Effect<Operation, ServiceError>
}>()("sluice/ports/Operations") {}
