import { bool, deprecated, enumeration, float, int32, list, message, of, type Of, optional, string } from "../Message.ts"
import { Content } from "./Content.ts"
import { modalityTokens } from "./GenerateContent.ts"

const taskType = optional(enumeration("EmbedContentRequest.EmbeddingTaskType", {
  UNSPECIFIED: 0,
  RETRIEVAL_QUERY: 2,
  RETRIEVAL_DOCUMENT: 3,
  SEMANTIC_SIMILARITY: 4,
  CLASSIFICATION: 5,
  CLUSTERING: 6,
  QUESTION_ANSWERING: 7,
  FACT_VERIFICATION: 8,
  CODE_RETRIEVAL_QUERY: 9
}))

const EmbedContentConfig = message("EmbedContentRequest.EmbedContentConfig", {
  title: optional(string),
  taskType,
  autoTruncate: optional(bool),
  outputDimensionality: optional(int32),
  documentOcr: optional(bool),
  audioTrackExtraction: optional(bool)
})

export const EmbedContentRequest = message("EmbedContentRequest", {
  model: optional(string),
  content: optional(of(Content)),
  title: deprecated(optional(string)),
  taskType: deprecated(taskType),
  outputDimensionality: deprecated(optional(int32)),
  autoTruncate: deprecated(optional(bool)),
  embedContentConfig: optional(of(EmbedContentConfig))
})
export type EmbedContentRequest = Of<typeof EmbedContentRequest>

const UsageMetadata = message("UsageMetadata", {
  promptTokenCount: int32,
  candidatesTokenCount: int32,
  totalTokenCount: int32,
  toolUsePromptTokenCount: int32,
  thoughtsTokenCount: int32,
  cachedContentTokenCount: int32,
  promptTokensDetails: modalityTokens,
  cacheTokensDetails: modalityTokens,
  candidatesTokensDetails: modalityTokens,
  toolUsePromptTokensDetails: modalityTokens,
  trafficType: enumeration("UsageMetadata.TrafficType", ["TRAFFIC_TYPE_UNSPECIFIED", "ON_DEMAND", "PROVISIONED_THROUGHPUT"])
})

export const EmbedContentResponse = message("EmbedContentResponse", {
  embedding: of(message("EmbedContentResponse.Embedding", { values: list(float) })),
  usageMetadata: of(UsageMetadata),
  truncated: bool
})
export type EmbedContentResponse = Of<typeof EmbedContentResponse>
