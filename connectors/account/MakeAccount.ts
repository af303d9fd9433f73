import { Effect, Predicate, Schema } from "effect"
import type { HttpClientRequest, HttpClientResponse } from "effect/http"
import type { ServiceError } from "../../src/domain/Errors.ts"
import { type Caller, callOnce, jsonOf, malformed } from "../../src/net/Call.ts"
import { inTurn } from "./InTurn.ts"

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
      return turn(once(what, request).pipe(
        Effect.flatMap((response) => jsonOf(what, response)),
        Effect.flatMap((json) => decode(withoutNulls(json)).pipe(Effect.mapError(() => malformed(what, "not of the expected shape"))))
      ))
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
