import { bytes, deprecated, double, duration, float, int32, list, message, of, oneof, type Of, optional, string } from "../Message.ts"
import { Content } from "./Content.ts"
import { RagChunk, VertexRagStore } from "./Retrieval.ts"

const RetrievedContext = message("GroundingChunk.RetrievedContext", {
  ragChunk: oneof("context_details", of(RagChunk)),
  uri: optional(string),
  title: optional(string),
  text: optional(string),
  documentName: optional(string)
})

const ReviewSnippet = message("GroundingChunk.Maps.PlaceAnswerSources.ReviewSnippet", {
  reviewId: string,
  googleMapsUri: string,
  title: string
})

const Maps = message("GroundingChunk.Maps", {
  uri: optional(string),
  title: optional(string),
  text: optional(string),
  placeId: optional(string),
  placeAnswerSources: of(message("GroundingChunk.Maps.PlaceAnswerSources", { reviewSnippets: list(of(ReviewSnippet)) })),
  route: of(message("GroundingChunk.Maps.Route", { distanceMeters: int32, duration, encodedPolyline: string }))
})

export const GroundingChunk = message("GroundingChunk", {
  web: oneof("chunk_type", of(message("GroundingChunk.Web", { uri: optional(string), title: optional(string) }))),
  retrievedContext: oneof("chunk_type", of(RetrievedContext)),
  maps: oneof("chunk_type", of(Maps))
})
export type GroundingChunk = Of<typeof GroundingChunk>

/** A segment of a part. Indices count bytes of UTF-8 within the part. */
const Segment = message("Segment", { partIndex: int32, startIndex: int32, endIndex: int32, text: string })

const GroundingSupport = message("GroundingSupport", {
  segment: of(Segment),
  groundingChunkIndices: list(int32),
  confidenceScores: list(float)
})

export const GroundingMetadata = message("GroundingMetadata", {
  webSearchQueries: list(string),
  searchEntryPoint: of(message("SearchEntryPoint", { renderedContent: string, sdkBlob: bytes })),
  retrievalQueries: list(string),
  groundingChunks: list(of(GroundingChunk)),
  groundingSupports: list(of(GroundingSupport)),
  retrievalMetadata: of(message("RetrievalMetadata", { googleSearchDynamicRetrievalScore: float })),
  googleMapsWidgetContextToken: optional(string),
  sourceFlaggingUris: list(of(message("GroundingMetadata.SourceFlaggingUri", { sourceId: string, flagContentUri: string })))
})
export type GroundingMetadata = Of<typeof GroundingMetadata>

export const Fact = message("Fact", {
  query: optional(string),
  title: optional(string),
  uri: optional(string),
  summary: optional(string),
  vectorDistance: deprecated(optional(double)),
  score: optional(double),
  chunk: of(RagChunk)
})
export type Fact = Of<typeof Fact>

export const AugmentPromptRequest = message("AugmentPromptRequest", {
  vertexRagStore: oneof("data_source", of(VertexRagStore)),
  contents: list(of(Content)),
  model: of(message("AugmentPromptRequest.Model", { model: string, modelVersion: string }))
})
export type AugmentPromptRequest = Of<typeof AugmentPromptRequest>

export const AugmentPromptResponse = message("AugmentPromptResponse", { augmentedPrompt: list(of(Content)), facts: list(of(Fact)) })
export type AugmentPromptResponse = Of<typeof AugmentPromptResponse>

export const CorroborateContentRequest = message("CorroborateContentRequest", {
  content: of(Content),
  facts: list(of(Fact)),
  parameters: of(message("CorroborateContentRequest.Parameters", { citationThreshold: double }))
})
export type CorroborateContentRequest = Of<typeof CorroborateContentRequest>

export const CorroborateContentResponse = message("CorroborateContentResponse", {
  corroborationScore: optional(float),
  claims: list(of(message("Claim", {
    startIndex: optional(int32),
    endIndex: optional(int32),
    factIndexes: list(int32),
    score: optional(float)
  })))
})
export type CorroborateContentResponse = Of<typeof CorroborateContentResponse>
