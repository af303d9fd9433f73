import { Clock, Effect, Predicate, type Redacted, Schema } from "effect"
import { HttpClientRequest, type HttpClientResponse } from "effect/http"
import { hash } from "node:crypto"
import { codeOfHttp } from "../../src/domain/Codes.ts"
import { type SecretError, ServiceError } from "../../src/domain/Errors.ts"
import type { SecretVersion } from "../../src/domain/Secret.ts"
import { type Caller, callOnce, jsonOf, malformed } from "../../src/net/Call.ts"
import { discard } from "../../src/net/Download.ts"
import { bodyText, retryAfterOf } from "../../src/net/HttpErrors.ts"
import { redactText } from "../../src/domain/Redact.ts"
import type { Secrets } from "../../src/ports/Secrets.ts"
import { inTurn, rotatingToken } from "../Account.ts"

/** Jira omits or nulls fields that do not apply, since fields differ by project. */
const maybe = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

const text = maybe(Schema.String)
const Named = Schema.Struct({ name: Schema.String })
const Keyed = Schema.Struct({ key: Schema.String })
/** Numbers on some servers, strings on most. */
const Id = Schema.Union([Schema.String, Schema.Finite])

export const Person = Schema.Struct({ displayName: text, emailAddress: text, accountId: text, name: text })
export type Person = typeof Person.Type

export const Comment = Schema.Struct({
  id: Schema.String,
  author: maybe(Person),
  /** ADF on Cloud, wiki markup on Server. */
  body: maybe(Schema.Unknown),
  created: text,
  updated: text,
  /** The group or role to which the comment is restricted. */
  visibility: maybe(Schema.Struct({}))
})
export type Comment = typeof Comment.Type

export const Attachment = Schema.Struct({
  id: Schema.String,
  filename: Schema.String,
  size: maybe(Schema.Finite),
  mimeType: text,
  created: text,
  author: maybe(Person)
})
export type Attachment = typeof Attachment.Type

export const Issue = Schema.Struct({
  id: Schema.String,
  key: Schema.String.check(Schema.isPattern(/^[^/\s]+-\d+$/)),
  fields: Schema.Struct({
    summary: text,
    description: maybe(Schema.Unknown),
    project: Schema.Struct({ key: Schema.String, name: text }),
    status: maybe(Named),
    issuetype: maybe(Named),
    priority: maybe(Named),
    resolution: maybe(Named),
    labels: maybe(Schema.Array(Schema.String)),
    components: maybe(Schema.Array(Named)),
    versions: maybe(Schema.Array(Named)),
    fixVersions: maybe(Schema.Array(Named)),
    assignee: maybe(Person),
    reporter: maybe(Person),
    created: text,
    updated: Schema.String,
    duedate: text,
    parent: maybe(Schema.Struct({ key: Schema.String, fields: maybe(Schema.Struct({ summary: text })) })),
    subtasks: maybe(Schema.Array(Keyed)),
    issuelinks: maybe(Schema.Array(Schema.Struct({
      type: maybe(Schema.Struct({ inward: text, outward: text })),
      inwardIssue: maybe(Keyed),
      outwardIssue: maybe(Keyed)
    }))),
    security: maybe(Schema.Struct({ id: Id, name: text })),
    attachment: maybe(Schema.Array(Attachment)),
    comment: maybe(Schema.Struct({ total: maybe(Schema.Finite), comments: maybe(Schema.Array(Comment)) }))
  })
})
export type Issue = typeof Issue.Type

/** An issue with all its fields, and their names and types by their ids. */
export const WholeIssue = Schema.Struct({
  ...Issue.fields,
  fields: Schema.StructWithRest(Issue.fields.fields, [Schema.Record(Schema.String, Schema.Unknown)]),
  names: maybe(Schema.Record(Schema.String, Schema.String)),
  schema: maybe(Schema.Record(Schema.String, Schema.Struct({ custom: text })))
})
export type WholeIssue = typeof WholeIssue.Type

/** The fields that describe an issue. */
export const factFields = [
  "summary",
  "project",
  "status",
  "issuetype",
  "priority",
  "resolution",
  "labels",
  "components",
  "fixVersions",
  "assignee",
  "reporter",
  "created",
  "updated",
  "duedate",
  "parent"
]

/** A page of issues. Cloud pages by token, Server by number. */
export const Found = Schema.Struct({
  issues: Schema.Array(Schema.Unknown),
  nextPageToken: text,
  isLast: maybe(Schema.Boolean),
  total: maybe(Schema.Finite)
})

export const Comments = Schema.Struct({ comments: Schema.Array(Comment), total: Schema.Finite })
const ServerInfo = Schema.Struct({ deploymentType: text })
export const Project = Schema.Struct({ key: Schema.String })

/** The person or group that a permission or a security level is for. */
export const Holder = Schema.Struct({
  type: Schema.String,
  parameter: text,
  user: maybe(Person),
  group: maybe(Named)
})
export type Holder = typeof Holder.Type

export const PermissionScheme = Schema.Struct({
  permissions: maybe(Schema.Array(Schema.Struct({ permission: Schema.String, holder: Holder })))
})
export const LevelMembers = Schema.Struct({
  values: Schema.Array(Schema.Struct({ holder: Holder })),
  isLast: maybe(Schema.Boolean)
})
export const Role = Schema.Struct({
  actors: maybe(Schema.Array(Schema.Struct({
    type: text,
    name: text,
    actorUser: maybe(Person),
    actorGroup: maybe(Named)
  })))
})

/** The error of an unsuccessful response: Jira's own message (`errorMessages`, `errors`) and the fix. */
const jiraError = (what: string, answer: {
  readonly status: number
  readonly body: string
  /** The header `X-Seraph-LoginReason`: why a login was refused. */
  readonly loginReason?: string | undefined
  readonly retryAfter?: number | undefined
}): ServiceError => {
  const { body, loginReason, retryAfter, status } = answer
  const said = wordsOf(body)
  return new ServiceError({
    code: status === 410 ? "NOT_FOUND" : codeOfHttp(status),
    message: `${what} answered ${status}${said === "" ? "" : `: ${said}`}`,
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...fixOf(status, loginReason)
  })
}

/** Whether a login was refused. Jira then answers as to anyone, often with status 200: with fewer issues, or none. */
const isNobody = (loginReason = ""): boolean => /FAILED|DENIED/i.test(loginReason) && !/\bOK\b/i.test(loginReason)

const fixOf = (status: number, loginReason: string | undefined): { readonly fix?: string } => {
  const fix = /AUTHENTICATION_DENIED/i.test(loginReason ?? "")
    ? "Jira wants a CAPTCHA after failed logins: log in once in a browser with that account"
    : fixOfStatus(status)
  return fix === undefined ? {} : { fix }
}

const fixOfStatus = (status: number): string | undefined => {
  switch (status) {
    case 400:
      return "correct the query; try it in Jira's own search"
    case 401:
      return "check the e-mail address, and store a new API token of that account as a version of the secret"
    case 403:
      return "let the account browse the project, or use one that may"
    case 404:
      return "correct the server or the project's key; what the account may not see looks the same as what is not there"
    default:
      return undefined
  }
}

/** The messages in `{"errorMessages": [], "errors": {}}` or `{"message": ""}`; "" for error pages of proxies. */
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

export type Failure = ServiceError | SecretError

type Query = Readonly<Record<string, string>>

export interface JiraApi {
  /** The server's address, without a `/` at the end. */
  readonly base: string
  /** Whether the server is Jira Cloud, which has ADF and pages by token; Server has wiki markup and pages by number. */
  readonly cloud: Effect.Effect<boolean, Failure>
  /** Reads `path` below the server; `what` names the call in messages. */
  readonly get: <A>(what: string, path: string, query: Query, schema: Schema.Decoder<A>) => Effect.Effect<A, Failure>
  /** Sends a query that is too long for an address. It changes nothing, so it may be retried. */
  readonly ask: <A>(what: string, path: string, body: object, schema: Schema.Decoder<A>) => Effect.Effect<A, Failure>
  /** Prepares downloads from below the server. Credentials are not sent on when it redirects. */
  readonly fetch: Effect.Effect<
    (path: string, what: string, offset: number) => Effect.Effect<HttpClientResponse.HttpClientResponse, ServiceError>,
    Failure
  >
}

/** Requests per minute, in effect without a limit: Jira's limits are by cost, and it reports when they are reached. */
const requestsPerMinute = 60_000

export const jiraApi = Effect.fnUntraced(function*(
  caller: Caller,
  secrets: Secrets["Service"],
  { base, email, token: version }: { readonly base: string; readonly email: string; readonly token: SecretVersion }
): Effect.fn.Return<JiraApi> {
  const { token, use } = yield* rotatingToken(secrets, version)
  /** When Jira asks to wait, all calls of this account wait. */
  const turn = inTurn({ account: `jira/${hash("sha256", `${base} ${email}`).slice(0, 16)}`, requestsPerMinute, retry: caller.retry })

  const attempt = Effect.fnUntraced(
    function*(what: string, request: HttpClientRequest.HttpClientRequest, secret: Redacted.Redacted<string>) {
      const response = yield* callOnce(caller, what, HttpClientRequest.basicAuth(request, email, secret), () => true)
      const loginReason = response.headers["x-seraph-loginreason"]
      const isSuccess = response.status >= 200 && response.status < 300
      if (isSuccess && isNobody(loginReason)) {
        yield* discard(response)
        return yield* new ServiceError({
          code: "UNAUTHENTICATED",
          message: `${what} was answered as for nobody: the login failed`,
          ...fixOf(401, loginReason)
        })
      }
      if (isSuccess) return response
      return yield* jiraError(what, {
        status: response.status,
        body: yield* bodyText(response),
        loginReason,
        retryAfter: retryAfterOf(response.headers, yield* Clock.currentTimeMillis)
      })
    }
  )

  const json = <A>(what: string, request: HttpClientRequest.HttpClientRequest, schema: Schema.Decoder<A>): Effect.Effect<A, Failure> => {
    const decode = Schema.decodeUnknownEffect(schema)
    return use((secret) =>
      turn(
        attempt(what, HttpClientRequest.acceptJson(request), secret).pipe(
          Effect.flatMap((response) => jsonOf(what, response)),
          Effect.flatMap((answer) => Effect.mapError(decode(answer), () => malformed(what, "not of the expected shape")))
        )
      )
    )
  }

  const get: JiraApi["get"] = (what, path, query, schema) =>
    json(what, HttpClientRequest.get(`${base}${path}`, { urlParams: query }), schema)

  const [cloud, forgetCloud] = yield* Effect.cachedInvalidateWithTTL(
    Effect.map(get(base, "/rest/api/2/serverInfo", {}, ServerInfo), ({ deploymentType }) => deploymentType === "Cloud"),
    "1 hour"
  )

  return {
    base,
    cloud: Effect.tapError(cloud, () => forgetCloud),
    get,
    ask: (what, path, body, schema) => json(what, HttpClientRequest.bodyJsonUnsafe(HttpClientRequest.post(`${base}${path}`), body), schema),
    fetch: Effect.map(token, (secret) => (path, what, offset) =>
      turn(attempt(
        what,
        HttpClientRequest.get(`${base}${path}`, {
          headers: { "accept-encoding": "gzip", ...(offset === 0 ? {} : { range: `bytes=${offset}-` }) }
        }),
        secret
      )))
  }
})
