import { Result } from "effect"
import { codeOfGrpc, codeOfHttp, grpcStatusOf, httpStatusOf } from "../domain/Codes.ts"
import { Code, DocumentError, DocumentProblem, type FieldViolation, ServiceError } from "../domain/Errors.ts"
import { type Any, type JsonObject, type Message, typeUrl } from "./Message.ts"
import { BadRequest, ErrorBody, ErrorInfo, Help, RetryInfo, type Status } from "./messages/Rpc.ts"
import { partnerErrorFromWire } from "./partner/PartnerErrors.ts"
import { write } from "./Write.ts"

/** The HTTP response to a failed call. Streams that are not SSE wrap the body in an array. */
export const errorToWire = (
  error: ServiceError,
  metadata: Readonly<Record<string, string>> = {}
): { readonly status: number; readonly body: JsonObject } => {
  const status = httpStatusOf(error.code)
  const details = detailsOf(error, metadata)
  return {
    status,
    body: write(ErrorBody, { error: { code: status, message: error.message, status: error.code, details } }, { version: "v1" })
  }
}

/**
 * The error of a failed call. `body` is the parsed JSON of the response, of any form; `retryAfter` is the header's delay in
 * milliseconds, which a delay in the body overrides.
 */
export const errorFromWire = (httpStatus: number, body: unknown, retryAfter?: number): ServiceError => {
  const unnamed = codeOfHttp(httpStatus)
  const partner = partnerErrorFromWire(body, unnamed, retryAfter)
  if (partner !== undefined) return partner
  const { error } = Result.getOrElse(ErrorBody.decode(Array.isArray(body) ? body[0] : body), (): ErrorBody => ({}))
  const named = Code.literals.find((code) => code === error?.status)
  return serviceError(
    named ?? unnamed,
    error?.message ?? `the service answered ${httpStatus}`,
    error?.details ?? [],
    retryAfter
  )
}

/** The status of a failed operation, which is part of a successful response. */
export const statusToWire = (error: ServiceError | { readonly code: Code; readonly message: string }): Status => {
  const details = error instanceof ServiceError ? detailsOf(error, {}) : []
  return { code: grpcStatusOf(error.code), message: error.message, details: details.length === 0 ? undefined : details }
}

export const statusFromWire = (status: Status): ServiceError =>
  serviceError(codeOfGrpc(status.code), status.message ?? "", status.details ?? [], undefined)

/**
 * The status of an upload whose file was not stored. It has no details: Google's client libraries fail on a detail whose type
 * is not in their protos. The problem of a document is the first word of the message.
 */
export const uploadErrorToWire = (error: ServiceError | DocumentError): Status =>
  error instanceof DocumentError
    ? { code: grpcStatusOf("INVALID_ARGUMENT"), message: `${error.problem}: ${error.message}` }
    : { code: grpcStatusOf(error.code), message: error.message }

/**
 * The error in a status of an upload whose file was not stored. INVALID_ARGUMENT is about the document, since the call itself
 * succeeded; its problem is known where the server is Sluice's, and `corrupt` otherwise.
 */
export const uploadErrorFromWire = (status: Status): ServiceError | DocumentError => {
  const error = statusFromWire(status)
  if (error.code !== "INVALID_ARGUMENT") return error
  const problem = DocumentProblem.literals.find((problem) => error.message.startsWith(`${problem}: `))
  return problem === undefined
    ? new DocumentError({ problem: "corrupt", message: error.message })
    : new DocumentError({ problem, message: error.message.slice(problem.length + 2) })
}

const domain = "googleapis.com"

const detail = <A>(type: Message<A>, value: A & object): Any => ({
  "@type": typeUrl(type, "v1"),
  ...write(type, value, { version: "v1" })
})

const longestReason = 63

/** The reason as ErrorInfo requires it, `[A-Z][A-Z0-9_]+[A-Z0-9]`: other services spell theirs in their own ways. None where nothing is left. */
const reasonsOf = ({ reason = "" }: ServiceError): ReadonlyArray<string> => {
  const spelled = reason.replace(/([a-z])([A-Z])/g, "$1_$2").toUpperCase().replace(/[^A-Z0-9_]/g, "_")
    .replace(/^[^A-Z]+/, "").slice(0, longestReason).replace(/_+$/, "")
  return /^[A-Z][A-Z0-9_]+[A-Z0-9]$/.test(spelled) ? [spelled] : []
}

const detailsOf = (error: ServiceError, metadata: Readonly<Record<string, string>>): ReadonlyArray<Any> => [
  ...(error.violations === undefined ? [] : [detail(BadRequest, { fieldViolations: error.violations })]),
  ...reasonsOf(error).map((reason) => detail(ErrorInfo, { reason, domain, metadata })),
  ...(error.retryAfter === undefined ? [] : [detail(RetryInfo, { retryDelay: `${error.retryAfter / 1000}s` })]),
  ...(error.fix === undefined ? [] : [detail(Help, { links: [{ description: error.fix }] })])
]

const serviceError = (
  code: Code,
  message: string,
  details: ReadonlyArray<Any>,
  retryAfter: number | undefined
): ServiceError => {
  const violations = find(details, BadRequest)?.fieldViolations?.map(
    ({ description = "", field = "" }): FieldViolation => ({ field, description })
  )
  const reason = find(details, ErrorInfo)?.reason
  const delay = milliseconds(find(details, RetryInfo)?.retryDelay) ?? retryAfter
  const link = find(details, Help)?.links?.[0]
  const fix = [link?.description, link?.url].filter((text) => text !== undefined && text !== "").join(": ")
  return new ServiceError({
    code,
    message,
    violations,
    reason,
    retryAfter: delay,
    fix: fix === "" ? undefined : fix
  })
}

const find = <A>(details: ReadonlyArray<Any>, type: Message<A>): A | undefined => {
  const found = details.find((each) => each["@type"] === typeUrl(type, "v1"))
  return found === undefined ? undefined : Result.getOrUndefined(type.decode(found))
}

/** Milliseconds of a proto duration such as `3.5s`; undefined where it is absent or not valid. */
export const milliseconds = (duration: string | undefined): number | undefined => {
  const found = /^(-?\d+(?:\.\d{1,9})?)s$/.exec(duration ?? "")
  return found === null ? undefined : Math.max(0, Math.round(Number(found[1]) * 1e9) / 1e6)
}
