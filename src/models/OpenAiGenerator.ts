import { Effect, Layer } from "effect"
import type { HttpClient } from "effect/http"
import type { ServiceError } from "../domain/Errors.ts"
import { Generator } from "../ports/Generator.ts"
import type { Secrets } from "../ports/Secrets.ts"
import * as GroundedGenerator from "./GroundedGenerator.ts"
import * as OpenAiChat from "./OpenAiChat.ts"

export interface OpenAiGeneratorOptions extends OpenAiChat.OpenAiChatOptions {
  /** Most UTF-16 units of all contexts in a prompt. Default 100,000. */
  readonly maxContextCharacters?: number
}

/** Answers through any `/chat/completions` URL compatible with OpenAI's, streaming, with verified citations. */
export const make = Effect.fnUntraced(function*(options: OpenAiGeneratorOptions) {
  return GroundedGenerator.make(yield* OpenAiChat.make(options), options.maxContextCharacters)
})

export const layer = (
  options: OpenAiGeneratorOptions
): Layer.Layer<Generator, ServiceError, HttpClient.HttpClient | Secrets> => Layer.effect(Generator, make(options))
