import {
  bool,
  deprecated,
  enumeration,
  float,
  int32,
  kept,
  list,
  message,
  of,
  oneof,
  only,
  optional,
  type Of,
  string,
  timestamp
} from "../Message.ts"
import { LlmParser } from "./RagFileParsingConfig.ts"

export const ApiKeyConfig = message("ApiAuth.ApiKeyConfig", { apiKeySecretVersion: string })

const ApiAuth = message("ApiAuth", { apiKeyConfig: oneof("auth_config", of(ApiKeyConfig)) })

const VertexPredictionEndpoint = message("RagEmbeddingModelConfig.VertexPredictionEndpoint", {
  endpoint: string,
  model: string,
  modelVersionId: string
})

const Bm25 = message("RagEmbeddingModelConfig.SparseEmbeddingConfig.Bm25", {
  multilingual: bool,
  k1: optional(float),
  b: optional(float)
})

const HybridSearchConfig = message("RagEmbeddingModelConfig.HybridSearchConfig", {
  sparseEmbeddingConfig: of(message("RagEmbeddingModelConfig.SparseEmbeddingConfig", { bm25: oneof("model", of(Bm25)) })),
  denseEmbeddingModelPredictionEndpoint: of(VertexPredictionEndpoint)
})

const RagEmbeddingModelConfig = message("RagEmbeddingModelConfig", {
  vertexPredictionEndpoint: oneof("model_config", of(VertexPredictionEndpoint)),
  hybridSearchConfig: only("v1beta1", oneof("model_config", of(HybridSearchConfig)))
})

const Ann = message("RagVectorDbConfig.RagManagedDb.ANN", { treeDepth: int32, leafCount: int32 })

const RagManagedDb = message("RagVectorDbConfig.RagManagedDb", {
  knn: oneof("retrieval_strategy", of(message("RagVectorDbConfig.RagManagedDb.KNN", {}))),
  ann: oneof("retrieval_strategy", of(Ann))
})

const Weaviate = message("RagVectorDbConfig.Weaviate", { httpEndpoint: string, collectionName: string })
const Pinecone = message("RagVectorDbConfig.Pinecone", { indexName: string })
const VertexFeatureStore = message("RagVectorDbConfig.VertexFeatureStore", { featureViewResourceName: string })
export const VertexVectorSearch = message("RagVectorDbConfig.VertexVectorSearch", { indexEndpoint: string, index: string })

const RagManagedVertexVectorSearch = message("RagVectorDbConfig.RagManagedVertexVectorSearch", { collectionName: string })

export const RagVectorDbConfig = message("RagVectorDbConfig", {
  ragManagedDb: oneof("vector_db", of(RagManagedDb)),
  weaviate: only("v1beta1", oneof("vector_db", of(Weaviate))),
  pinecone: oneof("vector_db", of(Pinecone)),
  vertexFeatureStore: only("v1beta1", oneof("vector_db", of(VertexFeatureStore))),
  vertexVectorSearch: oneof("vector_db", of(VertexVectorSearch)),
  ragManagedVertexVectorSearch: only("v1beta1", oneof("vector_db", of(RagManagedVertexVectorSearch))),
  apiAuth: of(ApiAuth),
  ragEmbeddingModelConfig: of(RagEmbeddingModelConfig)
})
export type RagVectorDbConfig = Of<typeof RagVectorDbConfig>

const VertexAiSearchConfig = message("VertexAiSearchConfig", { servingConfig: string })

const CorpusStatus = message("CorpusStatus", {
  state: enumeration("CorpusStatus.State", ["UNKNOWN", "INITIALIZED", "ACTIVE", "ERROR"]),
  errorStatus: string
})

export const EncryptionSpec = message("EncryptionSpec", { kmsKeyName: string })

const CorpusTypeConfig = message("RagCorpus.CorpusTypeConfig", {
  documentCorpus: oneof("corpus_type_config", of(message("RagCorpus.CorpusTypeConfig.DocumentCorpus", {}))),
  memoryCorpus: oneof(
    "corpus_type_config",
    of(message("RagCorpus.CorpusTypeConfig.MemoryCorpus", { llmParser: of(LlmParser) }))
  )
})

export const RagCorpus = message("RagCorpus", {
  vectorDbConfig: oneof("backend_config", of(RagVectorDbConfig)),
  vertexAiSearchConfig: oneof("backend_config", of(VertexAiSearchConfig)),
  name: string,
  displayName: string,
  description: string,
  ragEmbeddingModelConfig: only("v1beta1", deprecated(of(RagEmbeddingModelConfig))),
  ragVectorDbConfig: only("v1beta1", deprecated(of(RagVectorDbConfig))),
  createTime: timestamp,
  updateTime: timestamp,
  corpusStatus: of(CorpusStatus),
  ragFilesCount: only("v1beta1", int32),
  encryptionSpec: of(EncryptionSpec),
  corpusTypeConfig: only("v1beta1", of(CorpusTypeConfig)),
  satisfiesPzs: only("v1beta1", bool),
  satisfiesPzi: only("v1beta1", bool)
})
export type RagCorpus = Of<typeof RagCorpus>

export const ListRagCorporaRequest = message("ListRagCorporaRequest", { pageSize: int32, pageToken: string })
export const ListRagCorporaResponse = message("ListRagCorporaResponse", { ragCorpora: list(of(RagCorpus)), nextPageToken: string })
export const DeleteRagCorpusRequest = message("DeleteRagCorpusRequest", { force: kept(bool), forceDelete: only("v1beta1", kept(bool)) })
