import { Effect, Redacted, Schema } from "effect"
import { type HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { asServiceError, type ServiceError } from "../domain/Errors.ts"
import type { SecretVersion } from "../domain/Secret.ts"
import { callOnce, jsonOf } from "../net/Call.ts"
import type { GoogleAuth } from "../net/GoogleAuth.ts"
import { redactText } from "../net/Redact.ts"
import { retry, type RetryOptions } from "../net/Retry.ts"
import type { Secrets } from "../ports/Secrets.ts"
import type { VectorSpace } from "../ports/VectorStore.ts"
import { blamed, type Fields, renewing } from "./Chunks.ts"

/** What every store that is called over HTTP needs, whatever its database. */
export interface RestStoreOptions {
  readonly space: VectorSpace
  readonly secrets: Secrets["Service"]
  readonly http: HttpClient.HttpClient
  readonly retry?: RetryOptions | undefined
}

export interface RestOptions {
  readonly http: HttpClient.HttpClient
  /** What paths begin after. */
  readonly baseUrl: string
  /** For people: `Weaviate at docs.acme.com`. */
  readonly what: string
  /** What of the pipeline file an error is about. */
  readonly fields: Fields
  readonly key?: SecretVersion | undefined
  readonly secrets: Secrets["Service"]
  /** Google credentials, where they are wanted instead of a key. */
  readonly auth?: GoogleAuth["Service"]
  /** Headers that carry the key. Default `authorization: Bearer`. */
  readonly credentials?: (key: string) => Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly retry?: RetryOptions | undefined
}

export interface RestRequest {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  /** Written as JSON; a text is taken for JSON that was written already. */
  readonly body?: unknown
  /** Answers that are no errors. Default: any 2xx. */
  readonly accept?: (status: number) => boolean
}

export interface RestAnswer {
  readonly status: number
  readonly headers: HttpClientResponse.HttpClientResponse["headers"]
  /** Undefined where there is none. */
  readonly json: unknown
}

/** Answers that are no errors where what is asked for need not be there. */
export const orMissing = (status: number): boolean => status === 200 || status === 404

/** Whether what answers the question that every such database answers has no answer to it. */
export const isStranger = ({ code }: ServiceError): boolean => code === "NOT_FOUND"

/** Reads what a server answers; `otherwise` says what is wrong where that is not as its API has it. */
export const decoder = (otherwise: () => ServiceError) => <A>(schema: Schema.Decoder<A>, json: unknown): Effect.Effect<A, ServiceError> =>
  Effect.mapError(Schema.decodeUnknownEffect(schema)(json), otherwise)

/** Milliseconds until an answer begins: a batch is indexed before it is answered. */
const timeoutMs = 60_000

/**
 * Calls of a database over HTTP, each of which may be made twice: under a timeout, tried again (bounded, jittered,
 * honouring `Retry-After`), with the key as it is now after it was refused. No key is in an error.
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

const bearer = (key: string): Readonly<Record<string, string>> => ({ authorization: `Bearer ${key}` })
