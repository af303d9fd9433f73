import { Duration, Effect, Schema } from "effect"
import type { HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"
import { ServiceError } from "../domain/Errors.ts"
import { GoogleAuth, sendAuthorized } from "./GoogleAuth.ts"
import { serviceErrorOf, transportErrorOf } from "./HttpErrors.ts"
import { retry, type RetryOptions } from "./Retry.ts"

/** How a service is called. */
export interface Caller {
  readonly http: HttpClient.HttpClient
  /** Google credentials, where the service needs them. Default none. */
  readonly auth?: GoogleAuth["Service"]
  readonly retry?: RetryOptions
  /** Milliseconds until an answer starts. Default 30,000. */
  readonly timeoutMs?: number
}

/**
 * Sends one request, under a timeout. An answer that is not `accept`ed (default: any 2xx) is a `ServiceError` with the
 * service's own words; `what` names the call in messages: "listing of gs://acme". A `request` that is an effect is run
 * again for each attempt.
 */
export const callOnce = Effect.fnUntraced(function*(
  caller: Caller,
  what: string,
  request: Effect.Effect<HttpClientRequest.HttpClientRequest, ServiceError> | HttpClientRequest.HttpClientRequest,
  accept: (status: number) => boolean = isSuccess
): Effect.fn.Return<HttpClientResponse.HttpClientResponse, ServiceError> {
  const made = Effect.isEffect(request) ? yield* request : request
  const response = yield* sendAuthorized(caller.http, caller.auth ?? GoogleAuth.anonymous, made).pipe(
    Effect.mapError((error) => error._tag === "ServiceError" ? error : transportErrorOf(what, error)),
    answeredWithin(what, caller.timeoutMs ?? 30_000)
  )
  if (accept(response.status)) return response
  return yield* Effect.flatMap(serviceErrorOf(what, response), (error) => Effect.fail(error))
})

/** Fails with `DEADLINE_EXCEEDED` where a call takes longer than `milliseconds`; `what` names it in the message. */
export const answeredWithin = (what: string, milliseconds: number) => <A, E, R>(call: Effect.Effect<A, E, R>) =>
  Effect.timeoutOrElse(call, {
    duration: milliseconds,
    orElse: () =>
      Effect.fail(
        new ServiceError({
          code: "DEADLINE_EXCEEDED",
          message: `${what} did not answer within ${Duration.format(Duration.millis(milliseconds))}`
        })
      )
  })

/** Calls like {@link callOnce}, with the caller's retries. For idempotent calls. */
export const call = (
  ...args: Parameters<typeof callOnce>
): Effect.Effect<HttpClientResponse.HttpClientResponse, ServiceError> => callOnce(...args).pipe(retry(args[0].retry))

/** Calls like {@link call} and decodes a JSON answer; one that is cut short or does not match `schema` counts as a failed attempt. */
export const callJson = <A>(
  caller: Caller,
  what: string,
  request: Parameters<typeof callOnce>[2],
  schema: Schema.Decoder<A>
): Effect.Effect<A, ServiceError> => {
  const decode = Schema.decodeUnknownEffect(schema)
  return callOnce(caller, what, request).pipe(
    Effect.flatMap((response) => jsonOf(what, response)),
    Effect.flatMap((json) => decode(json).pipe(Effect.mapError(() => malformed(what, "not of the expected shape")))),
    retry(caller.retry)
  )
}

/** Reads the body as JSON. */
export const jsonOf = (what: string, response: HttpClientResponse.HttpClientResponse): Effect.Effect<unknown, ServiceError> =>
  response.json.pipe(
    Effect.mapError((error) =>
      error.reason._tag === "DecodeError" ? malformed(what, "cut short or no JSON") : transportErrorOf(what, error)
    ),
    Effect.timeoutOrElse({
      duration: bodyTimeout,
      orElse: () => Effect.fail(new ServiceError({ code: "DEADLINE_EXCEEDED", message: `${what} did not finish its answer` }))
    })
  )

const bodyTimeout = "1 minute"

const isSuccess = (status: number): boolean => status >= 200 && status < 300

/** Error of an answer that is not what the service returns. Worth a retry: a broken connection or a proxy may have caused it. */
export const malformed = (what: string, why: string): ServiceError =>
  new ServiceError({ code: "UNAVAILABLE", message: `${what} gave an answer that is ${why}` })
