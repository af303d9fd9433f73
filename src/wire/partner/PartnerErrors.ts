import { Predicate } from "effect"
import { type Code, ServiceError } from "../../domain/Errors.ts"
import type { JsonObject } from "../Message.ts"

/** Types of a partner's errors. The first type with a code is the one that is written for it. */
const types: ReadonlyArray<{ readonly type: string; readonly status: number; readonly code: Code }> = [
  { type: "invalid_request_error", status: 400, code: "INVALID_ARGUMENT" },
  { type: "authentication_error", status: 401, code: "UNAUTHENTICATED" },
  { type: "permission_error", status: 403, code: "PERMISSION_DENIED" },
  { type: "not_found_error", status: 404, code: "NOT_FOUND" },
  { type: "request_too_large", status: 413, code: "INVALID_ARGUMENT" },
  { type: "rate_limit_error", status: 429, code: "RESOURCE_EXHAUSTED" },
  { type: "api_error", status: 500, code: "INTERNAL" },
  { type: "timeout_error", status: 504, code: "DEADLINE_EXCEEDED" },
  { type: "overloaded_error", status: 529, code: "UNAVAILABLE" }
]

const badRequest = { type: "invalid_request_error", status: 400 }
const apiError = { type: "api_error", status: 500 }

/** Codes of errors that repeating the request cannot resolve. */
const ofRequest: ReadonlySet<Code> = new Set<Code>(["FAILED_PRECONDITION", "UNIMPLEMENTED", "OUT_OF_RANGE", "ALREADY_EXISTS"])

/** An error in the partner's format, which has no field for a fix: the fix is part of the message. */
export const partnerErrorToWire = (error: ServiceError): { readonly status: number; readonly body: JsonObject } => {
  const { status, type } = types.find(({ code }) => code === error.code) ?? (ofRequest.has(error.code) ? badRequest : apiError)
  const { fix } = error
  const message = fix === undefined || error.message.includes(fix) ? error.message : `${error.message} (${fix})`
  return { status, body: { type: "error", error: { type, message } } }
}

/**
 * Decodes an error of a partner's model, also one inside a stream; undefined where the body is not such an error. Its type,
 * such as `overloaded_error`, becomes the reason. `unnamed` is the code for unknown types.
 */
export const partnerErrorFromWire = (body: unknown, unnamed: Code, retryAfter?: number): ServiceError | undefined => {
  if (!Predicate.isObject(body) || !("type" in body) || body.type !== "error" || !("error" in body)) return undefined
  const { error } = body
  const field = (name: string): string | undefined => {
    const value: unknown = Predicate.isObject(error) ? Reflect.get(error, name) : undefined
    return typeof value === "string" ? value : undefined
  }
  const type = field("type") ?? "api_error"
  return new ServiceError({
    code: types.find((each) => each.type === type)?.code ?? unnamed,
    message: field("message") ?? type,
    reason: type,
    retryAfter
  })
}
