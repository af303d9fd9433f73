import { Effect, Redacted } from "effect"
import { HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { type SecretError, ServiceError } from "../../domain/Errors.ts"
import type { SecretVersion } from "../../domain/Secret.ts"
import { answeredWithin } from "../../net/Call.ts"
import { serviceErrorOf, transportErrorOf } from "../../net/HttpErrors.ts"
import { RateLimit } from "../../net/RateLimit.ts"
import { retry, type RetryOptions } from "../../net/Retry.ts"
import { Secrets } from "../../ports/Secrets.ts"

/** The address of an OpenAI-compatible service, its credentials and its limits. */
export interface Connection {
  /** Base URL up to and including the version: `https://api.openai.com/v1`, `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string
  readonly model: string
  /** The key, or the secret version that contains it. Absent: no Authorization header is sent, as local servers expect. */
  readonly apiKey?: SecretVersion | Redacted.Redacted<string>
  /** Headers besides the key: organisation, project, a gateway's own. Not for credentials. */
  readonly headers?: Readonly<Record<string, string>>
  /** Most requests per minute. Default 500. */
  readonly maxRequestsPerMinute?: number
  /** Milliseconds until a response starts, and between two pieces of a streamed one. Default 60,000. */
  readonly timeoutMs?: number
  readonly retry?: RetryOptions
  /**
   * Whether a 429 with Retry-After pauses every call of this model in the process, not only the one that met it. Default true, since calls
   * of one program share one quota. False where calls are those of different clients.
   */
  readonly pauseOthers?: boolean
}

export interface Service {
  /** Host of the base URL, part of identities and messages. */
  readonly host: string
  /** How errors name the call: `embeddings of api.openai.com (text-embedding-3-small)`. */
  readonly what: string
  /** Texts that must never be printed, once the key is known. */
  readonly secrets: () => ReadonlyArray<Redacted.Redacted<string>>
  /**
   * Posts JSON and reads the response with `read`, with the timeout, the rate limit and the retries. `read` must fail with a retryable
   * error where another attempt may help.
   */
  readonly post: <A>(
    body: object,
    read: (response: HttpClientResponse.HttpClientResponse) => Effect.Effect<A, ServiceError>,
    /** Called before each attempt: waits, or refuses it. */
    admit?: Effect.Effect<void, ServiceError>
  ) => Effect.Effect<A, ServiceError>
}

/** How long a resolved key is kept, so that a rotated one is picked up. */
const keyTtl = "5 minutes"

/** Checks the connection and prepares calls to its `path`. The key is resolved at the first call, not here. */
export const connect = Effect.fnUntraced(function*(connection: Connection, path: string, noun: string) {
  const client = yield* HttpClient.HttpClient
  const secretStore = yield* Secrets
  const limits = yield* RateLimit
  const base = yield* baseUrlOf(connection.baseUrl)
  const url = `${base.href.replace(/\/+$/, "")}/${path}`
  const what = `${noun} of ${base.host} (${connection.model})`
  const bucket = `${base.host}/${path}/${connection.model}`
  const perMinute = connection.maxRequestsPerMinute ?? 500
  if (!(perMinute > 0)) return yield* ServiceError.invalid("maxRequestsPerMinute", "must be more than 0")
  let secrets: ReadonlyArray<Redacted.Redacted<string>> = []

  const [key, forgetKey] = yield* Effect.cachedInvalidateWithTTL(
    resolveKey(connection.apiKey, secretStore).pipe(Effect.tap((found) =>
      Effect.sync(() => {
        secrets = found === undefined ? [] : [found]
      })
    )),
    keyTtl
  )

  const attempt = Effect.fnUntraced(function*<A>(
    body: object,
    read: (response: HttpClientResponse.HttpClientResponse) => Effect.Effect<A, ServiceError>,
    admit: Effect.Effect<void, ServiceError> = Effect.void
  ) {
    const apiKey = yield* key.pipe(Effect.tapError(() => forgetKey))
    yield* admit
    yield* limits.take(bucket, perMinute)
    const request = HttpClientRequest.post(url).pipe(
      HttpClientRequest.setHeaders({ accept: "application/json", ...connection.headers }),
      apiKey === undefined ? (self) => self : HttpClientRequest.bearerToken(apiKey),
      HttpClientRequest.bodyJsonUnsafe(body)
    )
    return yield* client.execute(request).pipe(
      Effect.mapError((error) => transportErrorOf(what, error)),
      Effect.flatMap((response) =>
        response.status >= 200 && response.status < 300
          ? read(response)
          : Effect.flatMap(serviceErrorOf(what, response, secrets), (error) => Effect.fail(error))
      ),
      answeredWithin(what, connection.timeoutMs ?? 60_000),
      Effect.tapError((error) => {
        if (error.code === "UNAUTHENTICATED") return forgetKey
        if (error.code === "RESOURCE_EXHAUSTED" && error.retryAfter !== undefined && connection.pauseOthers !== false) {
          return limits.pause(bucket, Math.min(error.retryAfter, 120_000))
        }
        return Effect.void
      })
    )
  })

  const service: Service = {
    host: base.host,
    what,
    secrets: () => secrets,
    post: (body, read, admit) => attempt(body, read, admit).pipe(retry(connection.retry))
  }
  return service
})

export const baseUrlOf = Effect.fnUntraced(function*(text: string) {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return yield* ServiceError.invalid("baseUrl", "expected an http or https address, such as https://api.openai.com/v1")
  }
  if (url.username !== "" || url.password !== "" || url.search !== "") {
    return yield* ServiceError.invalid("baseUrl", "must not carry credentials or a query", "give the key as apiKey")
  }
  return url
})

export const resolveKey = (
  key: SecretVersion | Redacted.Redacted<string> | undefined,
  secrets: Secrets["Service"]
): Effect.Effect<Redacted.Redacted<string> | undefined, ServiceError> => {
  if (key === undefined || Redacted.isRedacted(key)) return Effect.succeed(key)
  return secrets.resolve(key).pipe(
    Effect.mapError((error: SecretError) => new ServiceError({ code: "UNAUTHENTICATED", message: error.message, fix: error.fix }))
  )
}
