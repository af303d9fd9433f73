import { Predicate } from "effect"
import { ServiceError } from "../domain/Errors.ts"
import { redactText } from "../domain/Redact.ts"

/** The fix for a 401. */
export const loginFix = "run `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS to a key file"

/** Reason of the error that there are no credentials at all, as opposed to credentials that do not work. */
export const noCredentials = "NO_CREDENTIALS"

/** The fix for a 403: a role, unless the project is the problem. */
export const deniedFix = (reason: string | undefined, service: string, role: string): string => {
  switch (reason) {
    case "SERVICE_DISABLED":
      return `run \`gcloud services enable ${service}\` for the calling project`
    case "BILLING_DISABLED":
      return "enable billing for the calling project"
    case "USER_PROJECT_DENIED":
      return "give the account roles/serviceusage.serviceUsageConsumer on the quota project, or name another one"
    default:
      return role
  }
}

const networkCodes = new Set(["ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH"])

/**
 * Turns an error of google-auth-library into a `ServiceError`. Its errors contain the request, refresh token included, so
 * only a redacted message is kept of them.
 */
export const authErrorOf = (cause: unknown): ServiceError => {
  const field = (name: string): unknown => (Predicate.isObject(cause) ? Reflect.get(cause, name) : undefined)
  const message = redactText(cause instanceof Error ? cause.message : "no details", [], 300)
  const status = Number(field("status") ?? Number.NaN)
  if (networkCodes.has(String(field("code"))) || status >= 500 || status === 429) {
    return new ServiceError({
      code: "UNAVAILABLE",
      message: `no Google access token: ${message}`,
      fix: "check the network and the proxy settings"
    })
  }
  if (/Could not load the default credentials/.test(message)) {
    return new ServiceError({ code: "UNAUTHENTICATED", message: "no Google credentials were found", reason: noCredentials, fix: loginFix })
  }
  if (/invalid_grant|invalid_rapt|refresh token|reauth/i.test(message)) {
    return new ServiceError({
      code: "UNAUTHENTICATED",
      message: `the Google credentials no longer work: ${message}`,
      fix: "run `gcloud auth application-default login` again"
    })
  }
  return new ServiceError({ code: "UNAUTHENTICATED", message: `the Google credentials cannot be used: ${message}`, fix: loginFix })
}
