import { ServiceError, type Code, type StateError } from "../../domain/Errors.ts"

/** None of these but `locked` gets better by itself, and a code that says so keeps callers from trying again. */
const codes: Record<StateError["problem"], Code> = {
  damaged: "DATA_LOSS",
  newer: "FAILED_PRECONDITION",
  readOnly: "FAILED_PRECONDITION",
  full: "FAILED_PRECONDITION",
  locked: "UNAVAILABLE",
  other: "INTERNAL"
}

/** A failure of the database as the ports speak of failures. */
export const stateFailure = (error: StateError): ServiceError =>
  new ServiceError({ code: codes[error.problem], message: error.message, fix: error.fix, cause: error })
