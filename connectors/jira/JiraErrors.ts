import { Predicate } from "effect"
import { ServiceError } from "../../src/domain/Errors.ts"
import { codeOfHttp } from "../../src/domain/Codes.ts"
import { redactText } from "../../src/net/Redact.ts"

/** What an answer that is no success says: Jira's own words (`errorMessages`, `errors`) and what to do. */
export const jiraError = (what: string, answer: {
  readonly status: number
  readonly body: string
  /** `X-Seraph-LoginReason`: why a login was refused. */
  readonly loginReason?: string | undefined
  readonly retryAfter?: number | undefined
}): ServiceError => {
  const { body, loginReason, retryAfter, status } = answer
  const said = wordsOf(body)
  const fix = fixOf(status, loginReason)
  return new ServiceError({
    code: status === 410 ? "NOT_FOUND" : codeOfHttp(status),
    message: `${what} answered ${status}${said === "" ? "" : `: ${said}`}`,
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(fix === undefined ? {} : { fix })
  })
}

const fixOf = (status: number, loginReason: string | undefined): string | undefined => {
  if (/AUTHENTICATION_DENIED/i.test(loginReason ?? "")) {
    return "Jira wants a CAPTCHA after failed logins: log in once in a browser with that account."
  }
  switch (status) {
    case 400:
      return "Correct the query; try it in Jira's own search."
    case 401:
      return "Check the e-mail address, and store a new API token of that account as a version of the secret."
    case 403:
      return "Let the account browse the project, or use one that may."
    case 404:
      return "Correct the server or the project's key; what the account may not see looks the same as what is not there."
    default:
      return undefined
  }
}

/** Of `{"errorMessages": [], "errors": {}}` and `{"message": ""}`; pages of proxies say nothing. */
const wordsOf = (body: string): string => {
  let json: unknown
  try {
    json = JSON.parse(body)
  } catch {
    return ""
  }
  if (!Predicate.isObject(json)) return ""
  const messages: unknown = Reflect.get(json, "errorMessages")
  const errors: unknown = Reflect.get(json, "errors")
  const words = [
    ...(Array.isArray(messages) ? messages : []),
    ...(Predicate.isObject(errors) ? Object.entries(errors).map(([field, text]) => `${field}: ${String(text)}`) : []),
    Reflect.get(json, "message")
  ]
  return redactText(words.filter(Predicate.isString).join(" "))
}
