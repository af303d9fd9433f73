import { Effect, Predicate, Redacted, Schema } from "effect"
import type { HttpClientRequest, HttpClientResponse } from "effect/http"
import type { SecretError, ServiceError } from "../src/domain/Errors.ts"
import type { SecretVersion } from "../src/domain/Secret.ts"
import { type Caller, callOnce, jsonOf, malformed } from "../src/net/Call.ts"
import { RateLimit } from "../src/net/RateLimit.ts"
import { retry, type RetryOptions } from "../src/net/Retry.ts"
import type { Secrets } from "../src/ports/Secrets.ts"

interface Turns {
  /** Id of the account: all its calls share one rate limit. */
  readonly account: string
  readonly requestsPerMinute: number
  readonly retry: RetryOptions | undefined
}

/** Milliseconds for which an account pauses after a rate limit without a `Retry-After`. */
const restMs = 1000
/** Gives each attempt of a call its turn, and retries it where that helps. A rate limit met by one call pauses all calls of the account. */
export const inTurn = ({ account, requestsPerMinute, retry: options = {} }: Turns) => {
  const { baseMs = restMs, maxRetryAfterMs = 120_000 } = options
  return <A>(attempt: Effect.Effect<A, ServiceError>): Effect.Effect<A, ServiceError> =>
    Effect.gen(function*() {
      const limits = yield* RateLimit
      yield* limits.take(account, requestsPerMinute)
      return yield* Effect.tapError(attempt, (error) => {
        const { retryAfter = baseMs } = error
        // Longer waits are reported to the caller instead of being sat out.
        return isLimit(error) && retryAfter <= maxRetryAfterMs ? limits.pause(account, retryAfter) : Effect.void
      })
    }).pipe(retry(options))
}

const isLimit = ({ code, retryAfter }: ServiceError): boolean =>
  code === "RESOURCE_EXHAUSTED" || (code === "UNAVAILABLE" && retryAfter !== undefined)

interface AccountOptions {
  readonly caller: Caller
  /** Id of the account: all its calls share one rate limit. */
  readonly account: string
  readonly requestsPerMinute: number
  /** What a refusal means, read from its body. */
  readonly errorOf: (what: string, response: HttpClientResponse.HttpClientResponse) => Effect.Effect<ServiceError>
}

/** Calls of one account, retried where that helps. */
interface Account {
  readonly call: (
    what: string,
    request: HttpClientRequest.HttpClientRequest
  ) => Effect.Effect<HttpClientResponse.HttpClientResponse, ServiceError>
  /** {@link Account.call} for JSON; a response that is cut short or does not match `schema` counts as a failed attempt. */
  readonly json: <A>(
    what: string,
    request: HttpClientRequest.HttpClientRequest,
    schema: Schema.Decoder<A>
  ) => Effect.Effect<A, ServiceError>
}

/** An account whose calls share one rate limit, which pauses all of them. */
export const makeAccount = ({ account, caller, errorOf, requestsPerMinute }: AccountOptions): Account => {
  const turn = inTurn({ account, requestsPerMinute, retry: caller.retry })
  const once = (what: string, request: HttpClientRequest.HttpClientRequest) =>
    callOnce(caller, what, request, () => true).pipe(Effect.flatMap((response) =>
      response.status >= 200 && response.status < 300
        ? Effect.succeed(response)
        : Effect.flatMap(errorOf(what, response), (error) => Effect.fail(error))
    ))
  return {
    call: (what, request) => turn(once(what, request)),
    json: (what, request, schema) => {
      const decode = Schema.decodeUnknownEffect(schema)
      return turn(
        once(what, request).pipe(
          Effect.flatMap((response) => jsonOf(what, response)),
          Effect.flatMap((json) => decode(withoutNulls(json)).pipe(Effect.mapError(() => malformed(what, "not of the expected shape"))))
        )
      )
    }
  }
}

/** Google and Microsoft omit fields that do not apply, and sometimes return null for them. */
const withoutNulls = (json: unknown): unknown =>
  Array.isArray(json)
    ? json.map(withoutNulls)
    : Predicate.isObject(json)
    ? Object.fromEntries(Object.entries(json).flatMap(([key, value]) => value === null ? [] : [[key, withoutNulls(value)]]))
    : json

/** A token that may be rotated while it is in use. */
interface RotatingToken {
  readonly token: Effect.Effect<Redacted.Redacted<string>, SecretError>
  /** Runs a call with the token. A refused token is resolved again, and a new one gets one more attempt. */
  readonly use: <A>(
    call: (token: Redacted.Redacted<string>) => Effect.Effect<A, ServiceError>
  ) => Effect.Effect<A, ServiceError | SecretError>
}

/** How long a resolved token is kept, so that a rotated one is picked up. */
const ttl = "5 minutes"

export const rotatingToken = (secrets: Secrets["Service"], version: SecretVersion): Effect.Effect<RotatingToken> =>
  Effect.map(Effect.cachedInvalidateWithTTL(secrets.resolve(version), ttl), ([resolved, forget]) => {
    const token = Effect.tapError(resolved, () => forget)
    return {
      token,
      use: (call) =>
        Effect.flatMap(
          token,
          (first) =>
            Effect.catchIf(call(first), (error) =>
              error.code === "UNAUTHENTICATED", (error) =>
              Effect.andThen(forget, token).pipe(Effect.flatMap((second) =>
                Redacted.value(second) === Redacted.value(first) ? Effect.fail(error) : call(second)
              )))
        )
    }
  })
