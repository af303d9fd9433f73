import { Effect, Layer } from "effect"
import type { JsonRecord } from "../domain/Chat.ts"
import { modelId } from "../domain/batch/BatchPrediction.ts"
import { Generation } from "../ports/Generation.ts"
import { PartnerChat } from "../ports/PartnerChat.ts"
import { type AnswerRow, RowModels } from "../ports/RowModels.ts"
import { generationFromWire, generationResponseToWire } from "../wire/generation/Generations.ts"
import { answerToWire } from "../wire/partner/PartnerAnswers.ts"
import { messageFromWire } from "../wire/partner/PartnerRequests.ts"
import { encodeResponse, routes } from "../wire/Routes.ts"
import { readBody } from "../wire/tolerant/Request.ts"
import { take } from "./Call.ts"

/** Models for rows of batch jobs: each row is handled as the API call whose format it has, by the server's model. */
export const layer: Layer.Layer<never, never, Generation | PartnerChat> = Layer.effect(
  RowModels,
  Effect.gen(function*() {
    const generation = yield* Generation
    const partner = yield* PartnerChat
    const gemini: AnswerRow = Effect.fnUntraced(function*(model, request) {
      const body = yield* take(readBody(routes.generateContent, JSON.stringify(request), { version: "v1" }))
      const response = yield* generation.generate(modelId(model), generationFromWire(body))
      return encodeResponse(routes.generateContent, generationResponseToWire(response), { version: "v1" })
    })
    const anthropic: AnswerRow = Effect.fnUntraced(function*(model, request) {
      const { request: message } = yield* take(messageFromWire(modelId(model), Buffer.from(JSON.stringify(request))))
      return answerToWire(yield* partner.message(message)) as JsonRecord // it is JSON
    })
    return { gemini, anthropic }
  })
)
