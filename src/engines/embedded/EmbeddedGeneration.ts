import { randomUUID } from "node:crypto"
import { DateTime, Effect, Layer, Stream } from "effect"
import { renamed } from "../../domain/ChatRefusal.ts"
import { ServiceError } from "../../domain/Errors.ts"
import type { CountRequest, GenerationRequest } from "../../domain/generation/Generation.ts"
import { refusedCount, refusedGeneration } from "../../domain/generation/GenerationRules.ts"
import { ChatModel } from "../../ports/ChatModel.ts"
import { Generation } from "../../ports/Generation.ts"
import { chatOf, generationField } from "./generation/ChatOf.ts"
import { bareEnum, responsesOf, wholeOf } from "./generation/ResponseOf.ts"

/**
 * Content generation by the configured chat model, whatever model a request names; responses name the model that answered. `countTokens`
 * counts the tokens of a text, which another model may count differently.
 */
export const layer = (countTokens: (text: string) => number): Layer.Layer<Generation, never, ChatModel> =>
  Layer.effect(
    Generation,
    Effect.gen(function*() {
      const chat = yield* ChatModel

      const open = Effect.fnUntraced(function*(model: string, request: GenerationRequest, stream: boolean) {
        const refused = refusedGeneration({ model, stream }, request)
        if (refused !== undefined) return yield* refused
        const { responseMimeType, thinkingConfig } = request.generationConfig ?? {}
        const events = chat.stream(yield* chatOf(request)).pipe(Stream.mapError((error) => renamed(error, generationField)))
        return responsesOf(responseMimeType === "text/x.enum" ? bareEnum(events) : events, {
          identity: { modelVersion: chat.model, responseId: randomUUID(), createTime: DateTime.formatIso(yield* DateTime.now) },
          thoughts: thinkingConfig?.includeThoughts === true
        })
      })

      return Generation.of({
        generate: Effect.fn("Generation.generate")(function*(model: string, request: GenerationRequest) {
          const pieces = yield* Stream.runCollect(yield* open(model, request, false))
          return wholeOf(pieces)
        }),
        stream: (model, request) =>
          Stream.unwrap(open(model, request, true)).pipe(Stream.withSpan("Generation.stream", { attributes: { model } })),
        countTokens: Effect.fn("Generation.countTokens")(function*(_model: string, request: CountRequest) {
          const refused = refusedCount(request)
          if (refused !== undefined) return yield* refused
          const texts = yield* textsOf(request)
          return {
            totalTokens: texts.reduce((sum, text) => sum + countTokens(text), 0),
            totalBillableCharacters: texts.reduce((sum, text) => sum + [...text.replaceAll(/\s+/g, "")].length, 0)
          }
        })
      })
    })
  )

/** All texts of a request. Pictures and sounds are left out: only their model knows how many tokens they have. */
const textsOf = Effect.fnUntraced(function*({ contents, generationConfig = {}, systemInstruction, tools = [] }: CountRequest) {
  const parts = [
    ...(systemInstruction?.parts ?? []).map((part, j) => ({ part, at: `systemInstruction.parts[${j}]` })),
    ...contents.flatMap(({ parts = [] }, i) => parts.map((part, j) => ({ part, at: `contents[${i}].parts[${j}]` })))
  ]
  const media = parts.find(({ part }) => part.inlineData !== undefined || part.fileData !== undefined)
  if (media !== undefined) {
    return yield* ServiceError.invalid(
      media.at,
      "tokens of media are not counted on this machine",
      "Ask the hosted service, or leave it out."
    )
  }
  const { responseJsonSchema, responseSchema } = generationConfig
  return [
    ...parts.map(({ part: { text, thought: _, ...others } }) => text ?? JSON.stringify(others)),
    ...[...tools, responseSchema, responseJsonSchema].flatMap((json) => (json === undefined ? [] : [JSON.stringify(json)]))
  ]
})
