import { Effect, Predicate, Redacted, Schema } from "effect"
import { HttpClientRequest, type HttpClientResponse } from "effect/http"
import { hash } from "node:crypto"
import type { SecretError, ServiceError } from "../../src/domain/Errors.ts"
import type { SecretVersion } from "../../src/domain/Secret.ts"
import { type Caller, callOnce, jsonOf, malformed } from "../../src/net/Call.ts"
import { RateLimit } from "../../src/net/RateLimit.ts"
import { retry } from "../../src/net/Retry.ts"
import type { Secrets } from "../../src/ports/Secrets.ts"
import { slackError } from "./slackErrors.ts"

export type Failure = ServiceError | SecretError

type Query = Readonly<Record<string, string | undefined>>

export interface SlackApi {
  /** Calls a method that reads; `what` names its object in messages: "C012AB3CD". */
  readonly call: <A>(method: string, what: string, query: Query, schema: Schema.Decoder<A>) => Effect.Effect<A, Failure>
  /** Whether an address is Slack's, and so may be sent the token. */
  readonly owns: (url: string) => boolean
  /** Ready to fetch what lies at addresses that {@link owns} takes. */
  readonly fetch: Effect.Effect<
    (url: string, what: string, offset: number) => Effect.Effect<HttpClientResponse.HttpClientResponse, ServiceError>,
    Failure
  >
}

/** How long a resolved token is kept, so that a rotated one is taken up. */
const tokenTtl = "5 minutes"
/** No bound of ours: Slack's limits differ by method and app, and it says when they are met. */
const perMinute = 60_000
const defaultUrl = "https://slack.com/api"

export const slackApi = Effect.fnUntraced(function*(
  caller: Caller,
  secrets: Secrets["Service"],
  version: SecretVersion,
  url = defaultUrl
): Effect.fn.Return<SlackApi> {
  const base = url.replace(/\/+$/, "")
  const origin = new URL(base).origin
  const limits = yield* RateLimit
  const [resolved, forget] = yield* Effect.cachedInvalidateWithTTL(secrets.resolve(version), tokenTtl)
  const token = Effect.tapError(resolved, () => forget)

  /** Uses the token; one that was refused is resolved again, and a new one gets one more try. */
  const withToken = <A>(use: (token: Redacted.Redacted<string>) => Effect.Effect<A, ServiceError>): Effect.Effect<A, Failure> =>
    Effect.flatMap(token, (first) =>
      Effect.catchIf(use(first), (error) => error.code === "UNAUTHENTICATED", (error) =>
        Effect.andThen(forget, token).pipe(Effect.flatMap((second) =>
          Redacted.value(second) === Redacted.value(first) ? Effect.fail(error) : use(second)))))

  /** A turn for one attempt; when Slack says to wait, everything with this token waits. */
  const inTurn = <A>(token: Redacted.Redacted<string>, attempt: Effect.Effect<A, ServiceError>): Effect.Effect<A, ServiceError> => {
    const bucket = `slack/${hash("sha256", Redacted.value(token)).slice(0, 16)}`
    const { maxRetryAfterMs = 120_000 } = caller.retry ?? {}
    return limits.take(bucket, perMinute).pipe(
      Effect.andThen(attempt),
      Effect.tapError(({ code, retryAfter = 0 }) =>
        code === "RESOURCE_EXHAUSTED" && retryAfter <= maxRetryAfterMs ? limits.pause(bucket, retryAfter) : Effect.void),
      retry(caller.retry)
    )
  }

  return {
    call: (method, about, query, schema) => {
      const what = about === "" ? method : `${method} of ${about}`
      const decode = Schema.decodeUnknownEffect(schema)
      const params = Object.entries(query).flatMap(([name, value]) => value === undefined ? [] : [[name, value] as const])
      const request = HttpClientRequest.get(`${base}/${method}`, { urlParams: params, headers: { accept: "application/json" } })
      return withToken((token) =>
        inTurn(token, callOnce(caller, what, HttpClientRequest.bearerToken(request, token)).pipe(
          Effect.flatMap((response) => jsonOf(what, response)),
          Effect.flatMap((json) =>
            !Predicate.isObject(json) || !("ok" in json)
              ? Effect.fail(malformed(what, "not Slack's"))
              : json.ok === true
              ? Effect.mapError(decode(json), () => malformed(what, "not of the expected shape"))
              : Effect.fail(slackError(what, json))
          )
        )))
    },
    owns: (address) => {
      const parsed = URL.parse(address)
      return parsed !== null && (parsed.origin === origin ||
        (parsed.protocol === "https:" && parsed.port === "" && /(?:^|\.)slack(?:-gov)?\.com$/.test(parsed.hostname)))
    },
    fetch: Effect.map(token, (token) => (address, what, offset) =>
      inTurn(token, callOnce(caller, what, HttpClientRequest.get(address, {
        headers: { "accept-encoding": "gzip", ...(offset === 0 ? {} : { range: `bytes=${offset}-` }) }
      }).pipe(HttpClientRequest.bearerToken(token)))))
  }
})
