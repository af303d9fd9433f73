import {
  type CountRequest,
  finishReasons,
  type GenerationRequest,
  type GenerationResponse,
  type TokenCount
} from "../../domain/generation/Generation.ts"
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

/** Decodes a request to count. Google's Python SDK sends an empty system instruction where the caller gave none. */
export const countFromWire = ({ contents = [], systemInstruction, ...wire }: CountTokensRequest): CountRequest => ({
  ...wire,
  contents,
  ...((systemInstruction?.parts ?? []).length === 0 ? {} : { systemInstruction })
})

export const tokenCountToWire = (count: TokenCount): CountTokensResponse => count

export const tokenCountFromWire = ({ totalBillableCharacters = 0, totalTokens = 0 }: CountTokensResponse): TokenCount => ({
  totalTokens,
  totalBillableCharacters: totalBillableCharacters === 0 ? undefined : totalBillableCharacters
})
