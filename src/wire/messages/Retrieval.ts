import { bool, deprecated, double, float, int32, list, message, of, oneof, only, type Of, optional, string } from "../Message.ts"

const HybridSearch = message("RagRetrievalConfig.HybridSearch", { alpha: optional(float) })

const Filter = message("RagRetrievalConfig.Filter", {
  vectorDistanceThreshold: oneof("vector_db_threshold", double),
  vectorSimilarityThreshold: oneof("vector_db_threshold", double),
  metadataFilter: string
})

const Ranking = message("RagRetrievalConfig.Ranking", {
  rankService: oneof("ranking_config", of(message("RagRetrievalConfig.Ranking.RankService", { modelName: optional(string) }))),
  llmRanker: oneof("ranking_config", of(message("RagRetrievalConfig.Ranking.LlmRanker", { modelName: optional(string) })))
})

export const RagRetrievalConfig = message("RagRetrievalConfig", {
  topK: int32,
  hybridSearch: only("v1beta1", of(HybridSearch)),
  filter: of(Filter),
  ranking: of(Ranking)
})
export type RagRetrievalConfig = Of<typeof RagRetrievalConfig>

const resource = { ragCorpus: string, ragFileIds: list(string) }

/** The store of `retrieveContexts`. Generation has another message with the same core fields. */
const RetrieveContextsStore = message("RetrieveContextsRequest.VertexRagStore", {
  ragCorpora: only("v1beta1", deprecated(list(string))),
  ragResources: list(of(message("RetrieveContextsRequest.VertexRagStore.RagResource", resource))),
  vectorDistanceThreshold: deprecated(optional(double))
})

/** The store of a generation request's tool, and of `augmentPrompt`. */
export const VertexRagStore = message("VertexRagStore", {
  ragCorpora: only("v1beta1", deprecated(list(string))),
  ragResources: list(of(message("VertexRagStore.RagResource", resource))),
  similarityTopK: deprecated(optional(int32)),
  vectorDistanceThreshold: deprecated(optional(double)),
  ragRetrievalConfig: of(RagRetrievalConfig),
  storeContext: only("v1beta1", bool)
})
export type VertexRagStore = Of<typeof VertexRagStore>

export const RagQuery = message("RagQuery", {
  text: oneof("query", string),
  similarityTopK: only("v1beta1", deprecated(int32)),
  ranking: only("v1beta1", deprecated(of(message("RagQuery.Ranking", { alpha: optional(float) })))),
  ragRetrievalConfig: of(RagRetrievalConfig)
})

export const RetrieveContextsRequest = message("RetrieveContextsRequest", {
  vertexRagStore: oneof("data_source", of(RetrieveContextsStore)),
  query: of(RagQuery)
})
export type RetrieveContextsRequest = Of<typeof RetrieveContextsRequest>

export const RagChunk = message("RagChunk", {
  text: string,
  pageSpan: of(message("RagChunk.PageSpan", { firstPage: int32, lastPage: int32 })),
  fileId: only("v1beta1", string),
  chunkId: only("v1beta1", string)
})
export type RagChunk = Of<typeof RagChunk>

const RagContext = message("RagContexts.Context", {
  sourceUri: string,
  sourceDisplayName: string,
  text: string,
  distance: only("v1beta1", deprecated(double)),
  sparseDistance: only("v1beta1", deprecated(double)),
  score: optional(double),
  chunk: of(RagChunk)
})

export const RagContexts = message("RagContexts", { contexts: list(of(RagContext)) })

export const RetrieveContextsResponse = message("RetrieveContextsResponse", { contexts: of(RagContexts) })
export type RetrieveContextsResponse = Of<typeof RetrieveContextsResponse>
