import { Predicate } from "effect"
import { type Code, ServiceError } from "../../src/domain/Errors.ts"
import { redactText } from "../../src/net/Redact.ts"

interface Meaning {
  readonly code: Code
  readonly fix?: string
}

const badToken: Meaning = {
  code: "UNAUTHENTICATED",
  fix: "Install the app in the workspace again and store its new token as a version of the secret."
}
const hidden: Meaning = {
  code: "PERMISSION_DENIED",
  fix: "Ask an administrator of the workspace to let the app in."
}
const later: Meaning = { code: "UNAVAILABLE" }

/** Slack's error words; the others are `FAILED_PRECONDITION`. */
const meanings: Readonly<Record<string, Meaning>> = {
  invalid_auth: badToken,
  not_authed: badToken,
  account_inactive: badToken,
  token_revoked: badToken,
  token_expired: badToken,
  not_allowed_token_type: { code: "PERMISSION_DENIED", fix: "Use a bot or user token of the app, xoxb- or xoxp-." },
  not_in_channel: { code: "PERMISSION_DENIED", fix: "Invite the app to the channel: /invite @the-app." },
  channel_not_found: {
    code: "NOT_FOUND",
    fix: "Correct the channel's id; a private channel is seen only after the app was invited to it."
  },
  thread_not_found: { code: "NOT_FOUND" },
  file_not_found: { code: "NOT_FOUND" },
  file_deleted: { code: "NOT_FOUND" },
  user_not_found: { code: "NOT_FOUND" },
  access_denied: hidden,
  ekm_access_denied: hidden,
  enterprise_is_restricted: hidden,
  no_permission: hidden,
  org_login_required: hidden,
  team_access_not_granted: hidden,
  ratelimited: { code: "RESOURCE_EXHAUSTED" },
  rate_limited: { code: "RESOURCE_EXHAUSTED" },
  fatal_error: later,
  internal_error: later,
  request_timeout: later,
  service_unavailable: later,
  invalid_cursor: { code: "INVALID_ARGUMENT" }
}

/** What `{"ok": false, "error": …}` says. `what` names the call: "conversations.history of C012AB3CD". */
export const slackError = (what: string, answer: object): ServiceError => {
  const said = "error" in answer && typeof answer.error === "string" ? answer.error : "unknown_error"
  const reason = redactText(said, [], 100)
  const needed = "needed" in answer && Predicate.isString(answer.needed) ? redactText(answer.needed, [], 200) : undefined
  if (said === "missing_scope") {
    return new ServiceError({
      code: "PERMISSION_DENIED",
      reason,
      message: `${what} needs a scope that the token lacks${needed === undefined ? "" : `: ${needed}`}`,
      fix: `Add ${needed === undefined ? "the scope" : `one of the scopes ${needed}`} to the app and install it again.`
    })
  }
  const { code, fix } = meanings[said] ?? { code: "FAILED_PRECONDITION" as const }
  return new ServiceError({ code, reason, message: `${what} failed: ${reason}`, ...(fix === undefined ? {} : { fix }) })
}
