import { Clock, Effect, Predicate, type Redacted, Stream } from "effect"
import type { HttpClientError, HttpClientResponse } from "effect/http"
import { codeOfHttp } from "../domain/Codes.ts"
import { Code, type FieldViolation, ServiceError } from "../domain/Errors.ts"
import { AddressRefused } from "./PublicAddress.ts"
import { redactText, redactUrl, secretsIn, withoutSecrets } from "../domain/Redact.ts"

const maxBodyBytes = 64 * 1024

/**
 * Turns a failed response into a `ServiceError`: `what` (for people: "embeddings of api.openai.com"), the status, and the
 * body's own words, cut and redacted. Understands google.rpc.Status and OpenAI error bodies.
 */
export const serviceErrorOf = Effect.fnUntraced(function*(
  what: string,
  response: HttpClientResponse.HttpClientResponse,
  secrets: ReadonlyArray<Redacted.Redacted<string>> = []
) {
  const text = yield* bodyText(response)
  const now = yield* Clock.currentTimeMillis
  const retryAfter = retryAfterOf(response.headers, now)
  return errorOfBody(what, { status: response.status, body: text, secrets, retryAfter })
})

/** Makes the `ServiceError` of a body that was read already, such as of an error inside a stream. */
export const errorOfBody = (what: string, failure: {
  readonly status: number
  readonly body: string
  readonly secrets?: ReadonlyArray<Redacted.Redacted<string>>
  readonly retryAfter?: number
}): ServiceError => {
  const said = parseBody(failure.body)
  const message = redactText(said.message, failure.secrets)
  const reason = said.reason === undefined ? undefined : redactText(said.reason, failure.secrets, 100)
  const retryAfter = failure.retryAfter ?? said.retryAfter
  return new ServiceError({
    code: said.code ?? codeOfHttp(failure.status),
    message: `${what} answered ${failure.status}${message === "" ? "" : `: ${message}`}`,
    reason,
    violations: said.violations.length === 0 ? undefined : said.violations.map(({ field, description }) => ({
      field: redactText(field, failure.secrets, 200),
      description: redactText(description, failure.secrets)
    })),
    retryAfter,
    status: failure.status,
    ...fixOf(failure.status, reason)
  })
}

const fixOf = (status: number, reason: string | undefined): { readonly fix?: string } => {
  if (reason === "insufficient_quota") return { fix: "the account's quota is used up: add credit or raise its limit" }
  if (status === 401 || status === 403) return { fix: "check the key and its permissions" }
  if (status === 404) return { fix: "check the base URL and the model's name" }
  if (status >= 300 && status < 400) return { fix: "the address redirects: give the final one" }
  return {}
}

/** Error of a request that got no complete answer: refused, reset, cut short, or malformed. */
export const transportErrorOf = (what: string, error: HttpClientError.HttpClientError): ServiceError => {
  const reason = error.reason
  if (reason._tag === "InvalidUrlError" || reason._tag === "EncodeError") {
    return new ServiceError({ code: "INVALID_ARGUMENT", message: `${what}: the request cannot be made (${reason._tag})` })
  }
  if (reason._tag === "StatusCodeError") {
    return new ServiceError({
      code: codeOfHttp(reason.response.status),
      message: `${what} answered ${reason.response.status}`,
      status: reason.response.status
    })
  }
  const refused = refusalOf(reason.cause)
  if (refused !== undefined) {
    return new ServiceError({
      code: "PERMISSION_DENIED",
      message: `${what}: ${refused.message}`,
      fix: "give an address on the public Internet: others are not fetched here"
    })
  }
  const { host } = new URL(redactUrl(reason.request.url))
  return new ServiceError({
    code: "UNAVAILABLE",
    message: `${what}${what.includes(host) ? "" : ` at ${host}`} could not be reached or broke off (${causeOf(reason.cause)})`,
    fix: "check the address, the network and the proxy settings"
  })
}

const refusalOf = (cause: unknown, depth = 0): AddressRefused | undefined => {
  if (cause instanceof AddressRefused) return cause
  return Predicate.isObject(cause) && "cause" in cause && depth < 5 ? refusalOf(cause.cause, depth + 1) : undefined
}

/** The innermost error code or message: "ECONNREFUSED", "other side closed". */
const causeOf = (cause: unknown, depth = 0): string => {
  if (Predicate.isObject(cause) && depth < 5) {
    if ("cause" in cause && cause.cause !== undefined) return causeOf(cause.cause, depth + 1)
    if ("code" in cause && typeof cause.code === "string") return redactText(cause.code, [], 60)
    if ("message" in cause && typeof cause.message === "string") return redactText(cause.message, [], 120)
  }
  return "no details"
}

/** Text of an error's body: at most 64 KiB, without the request's own credentials. A body that cannot be read is empty. */
export const bodyText = (response: HttpClientResponse.HttpClientResponse): Effect.Effect<string> => {
  let room = maxBodyBytes
  return response.stream.pipe(
    Stream.takeUntil((chunk) => (room -= chunk.length) <= 0),
    Stream.runCollect,
    Effect.map((chunks) =>
      withoutSecrets(Buffer.concat(chunks).subarray(0, maxBodyBytes).toString("utf8"), secretsIn(response.request.headers))
    ),
    Effect.timeout("10 seconds"),
    Effect.orElseSucceed(() => "")
  )
}

interface Said {
  readonly message: string
  readonly code?: Code
  readonly reason?: string
  readonly retryAfter?: number
  readonly violations: ReadonlyArray<FieldViolation>
}

const isCode = (value: unknown): value is Code => Code.literals.some((code) => code === value)

/** Parses an error body: `{"error": {...}}` of both kinds, the bare Status, an array of one (streamed Google errors), or plain text. */
const parseBody = (body: string): Said => {
  let json: unknown
  try {
    json = JSON.parse(body)
  } catch {
    return { message: /^\s*</.test(body) ? "" : body, violations: [] }
  }
  const first: unknown = Array.isArray(json) ? json[0] : json
  // Weaviate lists its errors, and Qdrant has one under `status`.
  const named: unknown = Predicate.isObject(first) && "error" in first
    ? first.error
    : Predicate.isObject(first) && "status" in first && Predicate.isObject(first.status) && "error" in first.status
    ? first.status.error
    : first
  const error: unknown = Array.isArray(named) ? named[0] : named
  if (typeof error === "string") return { message: error, violations: [] }
  if (!Predicate.isObject(error)) return { message: "", violations: [] }
  const field = (name: string): unknown => Reflect.get(error, name)
  const message = field("message")
  const status = field("status")
  const details: ReadonlyArray<unknown> = Array.isArray(field("details")) ? field("details") as Array<unknown> : []
  const detail = (type: string): object | undefined =>
    details.find((each): each is object => Predicate.isObject(each) && String(Reflect.get(each, "@type")).endsWith(type))
  const info = detail("google.rpc.ErrorInfo")
  const reason = info === undefined ? field("code") ?? field("type") : Reflect.get(info, "reason")
  const retry = detail("google.rpc.RetryInfo")
  const delay = retry === undefined ? undefined : /^(\d+(?:\.\d+)?)s$/.exec(String(Reflect.get(retry, "retryDelay")))
  const bad = detail("google.rpc.BadRequest")
  const violations: unknown = bad === undefined ? [] : Reflect.get(bad, "fieldViolations")
  return {
    message: typeof message === "string" ? message : "",
    code: isCode(status) ? status : undefined,
    reason: typeof reason === "string" ? reason : undefined,
    retryAfter: delay === null || delay === undefined ? undefined : Math.ceil(Number(delay[1]) * 1000),
    violations: (Array.isArray(violations) ? violations.slice(0, 50) : []).filter(Predicate.isObject).map((each) => ({
      field: String(Reflect.get(each, "field") ?? ""),
      description: String(Reflect.get(each, "description") ?? "")
    }))
  }
}

/**
 * How long the service asks callers to wait, in milliseconds: `retry-after-ms`, else `Retry-After` in seconds or as an
 * HTTP date (RFC 9110 section 10.2.3).
 */
export const retryAfterOf = (headers: Readonly<Record<string, string>>, now: number): number | undefined => {
  const milliseconds = Number(headers["retry-after-ms"] ?? Number.NaN)
  if (milliseconds >= 0) return Math.ceil(milliseconds)
  const value = headers["retry-after"]?.trim()
  if (value === undefined || value === "") return undefined
  if (/^\d+(?:\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1000)
  const date = /^[A-Z][a-z]{2,8},? /.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
