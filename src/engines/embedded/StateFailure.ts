import { ServiceError, type Code, type StateError } from "../../domain/Errors.ts"

/** Codes by problem. Only `locked` may pass without action; the codes of the others keep callers from trying again. */
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
