import { Clock, Context, Duration, Effect, Layer, Schema } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import type { ServiceError } from "../domain/Errors.ts"
import { callJson } from "./Call.ts"
import * as Http from "./Http.ts"

/** Address of the certificates that Google signs its tokens with. */
const googleCertificates = "https://www.googleapis.com/oauth2/v1/certs"
const googleIssuers = ["accounts.google.com", "https://accounts.google.com"]

/** How long certificates are cached: Google publishes one days before it signs with it. */
const keepFor = Duration.hours(1)

/** How often an unknown key is looked up at most, whoever sends it, in milliseconds. */
const lookAgain = 60_000

const Certificates = Schema.Record(Schema.String, Schema.String)

/**
 * Makes a function that verifies identity tokens of Google: it returns the verified e-mail address of a token that Google
 * has signed for the audience and that has not expired, and undefined for any other. A token is never in an error.
 *
 * @param certificates address of the certificates, by the ids of their keys. Default: Google's own
 */
export const googleIdentity = Effect.fnUntraced(function*(certificates = googleCertificates) {
  const http = Context.get(yield* Layer.build(Http.layer()), HttpClient.HttpClient)
  let fetched = -Infinity
  const fetching = Effect.gen(function*() {
    fetched = yield* Clock.currentTimeMillis
    return yield* callJson(
      { http, timeoutMs: 10_000, retry: { times: 2 } },
      "Google's certificates",
      HttpClientRequest.get(certificates),
      Certificates
    )
  })
  const [known, forget] = yield* Effect.cachedInvalidateWithTTL(fetching, keepFor)
  return Effect.fnUntraced(function*(token: string, audience: string): Effect.fn.Return<string | undefined, ServiceError> {
    const key = keyOf(token)
    if (key === undefined) return undefined
    if (!Object.hasOwn(yield* known, key) && (yield* Clock.currentTimeMillis) - fetched > lookAgain) yield* forget
    const certs = yield* known
    if (!Object.hasOwn(certs, key)) return undefined
    const { OAuth2Client } = yield* Effect.promise(() => import("google-auth-library"))
    const payload = yield* Effect.tryPromise(async () =>
      (await new OAuth2Client().verifySignedJwtWithCertsAsync(token, certs, audience, googleIssuers)).getPayload()
    ).pipe(Effect.orElseSucceed(() => undefined))
    return payload?.email_verified === true ? payload.email : undefined
  })
})

const Header = Schema.fromJsonString(Schema.Struct({ kid: Schema.String }))

const keyOf = (token: string): string | undefined => {
  const decoded = Schema.decodeUnknownOption(Header)(Buffer.from(token.split(".", 1)[0] ?? "", "base64url").toString())
  return decoded._tag === "Some" ? decoded.value.kid : undefined
}
