import { Effect, Predicate, Redacted, Schema } from "effect"
import { HttpClientRequest, type HttpClientResponse } from "effect/http"
import { hash } from "node:crypto"
import type { SecretError, ServiceError } from "../../src/domain/Errors.ts"
import type { SecretVersion } from "../../src/domain/Secret.ts"
import { type Caller, callOnce, jsonOf, malformed } from "../../src/net/Call.ts"
import type { Secrets } from "../../src/ports/Secrets.ts"
import { inTurn } from "../account/InTurn.ts"
import { rotatingToken } from "../account/RotatingToken.ts"
import { slackError } from "./SlackErrors.ts"

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

/** No bound of ours: Slack's limits differ by method and app, and it says when they are met. */
const requestsPerMinute = 60_000
const defaultUrl = "https://slack.com/api"

export const slackApi = Effect.fnUntraced(function*(
  caller: Caller,
  secrets: Secrets["Service"],
  version: SecretVersion,
  url = defaultUrl
): Effect.fn.Return<SlackApi> {
  const base = url.replace(/\/+$/, "")
  const origin = new URL(base).origin
  const { token, use } = yield* rotatingToken(secrets, version)
  /** When Slack says to wait, everything with this token waits. */
  const turnOf = (token: Redacted.Redacted<string>) =>
    inTurn({ account: `slack/${hash("sha256", Redacted.value(token)).slice(0, 16)}`, requestsPerMinute, retry: caller.retry })

  return {
    call: (method, about, query, schema) => {
      const what = about === "" ? method : `${method} of ${about}`
      const decode = Schema.decodeUnknownEffect(schema)
      const params = Object.entries(query).flatMap(([name, value]) => value === undefined ? [] : [[name, value] as const])
      const request = HttpClientRequest.get(`${base}/${method}`, { urlParams: params, headers: { accept: "application/json" } })
      return use((token) =>
        turnOf(token)(callOnce(caller, what, HttpClientRequest.bearerToken(request, token)).pipe(
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
      turnOf(token)(callOnce(caller, what, HttpClientRequest.get(address, {
        headers: { "accept-encoding": "gzip", ...(offset === 0 ? {} : { range: `bytes=${offset}-` }) }
      }).pipe(HttpClientRequest.bearerToken(token)))))
  }
})
