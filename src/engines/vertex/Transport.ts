import { Context, Duration, Effect, Layer } from "effect"
import { HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { ServiceError, type StateError } from "../../domain/Errors.ts"
import { GoogleAuth, sendAuthorized } from "../../net/GoogleAuth.ts"
import { retry, type RetryOptions } from "../../net/Retry.ts"
import { Quota } from "../../ports/Quota.ts"
import type { ApiVersion } from "../../wire/Message.ts"
import { decodeResponse, encodeQuery, encodeRequest, path, type Route } from "../../wire/Routes.ts"
import { type Endpoint, endpointOf } from "./Endpoint.ts"
import { withFix } from "./Fixes.ts"
import { failureOf, readJson, unsent } from "./Responses.ts"
import { answered, Unanswered } from "./Unanswered.ts"

export interface TransportOptions {
  readonly project: string
  readonly location: string
  /** Address that replaces the location's own host. Plain http is allowed for this machine only. */
  readonly baseUrl?: string
  /**
   * Credentials for a `baseUrl` that is not Google's: Google credentials are sent to googleapis.com only. Default: none.
   */
  readonly auth?: GoogleAuth["Service"]
  /** Most milliseconds for a call, including its answer. Default 60,000. */
  readonly timeoutMs?: number
  readonly retry?: RetryOptions
  /** Requests per minute, where the project's quotas differ from the usual ones. */
  readonly perMinute?: Partial<Record<Bucket, number>>
}

/** Calls that share a quota of a project in a region. */
export type Bucket = "management" | "retrieve" | "generate"

/** Requests per minute, by the service's defaults for retrieval-augmented generation. The limit of generation varies by model. */
export const usualPerMinute: Readonly<Record<Bucket, number>> = { management: 60, retrieve: 1500, generate: 1500 }

/** Version of the API: v1 lacks hybrid search and two vector databases. */
export const version: ApiVersion = "v1beta1"

/** Version of the API for a method: batch jobs and endpoints are part of the stable API. */
export const versionOf = ({ rpc }: { readonly rpc: string }): ApiVersion => /^(?:JobService|EndpointService)\./.test(rpc) ? "v1" : version

/** Most milliseconds for a call, unless options say otherwise. */
const usualTimeoutMs = 60_000

/** Milliseconds after which a call that waits for its turn says so, once for each bucket. */
const silenceMs = 10_000

/** Most milliseconds for which the service may pause all callers. */
const maxPause = 120_000

/** A call of a method in the API's table. */
export interface Call<P extends string, Q, B, R> {
  readonly route: Route<P, Q, B, R>
  readonly params: { readonly [K in P]: string }
  readonly query?: Q & object
  readonly body?: B & object
  /** Default `management`. */
  readonly bucket?: Bucket
  readonly timeoutMs?: number
  /** Whether someone waits for the answer to a question: a service that does not answer in time is then called twice, not six times. */
  readonly awaited?: true
}

/** A request that does not send JSON and receive JSON. */
export interface Outgoing {
  /** Names the call in messages: `UploadRagFile`. */
  readonly what: string
  readonly request: HttpClientRequest.HttpClientRequest
  /** Bucket that the call is counted in; absent for the second part of a call that was counted before. */
  readonly bucket?: Bucket
  /** Bucket that is paused when the service asks to slow down, where the caller has taken its turn itself. */
  readonly paused?: string
  readonly timeoutMs?: number
  /** Whether failed answers are passed to `read` too: they may come from something behind the service. */
  readonly failuresToo?: true
}

/** The HTTP side of the hosted engine: quotas, credentials, timeouts, retries, errors. */
export class Transport extends Context.Service<Transport, {
  readonly project: string
  readonly location: string
  /** `projects/{project}/locations/{location}` */
  readonly parent: string
  readonly endpoint: Endpoint
  /** Calls an idempotent method, and retries it for as long as that may help, even after no answer. */
  readonly call: <P extends string, Q, B, R>(call: Call<P, Q, B, R>) => Effect.Effect<R, ServiceError>
  /** Calls a method that must not be called twice. It does not retry after no answer, but fails with `Unanswered`. */
  readonly callOnce: <P extends string, Q, B, R>(call: Call<P, Q, B, R>) => Effect.Effect<R, ServiceError | Unanswered>
  /**
   * Sends a request once, within quota and timeout, and reads a successful answer with `read`; the timeout covers both.
   */
  readonly send: <A>(
    outgoing: Outgoing,
    read: (response: HttpClientResponse.HttpClientResponse) => Effect.Effect<A, ServiceError>
  ) => Effect.Effect<A, ServiceError | Unanswered>
  readonly retry: <A, R>(effect: Effect.Effect<A, ServiceError, R>) => Effect.Effect<A, ServiceError, R>
}>()("sluice/hosted/Transport") {}

export const make = Effect.fnUntraced(function*(options: TransportOptions) {
  const { location, project } = options
  const endpoint = yield* Effect.fromResult(endpointOf(location, options.baseUrl))
  const client = yield* HttpClient.HttpClient
  const quota = yield* Quota
  const auth = endpoint.google ? yield* GoogleAuth : options.auth ?? GoogleAuth.anonymous
  const retried = retry(options.retry)
  const retriedSoon = retry({ unansweredMs: (options.timeoutMs ?? usualTimeoutMs) / 2, ...options.retry })
  const noticed = new Set<string>()

  /** Waits for a turn. */
  const take = (bucket: string, perMinute: number) => {
    const notice = Effect.suspend(() => {
      if (noticed.has(bucket)) return Effect.void
      noticed.add(bucket)
      return Effect.logWarning(
        `requests to ${endpoint.host} wait for their turn: ${perMinute} a minute are allowed, or fewer since the service asked to slow down`
      )
    })
    return quota.take(bucket, perMinute).pipe(
      Effect.raceFirst(Effect.andThen(Effect.delay(notice, silenceMs), Effect.never)),
      Effect.mapError(quotaLost)
    )
  }

  const send = Effect.fnUntraced(function*<A>(
    outgoing: Outgoing,
    read: (response: HttpClientResponse.HttpClientResponse) => Effect.Effect<A, ServiceError>
  ): Effect.fn.Return<A, ServiceError | Unanswered> {
    const { bucket } = outgoing
    const shared = outgoing.paused ?? `${endpoint.host}/${project}/${location}/${bucket ?? "management"}`
    const what = `${outgoing.what} of ${endpoint.host}`
    const timeout = Duration.millis(outgoing.timeoutMs ?? options.timeoutMs ?? usualTimeoutMs)

    if (bucket !== undefined) yield* take(shared, options.perMinute?.[bucket] ?? usualPerMinute[bucket])
    return yield* sendAuthorized(client, auth, outgoing.request).pipe(
      Effect.mapError((error) => error._tag === "ServiceError" ? withFix(error, project) : unsent(error, what)),
      Effect.flatMap((response) =>
        (response.status >= 200 && response.status < 300) || outgoing.failuresToo === true
          // Even if the answer is bad, the service has acted.
          ? Effect.mapError(read(response), (error) => new Unanswered({ error }))
          : Effect.flatMap(failureOf(what, project, response), Effect.fail)
      ),
      Effect.timeoutOrElse({
        duration: timeout,
        orElse: () =>
          Effect.fail(
            new Unanswered({
              error: new ServiceError({
                code: "DEADLINE_EXCEEDED",
                message: `${what} did not answer within ${Duration.format(timeout)}`
              })
            })
          )
      }),
      Effect.tapError((failure) => {
        const { code, retryAfter } = failure._tag === "Unanswered" ? failure.error : failure
        const slowDown = code === "RESOURCE_EXHAUSTED" || code === "UNAVAILABLE"
        return slowDown && retryAfter !== undefined
          ? quota.pause(shared, Math.min(retryAfter, maxPause)).pipe(Effect.mapError(quotaLost))
          : Effect.void
      })
    )
  })

  const json = Effect.fnUntraced(function*<P extends string, Q, B, R>({ body, bucket, params, query, route, timeoutMs }: Call<P, Q, B, R>) {
    const where = yield* Effect.fromResult(path(route, versionOf(route), params))
    const url = `${endpoint.baseUrl}${where}${query === undefined ? "" : encodeQuery(route, query)}`
    const content = body === undefined ? undefined : yield* Effect.fromResult(encodeRequest(route, versionOf(route), body))
    const request = HttpClientRequest.make(route.verb)(url).pipe(
      HttpClientRequest.acceptJson,
      content === undefined ? (self) => self : HttpClientRequest.bodyJsonUnsafe(content)
    )
    const what = route.rpc.slice(route.rpc.indexOf(".") + 1)
    const outgoing = { what, request, bucket: bucket ?? "management", timeoutMs }
    return {
      ask: send(outgoing, (response) => readJson(`${what} of ${endpoint.host}`, response)),
      decode: (answer: unknown): Effect.Effect<R, ServiceError> => Effect.fromResult(decodeResponse(route, answer))
    }
  })

  return Transport.of({
    project,
    location,
    parent: `projects/${project}/locations/${location}`,
    endpoint,
    call: Effect.fnUntraced(function*(call) {
      const { ask, decode } = yield* json(call)
      return yield* decode(yield* (call.awaited === true ? retriedSoon : retried)(answered(ask)))
    }),
    callOnce: Effect.fnUntraced(function*(call) {
      const { ask, decode } = yield* json(call)
      // The call was done, whatever the answer is.
      return yield* Effect.mapError(decode(yield* ask), (error) => new Unanswered({ error }))
    }),
    send,
    retry: retried
  })
})

export const layer = (
  options: TransportOptions
): Layer.Layer<Transport, ServiceError, HttpClient.HttpClient | GoogleAuth | Quota> => Layer.effect(Transport, make(options))

export const quotaLost = (error: StateError): ServiceError =>
  new ServiceError({ code: "FAILED_PRECONDITION", message: `quotas cannot be kept: ${error.message}`, fix: error.fix })
