import { Clock, Effect, Redacted, Schema, Semaphore } from "effect"
import { HttpClientRequest } from "effect/http"
import { ServiceError } from "../../src/domain/Errors.ts"
import { type Caller, callOnce, jsonOf, malformed } from "../../src/net/Call.ts"
import { GoogleAuth } from "../../src/net/GoogleAuth.ts"
import { retry } from "../../src/net/Retry.ts"
import type { SharePointConfig, SharePointContext } from "./SharePointConfig.ts"
import { loginError } from "./GraphErrors.ts"

/** A token with less than this left is replaced before it is used, in milliseconds. */
const spareMs = 5 * 60_000

const Answer = Schema.Struct({ access_token: Schema.String, expires_in: Schema.Union([Schema.Finite, Schema.FiniteFromString]) })
const decode = Schema.decodeUnknownEffect(Answer)

/**
 * Tokens of an app (client credentials), in the shape that `sendAuthorized` takes: cached, replaced ahead of their
 * end by one request for all who wait, and once more when Graph refuses one.
 */
export const graphAuth = (
  caller: Caller,
  config: SharePointConfig,
  { secrets }: SharePointContext,
  graphOrigin: string
): GoogleAuth["Service"] => {
  const one = Semaphore.makeUnsafe(1)
  let held: { readonly token: Redacted.Redacted<string>; readonly until: number } | undefined
  const login = (config.loginEndpoint ?? "https://login.microsoftonline.com").replace(/\/+$/, "")
  const what = `the sign-in of app ${config.clientId}`

  const attempt = Effect.gen(function*() {
    // Resolved each time, so that a rotated secret is taken up.
    const secret = yield* secrets.resolve(config.clientSecret).pipe(
      Effect.mapError(({ fix, message }) => new ServiceError({ code: "UNAUTHENTICATED", message, fix }))
    )
    const request = HttpClientRequest.post(`${login}/${encodeURIComponent(config.tenantId)}/oauth2/v2.0/token`).pipe(
      HttpClientRequest.bodyUrlParams({
        grant_type: "client_credentials",
        client_id: config.clientId,
        client_secret: Redacted.value(secret),
        scope: `${graphOrigin}/.default`
      })
    )
    const response = yield* callOnce(caller, what, request, () => true)
    if (response.status !== 200) return yield* yield* loginError(what, response, secret)
    const answer = yield* decode(yield* jsonOf(what, response)).pipe(Effect.mapError(() => malformed(what, "no token")))
    const now = yield* Clock.currentTimeMillis
    // Tokens that live shorter than the spare are used for half their life.
    const life = answer.expires_in * 1000
    held = { token: Redacted.make(answer.access_token, { label: "access token" }), until: now + Math.max(life - spareMs, life / 2) }
    return held.token
  }).pipe(retry(caller.retry))

  return {
    ...GoogleAuth.anonymous,
    token: one.withPermits(1)(Effect.flatMap(Clock.currentTimeMillis, (now) =>
      held !== undefined && held.until > now ? Effect.succeed(held.token) : attempt)),
    reject: (bad) =>
      Effect.sync(() => {
        if (held?.token === bad) held = undefined
      })
  }
}
