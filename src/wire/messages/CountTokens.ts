import { int32, list, message, of, type Of, string, value } from "../Message.ts"
import { Content } from "./Content.ts"
import { modalityTokens } from "./GenerateContent.ts"
import { GenerationConfig } from "./GenerationConfig.ts"
import { Tool } from "./Tool.ts"

export const CountTokensRequest = message("CountTokensRequest", {
  endpoint: string,
  model: string,
  instances: list(value),
  contents: list(of(Content)),
  systemInstruction: of(Content),
  tools: list(of(Tool)),
  generationConfig: of(GenerationConfig)
})
export type CountTokensRequest = Of<typeof CountTokensRequest>

export const CountTokensResponse = message("CountTokensResponse", {
  totalTokens: int32,
  totalBillableCharacters: int32,
  promptTokensDetails: modalityTokens
})
export type CountTokensResponse = Of<typeof CountTokensResponse>
