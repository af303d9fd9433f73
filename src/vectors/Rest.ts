import { Effect, Redacted, Schema } from "effect"
import { type HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { asServiceError, ServiceError } from "../domain/Errors.ts"
import type { SecretVersion } from "../domain/Secret.ts"
import { callOnce, jsonOf } from "../net/Call.ts"
import type { GoogleAuth } from "../net/GoogleAuth.ts"
import { redactText } from "../domain/Redact.ts"
import { retry, type RetryOptions } from "../net/Retry.ts"
import type { Secrets } from "../ports/Secrets.ts"
import type { VectorSpace } from "../ports/VectorStore.ts"
import { blamed, type Fields, renewing } from "./Chunks.ts"

/** Options of every store whose database is called over HTTP. */
export interface RestStoreOptions {
  readonly space: VectorSpace
  readonly secrets: Secrets["Service"]
  readonly http: HttpClient.HttpClient
  readonly retry?: RetryOptions | undefined
}

export interface RestOptions {
  readonly http: HttpClient.HttpClient
  /** The URL that every request path is appended to, without a trailing slash. */
  readonly baseUrl: string
  /** The database as error messages name it: `Weaviate at docs.acme.com`. */
  readonly what: string
  /** Fields of the pipeline file that errors point to. */
  readonly fields: Fields
  /** Secret version that holds the API key. Absent: requests carry no key. */
  readonly key?: SecretVersion | undefined
  readonly secrets: Secrets["Service"]
  /** Google credentials, used instead of a key. */
  readonly auth?: GoogleAuth["Service"]
  /** Headers that carry the key. Default: `authorization: Bearer {key}`. */
  readonly credentials?: (key: string) => Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly retry?: RetryOptions | undefined
}

export interface RestRequest {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  /** Request body, serialized as JSON. A string is sent as it is, as JSON that was serialized already. */
  readonly body?: unknown
  /** Whether a response status counts as success. Default: any 2xx. */
  readonly accept?: (status: number) => boolean
}

export interface RestAnswer {
  readonly status: number
  readonly headers: HttpClientResponse.HttpClientResponse["headers"]
  /** The parsed body; undefined where the response has none. */
  readonly json: unknown
}

/** Accepts 200, and 404 where the requested thing may be absent. */
export const orMissing = (status: number): boolean => status === 200 || status === 404

/** Whether a server lacks an endpoint that every server of its kind has, so that it is a different product. */
export const isStranger = ({ code }: ServiceError): boolean => code === "NOT_FOUND"

/** Decodes a response by its schema; `otherwise` makes the error for one that does not match the API. */
export const decoder = (otherwise: () => ServiceError) => <A>(schema: Schema.Decoder<A>, json: unknown): Effect.Effect<A, ServiceError> =>
  Effect.mapError(Schema.decodeUnknownEffect(schema)(json), otherwise)

/** Milliseconds until a response starts: some servers index a batch before they respond. */
const timeoutMs = 60_000

/**
 * Returns a function that calls a database over HTTP. Calls have to be idempotent: each has a timeout and bounded, jittered
 * retries that honour `Retry-After`, and is repeated with the key read again once the key was refused. Errors never contain
 * the key.
 */
export const rest = (options: RestOptions) => {
  const { auth, http, key, what } = options
  const keys = renewing(
    Effect.suspend((): Effect.Effect<{ readonly value: Redacted.Redacted<string> | undefined }, ServiceError> =>
      key === undefined
        ? Effect.succeed({ value: undefined })
        : Effect.map(Effect.mapError(options.secrets.resolve(key), asServiceError), (value) => ({ value }))
    )
  )
  const again = retry({ times: 4, ...options.retry })
  const blame = blamed(options.fields)
  return (doing: string, path: string, { accept, body, method = "GET" }: RestRequest = {}): Effect.Effect<RestAnswer, ServiceError> =>
    keys.use((held) => {
      const secret = held.value
      const credentials = secret === undefined ? {} : (options.credentials ?? bearer)(Redacted.value(secret))
      const bare = HttpClientRequest.make(method)(new URL(`${options.baseUrl}${path}`), {
        headers: { accept: "application/json", ...options.headers, ...credentials }
      })
      const request = body === undefined
        ? bare
        : HttpClientRequest.bodyText(bare, typeof body === "string" ? body : JSON.stringify(body), "application/json")
      return callOnce({ http, timeoutMs, auth }, `${doing} in ${what}`, request, accept).pipe(
        Effect.flatMap((response) =>
          Effect.map(response.status === 204 ? Effect.succeed(undefined) : jsonOf(`${doing} in ${what}`, response), (json) => ({
            status: response.status,
            headers: response.headers,
            json
          }))
        ),
        Effect.mapError((error) => blame(secret === undefined ? error : error.mapTexts((text) => redactText(text, [secret])))),
        again
      )
    }).pipe(Effect.mapError(blame))
}

/** Longest wait between two looks of {@link awaited}, in milliseconds. */
const longestMs = 5_000

export interface AwaitedOptions {
  /** Message of the `DEADLINE_EXCEEDED` error after the last look. */
  readonly late: string
  /** Number of looks, at most. With the default waits 40 take about 3 minutes, 400 about 33. Default 40. */
  readonly looks?: number
  /** Milliseconds between the first two looks. Default 100. */
  readonly firstMs?: number | undefined
  /** Factor from each wait to the next, up to 5 s. Default 1.5; 1 keeps the waits equal. */
  readonly growth?: number
}

/** Repeats `look` until it returns a value: databases accept writes at once, and index or show them some time later. */
export const awaited = Effect.fnUntraced(
  function*<A>(
    look: Effect.Effect<A | undefined, ServiceError>,
    { firstMs = 100, growth = 1.5, late, looks = 40 }: AwaitedOptions
  ): Effect.fn.Return<A, ServiceError> {
    for (let at = 0; at < looks; at++) {
      const found = yield* look
      if (found !== undefined) return found
      yield* Effect.sleep(Math.min(longestMs, firstMs * growth ** at))
    }
    return yield* new ServiceError({ code: "DEADLINE_EXCEEDED", message: late })
  }
)

const bearer = (key: string): Readonly<Record<string, string>> => ({ authorization: `Bearer ${key}` })
