import { GenerateContentRequest, GenerateContentResponse } from "../messages/GenerateContent.ts"
import { CountTokensRequest, CountTokensResponse } from "../messages/CountTokens.ts"
import { EmbedContentRequest, EmbedContentResponse } from "../messages/EmbedContent.ts"
import { rawRoute, route } from "../Route.ts"

const models = [
  "{model=projects/*/locations/*/publishers/*/models/*}",
  "{model=projects/*/locations/*/endpoints/*}",
  "{model=publishers/*/models/*}",
  "{model=endpoints/*}"
] as const

const endpoints = [
  "{endpoint=projects/*/locations/*/publishers/*/models/*}",
  "{endpoint=projects/*/locations/*/endpoints/*}",
  "{endpoint=publishers/*/models/*}",
  "{endpoint=endpoints/*}"
] as const

/** Inline data of 20 MB, in base64, and as much again of the rest. */
const mostBytes = 48 * 1024 * 1024

export const generationRoutes = {
  generateContent: route("PredictionService.GenerateContent", "POST", models.map((model) => `${model}:generateContent` as const), {
    body: GenerateContentRequest,
    response: GenerateContentResponse,
    mostBytes
  }),
  streamGenerateContent: route(
    "PredictionService.StreamGenerateContent",
    "POST",
    models.map((model) => `${model}:streamGenerateContent` as const),
    { body: GenerateContentRequest, response: GenerateContentResponse, stream: true, mostBytes }
  ),
  countTokens: route("PredictionService.CountTokens", "POST", endpoints.map((endpoint) => `${endpoint}:countTokens` as const), {
    body: CountTokensRequest,
    response: CountTokensResponse,
    mostBytes
  }),
  embedContent: route("PredictionService.EmbedContent", "POST", "{model=projects/*/locations/*/publishers/*/models/*}:embedContent", {
    body: EmbedContentRequest,
    response: EmbedContentResponse
  }),
  /** As OpenAI's clients speak; `openapi` stands for all models of the platform. */
  chatCompletions: rawRoute("PredictionService.ChatCompletions", "{endpoint=projects/*/locations/*/endpoints/*}/chat/completions", { mostBytes })
}
