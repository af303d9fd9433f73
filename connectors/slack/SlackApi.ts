import { Effect, Predicate, Redacted, Schema } from "effect"
import { HttpClientRequest, type HttpClientResponse } from "effect/http"
import { hash } from "node:crypto"
import { type Code, type SecretError, ServiceError } from "../../src/domain/Errors.ts"
import type { SecretVersion } from "../../src/domain/Secret.ts"
import { slackAddress } from "../../src/domain/sources/BuiltInSources.ts"
import { type Caller, callOnce, jsonOf, malformed } from "../../src/net/Call.ts"
import { redactText } from "../../src/domain/Redact.ts"
import type { Secrets } from "../../src/ports/Secrets.ts"
import { inTurn, rotatingToken } from "../Account.ts"

/** Slack omits, and sometimes nulls, fields that do not apply. */
const maybe = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

const text = maybe(Schema.String)
const Timestamp = Schema.String.check(Schema.isPattern(/^\d{1,11}\.\d{1,6}$/))
const paging = { response_metadata: maybe(Schema.Struct({ next_cursor: text })) }

export const File = Schema.Struct({
  id: Schema.String,
  name: text,
  title: text,
  mimetype: text,
  filetype: text,
  /** `hosted`, `snippet`, `external`, `tombstone`, `hidden_by_limit`, … */
  mode: text,
  is_external: maybe(Schema.Boolean),
  /** `check_file_info`: only its id is known, as for files of other workspaces. */
  file_access: text,
  size: maybe(Schema.Finite),
  created: maybe(Schema.Finite),
  timestamp: maybe(Schema.Finite),
  updated: maybe(Schema.Finite),
  user: text,
  permalink: text,
  url_private: text,
  url_private_download: text
})
export type File = typeof File.Type

/** What apps and link previews add to a message. */
export const Attachment = Schema.Struct({
  pretext: text,
  author_name: text,
  title: text,
  title_link: text,
  text,
  fallback: text,
  fields: maybe(Schema.Array(Schema.Struct({ title: text, value: text }))),
  blocks: maybe(Schema.Array(Schema.Unknown)),
  /** Files of a message that was shared. */
  files: maybe(Schema.Array(File))
})
export type Attachment = typeof Attachment.Type

export const Message = Schema.Struct({
  ts: Timestamp,
  subtype: text,
  hidden: maybe(Schema.Boolean),
  user: text,
  bot_id: text,
  username: text,
  bot_profile: maybe(Schema.Struct({ name: text })),
  text,
  thread_ts: maybe(Timestamp),
  reply_count: maybe(Schema.Finite),
  edited: maybe(Schema.Struct({ ts: text })),
  attachments: maybe(Schema.Array(Attachment)),
  blocks: maybe(Schema.Array(Schema.Unknown)),
  files: maybe(Schema.Array(File))
})
export type Message = typeof Message.Type

export const Messages = Schema.Struct({
  /** The rest is decoded for each: a message in a form that is not known costs only itself. */
  messages: Schema.Array(Schema.StructWithRest(Schema.Struct({ ts: Timestamp }), [Schema.Record(Schema.String, Schema.Unknown)])),
  has_more: maybe(Schema.Boolean),
  /** Whether the workspace's plan hides the channel's older messages. */
  is_limited: maybe(Schema.Boolean),
  ...paging
})

const Profile = Schema.Struct({ display_name: text, real_name: text, email: text })

export const User = Schema.Struct({ id: Schema.String, name: text, real_name: text, profile: maybe(Profile) })
export type User = typeof User.Type

export const UserInfo = Schema.Struct({ user: User })
export const UserList = Schema.Struct({ members: Schema.Array(User), ...paging })

export const GroupList = Schema.Struct({
  usergroups: Schema.Array(Schema.Struct({ id: Schema.String, handle: text, name: text }))
})

export const ChannelInfo = Schema.Struct({
  channel: Schema.Struct({
    id: Schema.String,
    name: text,
    is_private: maybe(Schema.Boolean),
    is_im: maybe(Schema.Boolean),
    is_mpim: maybe(Schema.Boolean)
  })
})

export const MemberList = Schema.Struct({ members: Schema.Array(Schema.String), ...paging })
export const FileInfo = Schema.Struct({ file: File })
export const AuthTest = Schema.Struct({ url: Schema.String, team_id: Schema.String })

interface Meaning {
  readonly code: Code
  readonly fix?: string
}

const badToken: Meaning = {
  code: "UNAUTHENTICATED",
  fix: "install the app in the workspace again and store its new token as a version of the secret"
}
const hidden: Meaning = {
  code: "PERMISSION_DENIED",
  fix: "ask an administrator of the workspace to let the app in"
}
const later: Meaning = { code: "UNAVAILABLE" }

/** The meaning of Slack's error codes; any other is `FAILED_PRECONDITION`. */
const meanings: Readonly<Record<string, Meaning>> = {
  invalid_auth: badToken,
  not_authed: badToken,
  account_inactive: badToken,
  token_revoked: badToken,
  token_expired: badToken,
  not_allowed_token_type: { code: "PERMISSION_DENIED", fix: "use a bot or user token of the app, xoxb- or xoxp-" },
  not_in_channel: { code: "PERMISSION_DENIED", fix: "invite the app to the channel: /invite @the-app" },
  channel_not_found: {
    code: "NOT_FOUND",
    fix: "correct the channel's id; a private channel is seen only after the app was invited to it"
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

/** The error in `{"ok": false, "error": …}`. `what` names the call: "conversations.history of C012AB3CD". */
const slackError = (what: string, answer: object): ServiceError => {
  const said = "error" in answer && typeof answer.error === "string" ? answer.error : "unknown_error"
  const reason = redactText(said, [], 100)
  const needed = "needed" in answer && Predicate.isString(answer.needed) ? redactText(answer.needed, [], 200) : undefined
  if (said === "missing_scope") {
    return new ServiceError({
      code: "PERMISSION_DENIED",
      reason,
      message: `${what} needs a scope that the token lacks${needed === undefined ? "" : `: ${needed}`}`,
      fix: `add ${needed === undefined ? "the scope" : `one of the scopes ${needed}`} to the app and install it again`
    })
  }
  const { code, fix } = meanings[said] ?? { code: "FAILED_PRECONDITION" as const }
  return new ServiceError({ code, reason, message: `${what} failed: ${reason}`, ...(fix === undefined ? {} : { fix }) })
}

export type Failure = ServiceError | SecretError

type Query = Readonly<Record<string, string | undefined>>

export interface SlackApi {
  /** Calls a method that only reads; `what` names its object in messages: "C012AB3CD". */
  readonly call: <A>(method: string, what: string, query: Query, schema: Schema.Decoder<A>) => Effect.Effect<A, Failure>
  /** Whether an address is Slack's own, so that the token may be sent to it. */
  readonly owns: (url: string) => boolean
  /** Prepares downloads from addresses that {@link owns} accepts. */
  readonly fetch: Effect.Effect<
    (url: string, what: string, offset: number) => Effect.Effect<HttpClientResponse.HttpClientResponse, ServiceError>,
    Failure
  >
}

/** Requests per minute, in effect without a limit: Slack's limits differ by method and app, and it reports when they are reached. */
const requestsPerMinute = 60_000

export const slackApi = Effect.fnUntraced(function*(
  caller: Caller,
  secrets: Secrets["Service"],
  version: SecretVersion,
  url = slackAddress
): Effect.fn.Return<SlackApi> {
  const base = url.replace(/\/+$/, "")
  const origin = new URL(base).origin
  const { token, use } = yield* rotatingToken(secrets, version)
  /** When Slack asks to wait, all calls with this token wait. */
  const turnOf = (token: Redacted.Redacted<string>) =>
    inTurn({ account: `slack/${hash("sha256", Redacted.value(token)).slice(0, 16)}`, requestsPerMinute, retry: caller.retry })

  return {
    call: (method, about, query, schema) => {
      const what = about === "" ? method : `${method} of ${about}`
      const decode = Schema.decodeUnknownEffect(schema)
      const params = Object.entries(query).flatMap(([name, value]) => value === undefined ? [] : [[name, value] as const])
      const request = HttpClientRequest.get(`${base}/${method}`, { urlParams: params, headers: { accept: "application/json" } })
      return use((token) =>
        turnOf(token)(
          callOnce(caller, what, HttpClientRequest.bearerToken(request, token)).pipe(
            Effect.flatMap((response) => jsonOf(what, response)),
            Effect.flatMap((json) =>
              !Predicate.isObject(json) || !("ok" in json)
                ? Effect.fail(malformed(what, "not Slack's"))
                : json.ok === true
                ? Effect.mapError(decode(json), () => malformed(what, "not of the expected shape"))
                : Effect.fail(slackError(what, json))
            )
          )
        )
      )
    },
    owns: (address) => {
      const parsed = URL.parse(address)
      return parsed !== null && (parsed.origin === origin ||
        (parsed.protocol === "https:" && parsed.port === "" && /(?:^|\.)slack(?:-gov)?\.com$/.test(parsed.hostname)))
    },
    fetch: Effect.map(token, (token) => (address, what, offset) =>
      turnOf(token)(callOnce(
        caller,
        what,
        HttpClientRequest.get(address, {
          headers: { "accept-encoding": "gzip", ...(offset === 0 ? {} : { range: `bytes=${offset}-` }) }
        }).pipe(HttpClientRequest.bearerToken(token))
      )))
  }
})
