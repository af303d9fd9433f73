import { Result } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import {
  type CountRequest,
  finishReasons,
  type GenerationRequest,
  type GenerationResponse,
  type TokenCount
} from "../../domain/generation/Generation.ts"
import { isJsonObject } from "../Message.ts"
import type { CountTokensRequest, CountTokensResponse } from "../messages/CountTokens.ts"
import type { GenerateContentRequest, GenerateContentResponse } from "../messages/GenerateContent.ts"

// The domain's types of generation are modelled on the API: most fields of a message are used unchanged, and the compiler
// checks here that the two agree.

export const generationToWire = (request: GenerationRequest): GenerateContentRequest => request

export const generationFromWire = (wire: GenerateContentRequest): GenerationRequest => ({ ...wire, contents: wire.contents ?? [] })

export const generationResponseToWire = (response: GenerationResponse): GenerateContentResponse => response

/** Decodes a response. Finish reasons may have the documentation's long spelling; unknown ones become `OTHER`. */
export const generationResponseFromWire = ({ candidates, ...wire }: GenerateContentResponse): GenerationResponse => ({
  ...wire,
  ...(candidates === undefined ? {} : {
    candidates: candidates.map(({ finishReason, ...candidate }) => ({
      ...candidate,
      ...(finishReason === undefined ? {} : { finishReason: finishReasonOf(finishReason) })
    }))
  })
})

const finishReasonOf = (written: string) => {
  const short = written.replace(/^FINISH_REASON_(?!UNSPECIFIED$)/, "")
  return finishReasons.find((reason) => reason === short) ?? "OTHER"
}

export const countToWire = (request: CountRequest): CountTokensRequest => request

/**
 * Decodes a request to count. Google's Python SDK sends an empty system instruction where the caller gave none, and texts to embed as
 * instances.
 */
export const countFromWire = (
  { contents = [], instances = [], systemInstruction, ...wire }: CountTokensRequest
): Result.Result<CountRequest, ServiceError> => {
  const texts = instances.map((instance) => (isJsonObject(instance) ? instance["content"] : undefined))
  const wrong = texts.findIndex((text) => typeof text !== "string")
  if (wrong >= 0) return Result.fail(ServiceError.invalid(`instances[${wrong}].content`, "must be a text"))
  return Result.succeed({
    ...wire,
    contents: [...contents, ...texts.map((text) => ({ role: "user", parts: [{ text: String(text) }] }))],
    ...((systemInstruction?.parts ?? []).length === 0 ? {} : { systemInstruction })
  })
}

export const tokenCountToWire = (count: TokenCount): CountTokensResponse => count

export const tokenCountFromWire = ({ totalBillableCharacters = 0, totalTokens = 0 }: CountTokensResponse): TokenCount => ({
  totalTokens,
  totalBillableCharacters: totalBillableCharacters === 0 ? undefined : totalBillableCharacters
})
