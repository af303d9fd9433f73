import { Data, Effect } from "effect"
import { SecretError, ServiceError, type StateError } from "../../domain/Errors.ts"
import type { FileOutcome } from "../../domain/Report.ts"

/** Deletes that wait for a person: more than `maxDelete` allows, or all that a source had. */
export class Held extends Data.TaggedError("Held")<{ readonly count: number; readonly why: string }> {}

/** The item was not stored, because the run's embedding budget is spent. The item is as it was before. */
export class OverBudget extends Data.TaggedError("OverBudget") {}

/** Whether the next file would meet this error too: the run ends, and files not reached are pending. */
export const concernsAll = (error: ServiceError): boolean =>
  error.code === "UNAUTHENTICATED" || error.code === "PERMISSION_DENIED" || error.code === "RESOURCE_EXHAUSTED" ||
  error.code === "CANCELLED" || (error.code === "FAILED_PRECONDITION" && error.violations === undefined)

/** For deletes: succeeds where the file does not exist any more. */
export const ignoreMissing = <A, R>(effect: Effect.Effect<A, ServiceError, R>): Effect.Effect<void, ServiceError, R> =>
  Effect.catchIf(Effect.asVoid(effect), ({ code }) => code === "NOT_FOUND", () => Effect.void)

/** The message of an error with its fix, as reports show it. */
export const messageWithFix = ({ fix, message }: { readonly fix?: string | undefined; readonly message: string }): string =>
  fix === undefined ? message : `${message} (${fix})`

/** Outcome of an item whose bytes cannot be read. It is skipped where it has disappeared since it was listed, or exceeds a limit. */
export const unreadableOutcome = (error: ServiceError | SecretError): Pick<FileOutcome, "outcome" | "reason" | "message" | "retryable"> => {
  const { message } = error
  if (error._tag === "SecretError") return { outcome: "failed", reason: "secret", message, retryable: true }
  const { code, retryable } = error
  if (code === "NOT_FOUND") return { outcome: "skipped", reason: "gone", message, retryable }
  if (code === "OUT_OF_RANGE") return { outcome: "skipped", reason: "limit", message, retryable }
  return { outcome: "failed", reason: code, message: messageWithFix(error), retryable: retryable || code === "PERMISSION_DENIED" }
}

/** Whether a connector refused a cursor, so that everything has to be listed. */
export const isCursorRefused = (error: ServiceError | SecretError | StateError): boolean =>
  error._tag === "ServiceError" && error.code === "INVALID_ARGUMENT" && error.violations?.[0]?.field === "cursor"

/** Why a source cannot be read. */
export interface SourceFailure {
  readonly id: string
  readonly error: ServiceError | SecretError
}

/** One error for all sources that cannot be read. */
export const sourcesUnreadable = (failures: readonly [SourceFailure, ...Array<SourceFailure>]): ServiceError | SecretError => {
  const [{ error, id }, another] = failures
  if (another === undefined) {
    const message = `sources.${id}: ${error.message}`
    return error._tag === "ServiceError" ? error.with({ message }) : new SecretError({ ...error, message })
  }
  const [code = "FAILED_PRECONDITION", ...others] = new Set(
    failures.map(({ error }) => error._tag === "SecretError" ? "UNAUTHENTICATED" : error.code)
  )
  const inOrder = failures.toSorted((a, b) => a.id < b.id ? -1 : 1)
  return new ServiceError({
    code: others.length === 0 ? code : "FAILED_PRECONDITION",
    message: [
      `${failures.length} sources cannot be read:`,
      ...inOrder.map(({ error, id }) => `  ${id}: ${messageWithFix(error)}`)
    ].join("\n"),
    violations: inOrder.map(({ error, id }) => ({ field: `sources.${id}`, description: error.message }))
  })
}
