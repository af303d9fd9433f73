import {
  CachedContent,
  ListCachedContentsRequest,
  ListCachedContentsResponse,
  UpdateCachedContentQuery
} from "../messages/CachedContent.ts"
import { GenerateContentRequest, GenerateContentResponse } from "../messages/GenerateContent.ts"
import { CountTokensRequest, CountTokensResponse } from "../messages/CountTokens.ts"
import { EmbedContentRequest, EmbedContentResponse } from "../messages/EmbedContent.ts"
import { Empty } from "../messages/Rpc.ts"
import { location, rawRoute, route } from "../Route.ts"

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

const cached = `${location}/cachedContents/*` as const

/** Most bytes of a body: 20 MB of inline data in base64, and about as much of everything else. */
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
  createCachedContent: route("GenAiCacheService.CreateCachedContent", "POST", `{parent=${location}}/cachedContents`, {
    body: CachedContent,
    bodyField: "cached_content",
    response: CachedContent,
    mostBytes
  }),
  listCachedContents: route("GenAiCacheService.ListCachedContents", "GET", `{parent=${location}}/cachedContents`, {
    query: ListCachedContentsRequest,
    response: ListCachedContentsResponse
  }),
  getCachedContent: route("GenAiCacheService.GetCachedContent", "GET", `{name=${cached}}`, { response: CachedContent }),
  updateCachedContent: route("GenAiCacheService.UpdateCachedContent", "PATCH", `{name=${cached}}`, {
    query: UpdateCachedContentQuery,
    body: CachedContent,
    bodyField: "cached_content",
    response: CachedContent
  }),
  deleteCachedContent: route("GenAiCacheService.DeleteCachedContent", "DELETE", `{name=${cached}}`, { response: Empty }),
  /** The method for OpenAI's clients. The endpoint `openapi` stands for all models of the platform. */
  chatCompletions: rawRoute("PredictionService.ChatCompletions", "{endpoint=projects/*/locations/*/endpoints/*}/chat/completions", {
    mostBytes
  })
}
