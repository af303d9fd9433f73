import { Effect, Schema } from "effect"
import type { HttpClientRequest, HttpClientResponse } from "effect/http"
import type { ServiceError } from "../../src/domain/Errors.ts"
import { type Caller, callOnce, jsonOf, malformed } from "../../src/net/Call.ts"
import { RateLimit } from "../../src/net/RateLimit.ts"
import { retry } from "../../src/net/Retry.ts"

export interface AccountOptions {
  readonly caller: Caller
  /** Whose limits these are: all calls of one account wait together. */
  readonly account: string
  readonly requestsPerMinute: number
  /** What a refusal means, read from its body. */
  readonly errorOf: (what: string, response: HttpClientResponse.HttpClientResponse) => Effect.Effect<ServiceError>
}

/** Calls of one account, tried again where that helps. */
export interface Account {
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

/** Milliseconds an account rests after a limit that does not say how long. */
const restMs = 1000

/** An account whose calls share one rate: when one is told to wait, all wait. */
export const makeAccount = ({ account, caller, errorOf, requestsPerMinute }: AccountOptions): Account => {
  const once = Effect.fnUntraced(function*(what: string, request: HttpClientRequest.HttpClientRequest) {
    const limits = yield* RateLimit
    yield* limits.take(account, requestsPerMinute)
    const response = yield* callOnce(caller, what, request, () => true)
    if (response.status >= 200 && response.status < 300) return response
    const error = yield* errorOf(what, response)
    const limited = error.code === "RESOURCE_EXHAUSTED" || (error.code === "UNAVAILABLE" && error.retryAfter !== undefined)
    if (limited) yield* limits.pause(account, Math.min(error.retryAfter ?? caller.retry?.baseMs ?? restMs, maxPauseMs))
    return yield* error
  })
  return {
    call: (what, request) => once(what, request).pipe(retry(caller.retry)),
    json: (what, request, schema) => {
      const decode = Schema.decodeUnknownEffect(schema)
      return once(what, request).pipe(
        Effect.flatMap((response) => jsonOf(what, response)),
        Effect.flatMap((json) => decode(json).pipe(Effect.mapError(() => malformed(what, "not of the expected shape")))),
        retry(caller.retry)
      )
    }
  }
}

/** Longer waits are the answer to the caller, not something to sit out: the account is free again to be asked. */
const maxPauseMs = 120_000
