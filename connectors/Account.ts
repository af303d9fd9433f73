import { Effect, Predicate, Redacted, Schema } from "effect"
import type { HttpClientRequest, HttpClientResponse } from "effect/http"
import type { SecretError, ServiceError } from "../src/domain/Errors.ts"
import type { SecretVersion } from "../src/domain/Secret.ts"
import { type Caller, callOnce, jsonOf, malformed } from "../src/net/Call.ts"
import { RateLimit } from "../src/net/RateLimit.ts"
import { retry, type RetryOptions } from "../src/net/Retry.ts"
import type { Secrets } from "../src/ports/Secrets.ts"

interface Turns {
  /** Whose limits these are: all calls of one account wait together. */
  readonly account: string
  readonly requestsPerMinute: number
  readonly retry: RetryOptions | undefined
}

/** Milliseconds an account rests after a limit that does not say how long. */
const restMs = 1000
/** A turn for each attempt, tried again where that helps; when one is told to wait, all of the account wait. */
export const inTurn = ({ account, requestsPerMinute, retry: options = {} }: Turns) => {
  const { baseMs = restMs, maxRetryAfterMs = 120_000 } = options
  return <A>(attempt: Effect.Effect<A, ServiceError>): Effect.Effect<A, ServiceError> =>
    Effect.gen(function*() {
      const limits = yield* RateLimit
      yield* limits.take(account, requestsPerMinute)
      return yield* Effect.tapError(attempt, (error) => {
        const { retryAfter = baseMs } = error
        // Longer waits are the answer to the caller, not something to sit out.
        return isLimit(error) && retryAfter <= maxRetryAfterMs ? limits.pause(account, retryAfter) : Effect.void
      })
    }).pipe(retry(options))
}

const isLimit = ({ code, retryAfter }: ServiceError): boolean =>
  code === "RESOURCE_EXHAUSTED" || (code === "UNAVAILABLE" && retryAfter !== undefined)

interface AccountOptions {
  readonly caller: Caller
  /** Whose limits these are: all calls of one account wait together. */
  readonly account: string
  readonly requestsPerMinute: number
  /** What a refusal means, read from its body. */
  readonly errorOf: (what: string, response: HttpClientResponse.HttpClientResponse) => Effect.Effect<ServiceError>
}

/** Calls of one account, tried again where that helps. */
interface Account {
  readonly call: (
    what: string,
    request: HttpClientRequest.HttpClientRequest
  ) => Effect.Effect<HttpClientResponse.HttpClientResponse, ServiceError>
  /** {@link Account.call} for JSON; an answer that is cut or is not `schema` counts as a failed attempt. */
  readonly json: <A>(
    what: string,
    request: HttpClientRequest.HttpClientRequest,
    schema: Schema.Decoder<A>
  ) => Effect.Effect<A, ServiceError>
}

/** An account whose calls share one rate: when one is told to wait, all wait. */
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

/** Google and Microsoft leave out what does not apply, and now and then null it. */
const withoutNulls = (json: unknown): unknown =>
  Array.isArray(json)
    ? json.map(withoutNulls)
    : Predicate.isObject(json)
    ? Object.fromEntries(Object.entries(json).flatMap(([key, value]) => value === null ? [] : [[key, withoutNulls(value)]]))
    : json

/** A token that may be rotated while it is in use. */
interface RotatingToken {
  readonly token: Effect.Effect<Redacted.Redacted<string>, SecretError>
  /** Uses it; one that was refused is resolved again, and a new one gets one more try. */
  readonly use: <A>(
    call: (token: Redacted.Redacted<string>) => Effect.Effect<A, ServiceError>
  ) => Effect.Effect<A, ServiceError | SecretError>
}

/** How long a resolved token is kept, so that a rotated one is taken up. */
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
