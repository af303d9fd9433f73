import { Clock, Effect, Predicate, type Redacted } from "effect"
import type { HttpClientResponse } from "effect/http"
import { ServiceError } from "../../src/domain/Errors.ts"
import { bodyText, errorOfBody, retryAfterOf, serviceErrorOf } from "../../src/net/HttpErrors.ts"
import { redactText } from "../../src/net/Redact.ts"

/** What Microsoft Graph says in a refusal; its code is the error's `reason`. */
export const graphError = (what: string, response: HttpClientResponse.HttpClientResponse): Effect.Effect<ServiceError> =>
  Effect.map(serviceErrorOf(what, response), (error) => {
    // Throttling, whatever the status it comes with.
    if (error.reason === "activityLimitReached") return error.with({ code: "RESOURCE_EXHAUSTED" })
    if (response.status === 423) return error.with({ code: "FAILED_PRECONDITION", fix: "The site is locked: ask its administrator." })
    switch (error.code) {
      case "UNAUTHENTICATED":
        return error.with({ fix: "Check tenantId and clientId: Microsoft Graph does not take their token." })
      case "PERMISSION_DENIED":
        return error.with({
          fix: "Grant the app the application permission Sites.Read.All with admin consent, or Sites.Selected and the role read on this site."
        })
      case "NOT_FOUND":
        return error.with({ message: `${what} was not found`, fix: "Correct its name or id, or take it out of the source." })
      default:
        return error
    }
  })

/** What Microsoft's sign-in service means by its numbers (its "error codes" reference). */
const fixes: Readonly<Record<string, string>> = {
  AADSTS7000215: "The client secret is not the app's: store the secret's value, not its id.",
  AADSTS7000222: "The client secret has expired: make a new one and store it as a new secret version.",
  AADSTS700016: "There is no such app in the tenant: check clientId and tenantId.",
  AADSTS7000229: "The app has no service principal in the tenant: an administrator consents to it once.",
  AADSTS7000112: "The app is disabled in the tenant: ask its administrator.",
  AADSTS90002: "There is no such tenant: check tenantId.",
  AADSTS900023: "tenantId is neither a tenant's id nor its domain.",
  AADSTS53003: "A conditional access policy of the tenant blocks the app: ask its administrator."
}

/** Why there is no token. */
export const loginError = Effect.fnUntraced(function*(
  what: string,
  response: HttpClientResponse.HttpClientResponse,
  secret: Redacted.Redacted<string>
) {
  const body = yield* bodyText(response)
  const retryAfter = retryAfterOf(response.headers, yield* Clock.currentTimeMillis)
  const error = errorOfBody(what, { status: response.status, body, secrets: [secret], ...(retryAfter === undefined ? {} : { retryAfter }) })
  if (error.retryable) return error
  const said = descriptionOf(body)
  const number = /\bAADSTS\d+/.exec(said)?.[0]
  return new ServiceError({
    code: "UNAUTHENTICATED",
    message: `${what} was refused${said === "" ? "" : `: ${redactText(said.replace(/ Trace ID: .*$/s, ""), [secret], 300)}`}`,
    ...(number === undefined ? {} : { reason: number }),
    fix: fixes[number ?? ""] ?? "Check tenantId, clientId and the client secret."
  })
})

const descriptionOf = (body: string): string => {
  try {
    const json: unknown = JSON.parse(body)
    if (Predicate.hasProperty(json, "error_description") && typeof json.error_description === "string") return json.error_description
    return Predicate.hasProperty(json, "error") && typeof json.error === "string" ? json.error : ""
  } catch {
    return ""
  }
}
