import { Clock, Effect, Predicate, type Redacted, Stream } from "effect"
import type { HttpClientError, HttpClientResponse } from "effect/http"
import { ServiceError } from "../../domain/Errors.ts"
import { retryAfterOf, transportErrorOf } from "../../net/HttpErrors.ts"
import { redactText, secretsIn } from "../../domain/Redact.ts"
import { errorFromWire } from "../../wire/Errors.ts"
import { withFix } from "./Fixes.ts"
import { Unanswered } from "./Unanswered.ts"

/** Most bytes of an answer that are read into memory. */
const maxAnswer = 64 * 1024 * 1024
const maxErrorBody = 64 * 1024

/** The error of a failed answer. The service may have acted even on a request that it, or a proxy, gave up on. */
export const failureOf = Effect.fnUntraced(function*(
  what: string,
  project: string,
  response: HttpClientResponse.HttpClientResponse
) {
  const text = yield* bounded(response, maxErrorBody).pipe(
    Effect.timeout("10 seconds"),
    Effect.orElseSucceed(() => "")
  )
  const now = yield* Clock.currentTimeMillis
  const reported = errorFromWire(response.status, parsed(text), retryAfterOf(response.headers, now)).with({ status: response.status })
  const error = reportedBy(`${what} answered ${response.status}`, project, reported, secretsIn(response.request.headers))
  return ambiguous.has(response.status) ? new Unanswered({ error }) : error
})

/** An error that the service reported: it names the call, has a fix, and does not repeat secrets of the request. */
export const reportedBy = (
  what: string,
  project: string,
  error: ServiceError,
  secrets: ReadonlyArray<Redacted.Redacted<string>> = []
): ServiceError =>
  withFix(
    error.with({
      message: `${what}: ${redactText(error.message, secrets)}`,
      fix: error.fix === undefined ? undefined : redactText(error.fix, secrets),
      reason: error.reason === undefined ? undefined : redactText(error.reason, secrets, 100),
      violations: error.violations?.slice(0, 50).map(({ description, field }) => ({
        field: redactText(field, secrets, 200),
        description: redactText(description, secrets)
      }))
    }),
    project
  )

const ambiguous = new Set([408, 499, 500, 502, 503, 504])

const unconnected = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT"
])

export const unsent = (error: HttpClientError.HttpClientError, what: string): ServiceError | Unanswered => {
  const failure = transportErrorOf(what, error)
  if (failure.code === "INVALID_ARGUMENT") return failure
  const reason = error.reason
  const connected = !("cause" in reason) || !hasCode(reason.cause, unconnected)
  return connected ? new Unanswered({ error: failure }) : failure
}

const hasCode = (cause: unknown, codes: ReadonlySet<string>, depth = 0): boolean =>
  Predicate.isObject(cause) && depth < 5 &&
  (("code" in cause && typeof cause.code === "string" && codes.has(cause.code)) ||
    ("cause" in cause && hasCode(cause.cause, codes, depth + 1)))

/** Reads an answer as JSON, up to a limit. Anything that is not JSON was cut short on its way, or is a proxy's page. */
export const readJson = Effect.fnUntraced(function*(what: string, response: HttpClientResponse.HttpClientResponse) {
  const text = yield* bounded(response, maxAnswer).pipe(Effect.mapError((error) =>
    error === "large"
      ? new ServiceError({ code: "OUT_OF_RANGE", message: `${what} answered with more than ${maxAnswer} bytes` })
      : transportErrorOf(what, error)
  ))
  const value = text.trim() === "" ? {} : parsed(text)
  return value === undefined
    ? yield* new ServiceError({ code: "UNAVAILABLE", message: `${what} answered something that is not JSON, or only part of it` })
    : value
})

const bounded = (
  response: HttpClientResponse.HttpClientResponse,
  max: number
): Effect.Effect<string, HttpClientError.HttpClientError | "large"> =>
  Effect.suspend(() => {
    const parts: Array<Uint8Array> = []
    let length = 0
    return response.stream.pipe(
      Stream.runForEach((part) => {
        length += part.length
        if (length > max) return Effect.fail("large" as const)
        parts.push(part)
        return Effect.void
      }),
      Effect.map(() => Buffer.concat(parts).toString("utf8"))
    )
  })

/** The value of a JSON text; undefined where it is none. */
export const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
