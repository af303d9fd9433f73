import { Result } from "effect"
import { type Corpus, CorpusName, type CorpusPatch, type CorpusSpec, CorpusState, type VectorDb } from "../domain/Corpus.ts"
import { ServiceError } from "../domain/Errors.ts"
import type { RagCorpus, RagVectorDbConfig } from "./messages/RagCorpus.ts"
import { defined, required, text } from "./optional.ts"
import { apiKey, secretVersion } from "./secrets.ts"

/** The body of `createRagCorpus`. An embedding model that is not named is not sent: the service has its default. */
export const corpusSpecToWire = (spec: CorpusSpec): RagCorpus =>
  defined({
    displayName: spec.displayName,
    description: spec.description,
    ...backendToWire(spec.vectorDb, spec.embeddingModel)
  })

export const corpusSpecFromWire = (wire: RagCorpus): Result.Result<CorpusSpec, ServiceError> =>
  Result.gen(function*() {
    return defined({
      displayName: yield* required(wire.displayName, "rag_corpus.display_name"),
      description: text(wire.description),
      vectorDb: (yield* vectorDbFromWire(wire)) ?? { _tag: "managed" },
      embeddingModel: embeddingOf(wire)
    })
  })

/** The body of `updateRagCorpus`, which has no mask: what is in it changes, what is not stays. */
export const corpusPatchToWire = (patch: CorpusPatch): RagCorpus =>
  defined({
    displayName: patch.displayName,
    description: patch.description,
    ...(patch.vectorDb === undefined ? {} : backendToWire(patch.vectorDb, undefined))
  })

export const corpusPatchFromWire = (wire: RagCorpus): Result.Result<CorpusPatch, ServiceError> =>
  Result.map(vectorDbFromWire(wire), (vectorDb) =>
    defined({ displayName: text(wire.displayName), description: text(wire.description), vectorDb }))

/**
 * A corpus as the service answers. The deprecated twins of the configuration go with it in v1beta1: the Python SDK up
 * to 1.87 reads only those (wire row 15).
 *
 * `defaultEmbedding`: the endpoint echoed for a corpus that named none.
 */
export const corpusToWire = (corpus: Corpus, defaultEmbedding?: string): RagCorpus => {
  const embedding = corpus.embeddingModel ?? defaultEmbedding
  const backend = backendToWire(corpus.vectorDb, embedding)
  return defined({
    name: corpus.name,
    displayName: corpus.displayName,
    description: corpus.description,
    ...backend,
    ragVectorDbConfig: backend.vectorDbConfig,
    ragEmbeddingModelConfig: backend.vectorDbConfig?.ragEmbeddingModelConfig,
    createTime: corpus.createTime,
    updateTime: corpus.updateTime,
    corpusStatus: defined({ state: corpus.state, errorStatus: corpus.errorStatus }),
    ragFilesCount: corpus.filesCount
  })
}

/** A count that is absent is zero or not told: only `get` in v1beta1 tells. */
export const corpusFromWire = (wire: RagCorpus): Result.Result<Corpus, ServiceError> => {
  if (text(wire.name) === undefined) return Result.fail(ServiceError.internal("the service answered a corpus without a name"))
  return Result.map(vectorDbFromWire(wire), (vectorDb) =>
    defined({
      name: CorpusName.make(wire.name ?? ""),
      displayName: wire.displayName ?? "",
      description: text(wire.description),
      vectorDb: vectorDb ?? { _tag: "managed" as const },
      embeddingModel: embeddingOf(wire),
      state: CorpusState.literals.find((state) => state === wire.corpusStatus?.state) ?? "UNKNOWN",
      errorStatus: text(wire.corpusStatus?.errorStatus),
      filesCount: wire.ragFilesCount,
      createTime: wire.createTime ?? "",
      updateTime: wire.updateTime ?? ""
    }))
}

const backendToWire = (
  db: VectorDb,
  embedding: string | undefined
): Pick<RagCorpus, "vectorDbConfig" | "vertexAiSearchConfig"> => {
  if (db._tag === "agentSearch") return { vertexAiSearchConfig: defined({ servingConfig: db.servingConfig }) }
  return {
    vectorDbConfig: {
      ...vectorDbToWire(db),
      ...(embedding === undefined ? {} : { ragEmbeddingModelConfig: { vertexPredictionEndpoint: { endpoint: embedding } } })
    }
  }
}

const vectorDbToWire = (db: Exclude<VectorDb, { readonly _tag: "agentSearch" }>): RagVectorDbConfig => {
  switch (db._tag) {
    case "managed":
      return { ragManagedDb: {} }
    case "weaviate":
      return {
        weaviate: defined({ httpEndpoint: db.httpEndpoint, collectionName: db.collectionName }),
        ...auth(db.apiKey)
      }
    case "pinecone":
      return { pinecone: defined({ indexName: db.indexName }), ...auth(db.apiKey) }
    case "featureStore":
      return { vertexFeatureStore: defined({ featureViewResourceName: db.featureView }) }
    case "vectorSearch":
      return { vertexVectorSearch: defined({ index: db.index, indexEndpoint: db.indexEndpoint }) }
  }
}

const auth = (key: string | undefined): RagVectorDbConfig => (key === undefined ? {} : { apiAuth: { apiKeyConfig: apiKey(key) } })

/** Undefined: nothing is said about the database. Databases not known here are the service's own, so managed. */
const vectorDbFromWire = (wire: RagCorpus): Result.Result<VectorDb | undefined, ServiceError> =>
  Result.gen(function*() {
    if (wire.vertexAiSearchConfig !== undefined) {
      return defined({ _tag: "agentSearch" as const, servingConfig: text(wire.vertexAiSearchConfig.servingConfig) })
    }
    const config = wire.vectorDbConfig ?? wire.ragVectorDbConfig
    if (config === undefined) return undefined
    const key = config.apiAuth?.apiKeyConfig?.apiKeySecretVersion
    const field = "rag_corpus.vector_db_config.api_auth.api_key_config.api_key_secret_version"
    const apiKey = text(key) === undefined ? undefined : yield* secretVersion(key, field)
    const { pinecone, vertexFeatureStore, vertexVectorSearch, weaviate } = config
    if (weaviate !== undefined) {
      return defined({
        _tag: "weaviate" as const,
        httpEndpoint: text(weaviate.httpEndpoint),
        collectionName: text(weaviate.collectionName),
        apiKey
      })
    }
    if (pinecone !== undefined) return defined({ _tag: "pinecone" as const, indexName: text(pinecone.indexName), apiKey })
    if (vertexFeatureStore !== undefined) {
      return defined({ _tag: "featureStore" as const, featureView: text(vertexFeatureStore.featureViewResourceName) })
    }
    if (vertexVectorSearch !== undefined) {
      return defined({
        _tag: "vectorSearch" as const,
        index: text(vertexVectorSearch.index),
        indexEndpoint: text(vertexVectorSearch.indexEndpoint)
      })
    }
    return { _tag: "managed" as const }
  })

const embeddingOf = ({ ragEmbeddingModelConfig, ragVectorDbConfig, vectorDbConfig }: RagCorpus): string | undefined => {
  const config = vectorDbConfig?.ragEmbeddingModelConfig ?? ragVectorDbConfig?.ragEmbeddingModelConfig ?? ragEmbeddingModelConfig
  return text((config?.vertexPredictionEndpoint ?? config?.hybridSearchConfig?.denseEmbeddingModelPredictionEndpoint)?.endpoint)
}
