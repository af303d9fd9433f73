import { Effect, Layer, Stream } from "effect"
import type { HttpClient } from "effect/http"
import { ServiceError } from "../domain/Errors.ts"
import { ChatModel } from "../ports/ChatModel.ts"
import type { Secrets } from "../ports/Secrets.ts"
import { chatBody, type Dialect, limitOf } from "./openai/ChatBody.ts"
import { chatEvents } from "./openai/ChatEvents.ts"
import { type Connection, connect, type Service } from "./openai/Connection.ts"

export interface OpenAiChatOptions extends Connection {
  /** Further fields of every request's body: `temperature`, `reasoning_effort`, … Fields of the request itself take precedence. */
  readonly parameters?: Readonly<Record<string, unknown>>
}

/**
 * A model behind any `/chat/completions` URL compatible with OpenAI's. A given start of the answer is sent as the last message, which
 * servers of open models continue.
 */
export const make = Effect.fnUntraced(function*(options: OpenAiChatOptions) {
  const { parameters = {} } = options
  for (const field of ["model", "messages", "stream", "stream_options", "n"]) {
    if (field in parameters) return yield* ServiceError.invalid(`parameters.${field}`, "is set by the model itself")
  }
  return over(yield* connect(options, "chat/completions", "answers"), options)
})

/** The chat model over an existing connection. */
export const over = (
  service: Service,
  { model, parameters = {}, timeoutMs = 60_000 }: Pick<OpenAiChatOptions, "model" | "parameters" | "timeoutMs">
): ChatModel["Service"] => {
  const dialect: Dialect = { model, limit: limitOf(service.host) }
  return ChatModel.of({
    model,
    stream: (request) =>
      Stream.unwrap(
        Effect.map(Effect.fromResult(chatBody(dialect, request)), (body) => chatEvents(service, { ...parameters, ...body }, timeoutMs))
      ).pipe(
        Stream.withSpan("ChatModel.stream", { attributes: { model, turns: request.turns.length } })
      )
  })
}

export const layer = (options: OpenAiChatOptions): Layer.Layer<ChatModel, ServiceError, HttpClient.HttpClient | Secrets> =>
  Layer.effect(ChatModel, make(options))
