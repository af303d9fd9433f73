import { Effect, Redacted, Schema, Semaphore, Stream } from "effect"
import { type HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { type SecretError, ServiceError } from "../domain/Errors.ts"
import { callOnce, jsonOf, malformed } from "../net/Call.ts"
import { discard, download } from "../net/Download.ts"
import { redactText, redactUrl } from "../net/Redact.ts"
import { make as makeBuckets } from "../net/RateLimit.ts"
import { retry, type RetryOptions } from "../net/Retry.ts"

/** How many calls may start in a second, and be under way at once. */
export interface RateLimitOptions {
  /** Default: as many as come. */
  readonly requestsPerSecond?: number | undefined
  /** Requests under way at once. Default: as many as come. */
  readonly concurrency?: number | undefined
}

/**
 * Holds calls to a rate, first come, first served: a call starts when it is its turn. Where one fails with a
 * `retryAfter`, all wait that long, and not only the one that met it.
 */
export const rateLimit = ({ concurrency, requestsPerSecond }: RateLimitOptions) => {
  const buckets = makeBuckets()
  const places = concurrency === undefined ? undefined : Semaphore.makeUnsafe(concurrency)
  const key = "calls"
  return <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
    const timed = requestsPerSecond === undefined ? call : Effect.andThen(buckets.take(key, requestsPerSecond * 60), call).pipe(
      Effect.tapError((error) => {
        const wait = error instanceof ServiceError ? error.retryAfter : undefined
        return wait === undefined ? Effect.void : buckets.pause(key, wait)
      })
    )
    return places === undefined ? timed : places.withPermit(timed)
  }
}

/** Where a caller calls, with which credentials, how often and how patiently. */
export interface HttpCallerOptions extends RateLimitOptions {
  /** Default: the process's own client (pooled, through the proxy of the environment, five redirects at most). */
  readonly http?: HttpClient.HttpClient | undefined
  /**
   * Connect to public addresses only, redirects included, as for addresses that pages name. `allowHosts` are taken
   * wherever they lead. Takes the place of `http`, and goes without a proxy.
   */
  readonly publicOnly?: { readonly allowHosts: ReadonlyArray<string> } | undefined
  /** Sent with every request to the origin of `baseUrl`, and to no other. Their values are kept out of errors. */
  readonly credentials?: Effect.Effect<Readonly<Record<string, Redacted.Redacted<string>>>, ServiceError | SecretError> | undefined
  /** What relative addresses are relative to. */
  readonly baseUrl?: string | undefined
  /** Milliseconds until an answer begins. Default 30,000. */
  readonly timeoutMs?: number | undefined
  readonly retry?: RetryOptions | undefined
}

/** One request. Default: a GET without headers of its own. */
export interface HttpRequestOptions {
  readonly method?: "GET" | "HEAD" | "POST" | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Sent as JSON. Of a POST that may be made twice only, as calls are tried again. */
  readonly body?: unknown
  /** Answers that are no errors. Default: any 2xx. */
  readonly accept?: ((status: number) => boolean) | undefined
}

type Failure = ServiceError | SecretError

/** `what` names the call in messages: `the entries of news.acme.com`. */
export interface HttpCaller {
  /** The answer, its body unread: read it, or let go of it with `discard`. */
  readonly send: (what: string, url: string, options?: HttpRequestOptions) => Effect.Effect<HttpClientResponse.HttpClientResponse, Failure>
  /** What `use` makes of the answer, body and all; what it fails with counts as a failed attempt, so that a body that breaks off is asked for again. */
  readonly read: <A>(
    what: string,
    url: string,
    use: (response: HttpClientResponse.HttpClientResponse) => Effect.Effect<A, ServiceError>,
    options?: HttpRequestOptions
  ) => Effect.Effect<A, Failure>
  /** The answer's JSON; one that is cut short or is not `schema` counts as a failed attempt. */
  readonly json: <A>(what: string, url: string, schema: Schema.Decoder<A>, options?: HttpRequestOptions) => Effect.Effect<A, Failure>
  /** The body, gunzipped where it is stored so. `OUT_OF_RANGE` once more than `maxBytes` came. */
  readonly download: (what: string, url: string, maxBytes: number, options?: HttpRequestOptions) => Stream.Stream<Uint8Array, Failure>
}

/**
 * Calls over HTTP as every connector of Sluice makes them: under a timeout, tried again (bounded, jittered, honouring
 * `Retry-After`), with errors that are typed and hold no secret, and no header of yours on the way to another origin.
 */
export const httpCaller = (options: HttpCallerOptions): HttpCaller => {
  const limit = rateLimit(options)
  const client = Effect.runSync(Effect.cached(Effect.suspend(() => {
    const { http, publicOnly } = options
    if (http !== undefined && publicOnly === undefined) return Effect.succeed(http)
    // The client is large, and most programs that know of a source never call it.
    return Effect.flatMap(
      Effect.promise(() => import("../net/ProcessHttp.ts")),
      ({ processHttp, publicProcessHttpWith }) => publicOnly === undefined ? processHttp : publicProcessHttpWith(publicOnly.allowHosts)
    )
  })))

  const addressOf = (address: string): Effect.Effect<URL, ServiceError> => {
    const url = URL.parse(address, options.baseUrl)
    return url !== null && /^https?:$/.test(url.protocol)
      ? Effect.succeed(url)
      : Effect.fail(ServiceError.invalid("url", `${redactUrl(address)} is no http or https address`))
  }

  /** How to make one attempt, its credentials at hand. */
  const prepared = Effect.fnUntraced(
    function*(what: string, address: string, { accept, body, headers, method = "GET" }: HttpRequestOptions) {
      const http = yield* client
      const url = yield* addressOf(address)
      const ours = options.baseUrl !== undefined && new URL(options.baseUrl).origin === url.origin
      const secrets = ours && options.credentials !== undefined ? yield* options.credentials : {}
      const sent = { ...headers, ...Object.fromEntries(Object.entries(secrets).map(([name, value]) => [name, Redacted.value(value)])) }
      const bare = HttpClientRequest.make(method)(url, { headers: sent })
      const request = body === undefined ? bare : HttpClientRequest.bodyJsonUnsafe(bare, body)
      const caller = { http, timeoutMs: options.timeoutMs }
      return limit(callOnce(caller, what, request, accept)).pipe(
        Effect.mapError((error) => error.mapTexts((text) => redactText(text, Object.values(secrets))))
      )
    }
  )

  const again = retry(options.retry)
  const read: HttpCaller["read"] = (what, url, use, request = {}) =>
    Effect.flatMap(prepared(what, url, request), (attempt) => again(Effect.flatMap(attempt, use)))

  return {
    send: (what, url, request = {}) => Effect.flatMap(prepared(what, url, request), again),
    read,
    json: (what, url, schema, request) => {
      const decode = Schema.decodeUnknownEffect(schema)
      return read(what, url, (response) =>
        jsonOf(what, response).pipe(
          Effect.flatMap((json) => decode(json).pipe(Effect.mapError(() => malformed(what, "not of the expected shape"))))
        ), request)
    },
    download: (what, url, maxBytes, request = {}) =>
      Stream.unwrap(Effect.map(
        Effect.flatMap(prepared(what, url, { ...request, headers: { ...request.headers, "accept-encoding": "gzip" } }), again),
        (response) => bodyOf(what, response, maxBytes)
      ))
  }
}

/**
 * The body of an answer, gunzipped where it came so (ask with `accept-encoding: gzip`). `OUT_OF_RANGE` once more than
 * `maxBytes` came, `UNAVAILABLE` where it breaks off: the rest may be of another version, so it is not gone on with.
 */
export const bodyOf = (
  what: string,
  response: HttpClientResponse.HttpClientResponse,
  maxBytes: number
): Stream.Stream<Uint8Array, ServiceError> =>
  download({
    what,
    maxBytes,
    open: (offset) =>
      offset === 0 ? Effect.succeed(response) : Effect.fail(new ServiceError({ code: "UNAVAILABLE", message: `${what} broke off` }))
  })

/** All the bytes of a stream that is bounded already, as {@link HttpCaller.download} is. */
export const collect = <E, R>(bytes: Stream.Stream<Uint8Array, E, R>): Effect.Effect<Buffer, E, R> =>
  Effect.map(Stream.runCollect(bytes), (pieces) => Buffer.concat(pieces))

export { discard }
