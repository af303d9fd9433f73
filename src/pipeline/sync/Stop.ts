import type { SecretError, ServiceError, StateError } from "../../domain/Errors.ts"

/**
 * Whether a run has stopped starting new work, and why. Work in progress is finished: a write that is cut off would have
 * to be settled by the next run.
 */
export class Stop {
  ended: "budget" | "stopped" | undefined
  /** Why, for the report. */
  why: string | undefined
  /** Error that the run fails with. */
  error: ServiceError | StateError | SecretError | undefined

  fail(error: NonNullable<Stop["error"]>): void {
    this.ended = "stopped"
    this.error = error
  }
}
