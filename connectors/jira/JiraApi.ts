import { Clock, Effect, type Redacted, Schema } from "effect"
import { HttpClientRequest, type HttpClientResponse } from "effect/http"
import { hash } from "node:crypto"
import type { SecretError, ServiceError } from "../../src/domain/Errors.ts"
import type { SecretVersion } from "../../src/domain/Secret.ts"
import { type Caller, callOnce, jsonOf, malformed } from "../../src/net/Call.ts"
import { bodyText, retryAfterOf } from "../../src/net/HttpErrors.ts"
import type { Secrets } from "../../src/ports/Secrets.ts"
import { inTurn } from "../account/InTurn.ts"
import { rotatingToken } from "../account/RotatingToken.ts"
import { ServerInfo } from "./Answers.ts"
import { jiraError } from "./JiraErrors.ts"

export type Failure = ServiceError | SecretError

type Query = Readonly<Record<string, string>>

export interface JiraApi {
  /** The server, without a `/` at the end. */
  readonly base: string
  /** Cloud speaks ADF and pages by token; Server speaks wiki markup and pages by number. */
  readonly cloud: Effect.Effect<boolean, Failure>
  /** Reads `path` below the server; `what` names it in messages. */
  readonly get: <A>(what: string, path: string, query: Query, schema: Schema.Decoder<A>) => Effect.Effect<A, Failure>
  /** The same with a question too long for an address. Changes nothing, so it may be asked twice. */
  readonly ask: <A>(what: string, path: string, body: object, schema: Schema.Decoder<A>) => Effect.Effect<A, Failure>
  /** Ready to download what lies below the server. Credentials go no further when it redirects. */
  readonly fetch: Effect.Effect<
    (path: string, what: string, offset: number) => Effect.Effect<HttpClientResponse.HttpClientResponse, ServiceError>,
    Failure
  >
}

/** No bound of ours: Jira's limits are by cost, and it says when they are met. */
const requestsPerMinute = 60_000

export const jiraApi = Effect.fnUntraced(function*(
  caller: Caller,
  secrets: Secrets["Service"],
  { base, email, token: version }: { readonly base: string; readonly email: string; readonly token: SecretVersion }
): Effect.fn.Return<JiraApi> {
  const { token, use } = yield* rotatingToken(secrets, version)
  /** When Jira says to wait, everything of this account waits. */
  const turn = inTurn({ account: `jira/${hash("sha256", `${base} ${email}`).slice(0, 16)}`, requestsPerMinute, retry: caller.retry })

  const attempt = Effect.fnUntraced(function*(what: string, request: HttpClientRequest.HttpClientRequest, secret: Redacted.Redacted<string>) {
    const response = yield* callOnce(caller, what, HttpClientRequest.basicAuth(request, email, secret), () => true)
    if (response.status >= 200 && response.status < 300) return response
    return yield* jiraError(what, {
      status: response.status,
      body: yield* bodyText(response),
      loginReason: response.headers["x-seraph-loginreason"],
      retryAfter: retryAfterOf(response.headers, yield* Clock.currentTimeMillis)
    })
  })

  const json = <A>(what: string, request: HttpClientRequest.HttpClientRequest, schema: Schema.Decoder<A>): Effect.Effect<A, Failure> => {
    const decode = Schema.decodeUnknownEffect(schema)
    return use((secret) =>
      turn(attempt(what, HttpClientRequest.acceptJson(request), secret).pipe(
        Effect.flatMap((response) => jsonOf(what, response)),
        Effect.flatMap((answer) => Effect.mapError(decode(answer), () => malformed(what, "not of the expected shape")))
      )))
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
      turn(attempt(what, HttpClientRequest.get(`${base}${path}`, {
        headers: { "accept-encoding": "gzip", ...(offset === 0 ? {} : { range: `bytes=${offset}-` }) }
      }), secret)))
  }
})
