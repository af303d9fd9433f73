import { Effect } from "effect"
import { ServiceError, type Code, type StateError } from "../../domain/Errors.ts"
import { asStateError } from "../../state/Database.ts"

/** Codes by problem. Only `locked` may pass by itself: callers try its code again, and none of the others. */
const codes: Record<StateError["problem"], Code> = {
  damaged: "DATA_LOSS",
  newer: "FAILED_PRECONDITION",
  readOnly: "FAILED_PRECONDITION",
  full: "FAILED_PRECONDITION",
  locked: "UNAVAILABLE",
  other: "INTERNAL"
}

/** A failure of the state database, as an error of the ports. */
export const stateFailure = (error: StateError): ServiceError =>
  new ServiceError({ code: codes[error.problem], message: error.message, fix: error.fix, cause: error })

/** Runs `body`, which uses the database at `path`. A ServiceError that it throws is the failure; anything else is SQLite's. */
export const attemptAt = <A>(path: string, body: () => A): Effect.Effect<A, ServiceError> =>
  Effect.try({ try: body, catch: (cause) => cause instanceof ServiceError ? cause : stateFailure(asStateError(cause, path)) })
