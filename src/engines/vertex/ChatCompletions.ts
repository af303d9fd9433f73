import { Effect } from "effect"
import { HttpClientRequest, type HttpClientResponse } from "effect/http"
import type { ServiceError } from "../../domain/Errors.ts"
import { path, routes } from "../../wire/Routes.ts"
import { type Transport, version } from "./Transport.ts"
import { answered } from "./Unanswered.ts"

/** Most milliseconds until an answer starts. */
const idleMs = 60_000

/** Calls the service's `endpoints/openapi`: in OpenAI's protocol, with the project's credentials, quota and retries. */
export interface ChatCompletions {
  readonly host: string
  readonly what: string
  /** Secrets that an answer could repeat: none, as the transport handles tokens. */
  readonly secrets: () => ReadonlyArray<never>
  readonly post: <A>(
    body: object,
    read: (response: HttpClientResponse.HttpClientResponse) => Effect.Effect<A, ServiceError>
  ) => Effect.Effect<A, ServiceError>
}

export const chatCompletions = (transport: Transport["Service"], model: string): Effect.Effect<ChatCompletions, ServiceError> =>
  Effect.map(Effect.fromResult(path(routes.chatCompletions, version, { endpoint: `${transport.parent}/endpoints/openapi` })), (where) => {
    const { baseUrl, host } = transport.endpoint
    return {
      host,
      what: `${model} of ${host}`,
      secrets: () => [],
      post: (body, read) => {
        const request = HttpClientRequest.post(`${baseUrl}${where}`).pipe(HttpClientRequest.bodyJsonUnsafe(body))
        return transport.retry(answered(transport.send({ what: model, request, bucket: "generate", timeoutMs: idleMs }, read)))
      }
    }
  })
