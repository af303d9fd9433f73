import { Effect, Layer } from "effect"
import type { HttpClient } from "effect/http"
import { ServiceError } from "../domain/Errors.ts"
import { Generator } from "../ports/Generator.ts"
import type { Secrets } from "../ports/Secrets.ts"
import * as GroundedGenerator from "./GroundedGenerator.ts"
import { chatEvents } from "./openai/chatEvents.ts"
import { type Connection, connect } from "./openai/Connection.ts"

export interface OpenAiGeneratorOptions extends Connection {
  /** UTF-16 units of contexts in a prompt, together. Default 100,000. */
  readonly maxContextCharacters?: number
  /** Further fields of the request body: `temperature`, `max_tokens`, `reasoning_effort`, … */
  readonly parameters?: Readonly<Record<string, unknown>>
}

/** Answers through any `/chat/completions` URL that speaks as OpenAI's does, streaming, with verified citations. */
export const make = Effect.fnUntraced(function*(options: OpenAiGeneratorOptions) {
  const { model, parameters = {} } = options
  for (const field of ["model", "messages", "stream", "stream_options", "n"]) {
    if (field in parameters) return yield* ServiceError.invalid(`parameters.${field}`, "is set by the generator itself")
  }
  const service = yield* connect(options, "chat/completions", "answers")
  return GroundedGenerator.make({
    model,
    what: service.what,
    write: (messages) =>
      chatEvents(
        service,
        { ...parameters, model, messages, stream: true, stream_options: { include_usage: true } },
        options.timeoutMs ?? 60_000
      )
  }, options.maxContextCharacters)
})

export const layer = (
  options: OpenAiGeneratorOptions
): Layer.Layer<Generator, ServiceError, HttpClient.HttpClient | Secrets> => Layer.effect(Generator, make(options))
