import { Clock, Effect, Predicate } from "effect"
import type { HttpClientResponse } from "effect/http"
import type { ServiceError } from "../../src/domain/Errors.ts"
import { loginFix } from "../../src/net/GoogleErrors.ts"
import { bodyText, errorOfBody, retryAfterOf } from "../../src/net/HttpErrors.ts"

/** Limits that waiting clears (Drive's "Resolve errors" guide); the daily ones are not among them. */
const rates = new Set(["userRateLimitExceeded", "rateLimitExceeded", "sharingRateLimitExceeded"])
const scopes = new Set(["insufficientPermissions", "ACCESS_TOKEN_SCOPE_INSUFFICIENT"])

const scopeFix =
  "Run `gcloud auth application-default login --scopes=https://www.googleapis.com/auth/drive.readonly,https://www.googleapis.com/auth/cloud-platform`."

/** What to do about a file that this account does not see. */
export const shareFix = "Share it with the account that Sluice runs as, or take it out of the source."

/** What Drive says in a refusal. Its own word for the reason is the error's `reason`. */
export const driveError = Effect.fnUntraced(function*(what: string, response: HttpClientResponse.HttpClientResponse) {
  const body = yield* bodyText(response)
  const retryAfter = retryAfterOf(response.headers, yield* Clock.currentTimeMillis)
  const plain = errorOfBody(what, { status: response.status, body, ...(retryAfter === undefined ? {} : { retryAfter }) })
  return explain(what, plain, reasonOf(body) ?? plain.reason)
})

const explain = (what: string, error: ServiceError, reason: string | undefined): ServiceError => {
  const known = error.with({ reason })
  const as = (facts: Parameters<ServiceError["with"]>[0]): ServiceError => known.with(facts)
  if (reason !== undefined && rates.has(reason)) return as({ code: "RESOURCE_EXHAUSTED", fix: "Drive's rate limit was met; it was waited for and tried again." })
  if (reason === "dailyLimitExceeded") return as({ code: "FAILED_PRECONDITION", fix: "The day's quota of the Drive API is used up: raise it, or come back tomorrow." })
  if (reason !== undefined && scopes.has(reason)) return as({ fix: scopeFix })
  if (reason === "accessNotConfigured" || reason === "SERVICE_DISABLED") return as({ fix: "Run `gcloud services enable drive.googleapis.com` for the project that asks." })
  if (reason === "appNotAuthorizedToFile") return as({ fix: "The credentials reach only files opened with their app (drive.file): use ones with drive.readonly." })
  if (reason === "cannotDownloadAbusiveFile") return as({ fix: "Google holds the file for malware or spam; it is not read." })
  switch (error.code) {
    case "NOT_FOUND":
      return as({ message: `${what} was not found, or is not shared with this account`, fix: shareFix })
    case "PERMISSION_DENIED":
      return as({ fix: shareFix })
    case "UNAUTHENTICATED":
      return as({ fix: loginFix })
    default:
      return known
  }
}

/** `error.errors[0].reason`, Drive's classic place for it. */
const reasonOf = (body: string): string | undefined => {
  try {
    const json: unknown = JSON.parse(body)
    const error = Predicate.hasProperty(json, "error") ? json.error : undefined
    const errors = Predicate.hasProperty(error, "errors") ? error.errors : undefined
    const first: unknown = Array.isArray(errors) ? errors[0] : undefined
    return Predicate.hasProperty(first, "reason") && typeof first.reason === "string" && /^\w{1,60}$/.test(first.reason)
      ? first.reason
      : undefined
  } catch {
    return undefined
  }
}
