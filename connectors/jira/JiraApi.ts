import { Clock, Effect, Redacted, Schema } from "effect"
import { HttpClientRequest, type HttpClientResponse } from "effect/http"
import { hash } from "node:crypto"
import type { SecretError, ServiceError } from "../../src/domain/Errors.ts"
import type { SecretVersion } from "../../src/domain/Secret.ts"
import { type Caller, callOnce, jsonOf, malformed } from "../../src/net/Call.ts"
import { bodyText, retryAfterOf } from "../../src/net/HttpErrors.ts"
import { RateLimit } from "../../src/net/RateLimit.ts"
import { retry } from "../../src/net/Retry.ts"
import type { Secrets } from "../../src/ports/Secrets.ts"
import { ServerInfo } from "./answers.ts"
import { jiraError } from "./jiraErrors.ts"

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

/** How long a resolved token is kept, so that a rotated one is taken up. */
const tokenTtl = "5 minutes"
/** No bound of ours: Jira's limits are by cost, and it says when they are met. */
const perMinute = 60_000

export const jiraApi = Effect.fnUntraced(function*(
  caller: Caller,
  secrets: Secrets["Service"],
  { base, email, token: version }: { readonly base: string; readonly email: string; readonly token: SecretVersion }
): Effect.fn.Return<JiraApi> {
  const limits = yield* RateLimit
  const bucket = `jira/${hash("sha256", `${base} ${email}`).slice(0, 16)}`
  const { maxRetryAfterMs = 120_000 } = caller.retry ?? {}
  const [resolved, forget] = yield* Effect.cachedInvalidateWithTTL(secrets.resolve(version), tokenTtl)
  const token = Effect.tapError(resolved, () => forget)

  /** Uses the token; one that was refused is resolved again, and a new one gets one more try. */
  const withToken = <A>(use: (token: Redacted.Redacted<string>) => Effect.Effect<A, ServiceError>): Effect.Effect<A, Failure> =>
    Effect.flatMap(token, (first) =>
      Effect.catchIf(use(first), (error) => error.code === "UNAUTHENTICATED", (error) =>
        Effect.andThen(forget, token).pipe(Effect.flatMap((second) =>
          Redacted.value(second) === Redacted.value(first) ? Effect.fail(error) : use(second)))))

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

  /** A turn for one attempt; when Jira says to wait, everything of this account waits. */
  const inTurn = <A>(effect: Effect.Effect<A, ServiceError>): Effect.Effect<A, ServiceError> =>
    limits.take(bucket, perMinute).pipe(
      Effect.andThen(effect),
      Effect.tapError(({ code, retryAfter = 0 }) =>
        code === "RESOURCE_EXHAUSTED" && retryAfter <= maxRetryAfterMs ? limits.pause(bucket, retryAfter) : Effect.void),
      retry(caller.retry)
    )

  const json = <A>(what: string, request: HttpClientRequest.HttpClientRequest, schema: Schema.Decoder<A>): Effect.Effect<A, Failure> => {
    const decode = Schema.decodeUnknownEffect(schema)
    return withToken((secret) =>
      inTurn(attempt(what, HttpClientRequest.acceptJson(request), secret).pipe(
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
      inTurn(attempt(what, HttpClientRequest.get(`${base}${path}`, {
        headers: { "accept-encoding": "gzip", ...(offset === 0 ? {} : { range: `bytes=${offset}-` }) }
      }), secret)))
  }
})
