import { Predicate } from "effect"
import { ServiceError } from "../domain/Errors.ts"
import { redactText } from "./Redact.ts"

/** What to do about a 401. */
export const loginFix = "Run `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS to a key file."

/** Marks the error that says there are no credentials at all, as against credentials that do not work. */
export const noCredentials = "NO_CREDENTIALS"

/** What to do about a 403: mostly a role, unless the project is at fault. */
export const deniedFix = (reason: string | undefined, service: string, role: string): string => {
  switch (reason) {
    case "SERVICE_DISABLED":
      return `Run \`gcloud services enable ${service}\` for the project that asks.`
    case "BILLING_DISABLED":
      return "Enable billing for the project that asks."
    case "USER_PROJECT_DENIED":
      return "Give the account roles/serviceusage.serviceUsageConsumer on the quota project, or name another one."
    default:
      return role
  }
}

const networkCodes = new Set(["ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH"])

/**
 * What google-auth-library threw, as a `ServiceError`. Its errors carry the request, refresh token included, so
 * nothing of them is kept but a redacted message.
 */
export const authErrorOf = (cause: unknown): ServiceError => {
  const field = (name: string): unknown => (Predicate.isObject(cause) ? Reflect.get(cause, name) : undefined)
  const message = redactText(cause instanceof Error ? cause.message : "no details", [], 300)
  const status = Number(field("status") ?? Number.NaN)
  if (networkCodes.has(String(field("code"))) || status >= 500 || status === 429) {
    return new ServiceError({
      code: "UNAVAILABLE",
      message: `no Google access token: ${message}`,
      fix: "Check the network and the proxy settings."
    })
  }
  if (/Could not load the default credentials/.test(message)) {
    return new ServiceError({ code: "UNAUTHENTICATED", message: "no Google credentials were found", reason: noCredentials, fix: loginFix })
  }
  if (/invalid_grant|invalid_rapt|refresh token|reauth/i.test(message)) {
    return new ServiceError({
      code: "UNAUTHENTICATED",
      message: `the Google credentials no longer work: ${message}`,
      fix: "Run `gcloud auth application-default login` again."
    })
  }
  return new ServiceError({ code: "UNAUTHENTICATED", message: `the Google credentials cannot be used: ${message}`, fix: loginFix })
}
