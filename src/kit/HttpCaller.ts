import { Effect, Redacted, Schema, Semaphore, Stream } from "effect"
import { type HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { type SecretError, ServiceError } from "../domain/Errors.ts"
import { callOnce, jsonOf, malformed } from "../net/Call.ts"
import { discard, download } from "../net/Download.ts"
import { redactText, redactUrl } from "../domain/Redact.ts"
import { make as makeBuckets } from "../net/RateLimit.ts"
import { retry, type RetryOptions } from "../net/Retry.ts"

/** Limits on how many calls may start in a second, and run at the same time. */
export interface RateLimitOptions {
  /** Most requests started in a second. Default: no limit. */
  readonly requestsPerSecond?: number | undefined
  /** Most requests at the same time. Default: no limit. */
  readonly concurrency?: number | undefined
}

/**
 * Limits the rate of calls, first come, first served: a call starts when it is its turn. When one fails with a `retryAfter`, all calls wait
 * that long, not only the one that failed.
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

/** Where a caller sends its requests, with which credentials, at what rate and with what timeout and retries. */
export interface HttpCallerOptions extends RateLimitOptions {
  /** The HTTP client. Default: the process's own (pooled, through the proxy of the environment, five redirects at most). */
  readonly http?: HttpClient.HttpClient | undefined
  /**
   * Connects to public addresses only, also after redirects, for addresses that come from untrusted pages. Hosts in `allowHosts` are
   * exempt. Replaces `http`, and uses no proxy.
   */
  readonly publicOnly?: { readonly allowHosts: ReadonlyArray<string> } | undefined
  /** Headers sent with every request to the origin of `baseUrl`, and to no other. Their values are kept out of errors. */
  readonly credentials?: Effect.Effect<Readonly<Record<string, Redacted.Redacted<string>>>, ServiceError | SecretError> | undefined
  /** The address that relative addresses are resolved against. */
  readonly baseUrl?: string | undefined
  /** Milliseconds until a response starts. Default 30,000. */
  readonly timeoutMs?: number | undefined
  readonly retry?: RetryOptions | undefined
}

/** Options of one request. Default: a GET without headers of its own. */
export interface HttpRequestOptions {
  readonly method?: "GET" | "HEAD" | "POST" | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Sent as JSON. Only for a POST that may be made twice, since calls are retried. */
  readonly body?: unknown
  /** Returns whether a status is a success. Default: any 2xx. */
  readonly accept?: ((status: number) => boolean) | undefined
}

type Failure = ServiceError | SecretError

/** Makes HTTP calls. `what` names the call in messages: `the entries of news.acme.com`. */
export interface HttpCaller {
  /** Returns the response with its body unread: read it, or release it with `discard`. */
  readonly send: (what: string, url: string, options?: HttpRequestOptions) => Effect.Effect<HttpClientResponse.HttpClientResponse, Failure>
  /**
   * Returns what `use` makes of the response, including its body. A failure of `use` counts as a failed attempt, so that a body that breaks
   * off is requested again.
   */
  readonly read: <A>(
    what: string,
    url: string,
    use: (response: HttpClientResponse.HttpClientResponse) => Effect.Effect<A, ServiceError>,
    options?: HttpRequestOptions
  ) => Effect.Effect<A, Failure>
  /** Returns the response's JSON; a response that is cut short or does not match `schema` counts as a failed attempt. */
  readonly json: <A>(what: string, url: string, schema: Schema.Decoder<A>, options?: HttpRequestOptions) => Effect.Effect<A, Failure>
  /** Streams the body, gunzipped where it is stored compressed. Fails with `OUT_OF_RANGE` once it exceeds `maxBytes`. */
  readonly download: (what: string, url: string, maxBytes: number, options?: HttpRequestOptions) => Stream.Stream<Uint8Array, Failure>
}

/**
 * Makes HTTP calls like all of Sluice's connectors: with a timeout and with retries (bounded, jittered, honouring `Retry-After`). Errors
 * are typed and contain no secret, and none of your headers are sent to another origin.
 */
export const httpCaller = (options: HttpCallerOptions): HttpCaller => {
  const limit = rateLimit(options)
  const client = Effect.runSync(Effect.cached(Effect.suspend(() => {
    const { http, publicOnly } = options
    if (http !== undefined && publicOnly === undefined) return Effect.succeed(http)
    // The client is large, and most programs that declare a source never call it.
    return Effect.flatMap(
      Effect.promise(() => import("../net/ProcessHttp.ts")),
      ({ processHttp, publicProcessHttpWith }) => publicOnly === undefined ? processHttp : publicProcessHttpWith(publicOnly.allowHosts)
    )
  })))

  const addressOf = (address: string): Effect.Effect<URL, ServiceError> => {
    const url = URL.parse(address, options.baseUrl)
    return url !== null && /^https?:$/.test(url.protocol)
      ? Effect.succeed(url)
      : Effect.fail(ServiceError.invalid("url", `${redactUrl(address)} is not an http or https address`))
  }

  /** Prepares one attempt, with its credentials resolved. */
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
 * The body of a response, gunzipped where it is compressed (request this with `accept-encoding: gzip`). Fails with `OUT_OF_RANGE` once it
 * exceeds `maxBytes`, and with `UNAVAILABLE` where it breaks off: it is not resumed, since the rest may be of another version.
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

/** Collects all bytes of a stream that is already bounded, such as that of {@link HttpCaller.download}. */
export const collect = <E, R>(bytes: Stream.Stream<Uint8Array, E, R>): Effect.Effect<Buffer, E, R> =>
  Effect.map(Stream.runCollect(bytes), (pieces) => Buffer.concat(pieces))

export { discard }
