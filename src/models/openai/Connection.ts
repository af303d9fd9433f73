import { Duration, Effect, Redacted } from "effect"
import { HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { type SecretError, ServiceError } from "../../domain/Errors.ts"
import type { SecretVersion } from "../../domain/Secret.ts"
import { serviceErrorOf, transportErrorOf } from "../../net/HttpErrors.ts"
import { RateLimit } from "../../net/RateLimit.ts"
import { retry, type RetryOptions } from "../../net/Retry.ts"
import { Secrets } from "../../ports/Secrets.ts"

/** Where an OpenAI-compatible service is, and how hard it may be asked. */
export interface Connection {
  /** Up to and including the version: `https://api.openai.com/v1`, `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string
  readonly model: string
  /** The key, or the secret version that holds it. Absent: no Authorization header is sent, as local servers like it. */
  readonly apiKey?: SecretVersion | Redacted.Redacted<string>
  /** Headers beyond the key: organisation, project, a gateway's own. Not for credentials. */
  readonly headers?: Readonly<Record<string, string>>
  /** Default 500. */
  readonly maxRequestsPerMinute?: number
  /** Milliseconds until the answer begins, and between two pieces of a streamed one. Default 60,000. */
  readonly timeoutMs?: number
  readonly retry?: RetryOptions
  /**
   * Whether a 429 with Retry-After holds back every call of this model in the process, and not only the one that met it.
   * Default true: calls of one program draw on one quota. False where calls are those of different clients.
   */
  readonly pauseOthers?: boolean
}

export interface Service {
  /** Of the base URL: part of identities and messages. */
  readonly host: string
  /** `embeddings of api.openai.com (text-embedding-3-small)`: how errors name the call. */
  readonly what: string
  /** What must never be printed, once the key is known. */
  readonly secrets: () => ReadonlyArray<Redacted.Redacted<string>>
  /**
   * Posts JSON and reads the answer with `read`, under the timeout, the rate and the retries; `read` fails what must be
   * tried again with a retryable error.
   */
  readonly post: <A>(
    body: object,
    read: (response: HttpClientResponse.HttpClientResponse) => Effect.Effect<A, ServiceError>,
    /** Before each attempt: waits, or refuses it. */
    admit?: Effect.Effect<void, ServiceError>
  ) => Effect.Effect<A, ServiceError>
}

/** How long a resolved key is kept, so that a rotated one is taken up. */
const keyTtl = "5 minutes"

/** Checks the connection and readies calls to `path` of it. The key is resolved at the first call, not here. */
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
  const timeout = Duration.millis(connection.timeoutMs ?? 60_000)
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
      Effect.timeoutOrElse({
        duration: timeout,
        orElse: () =>
          Effect.fail(
            new ServiceError({
              code: "DEADLINE_EXCEEDED",
              message: `${what} did not answer within ${Duration.format(timeout)}`
            })
          )
      }),
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
    return yield* ServiceError.invalid("baseUrl", "must not carry credentials or a query", "Give the key as apiKey.")
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
