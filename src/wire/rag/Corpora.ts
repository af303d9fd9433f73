import { Result } from "effect"
import { isEmpty } from "../../domain/Defined.ts"
import {
  type Corpus,
  CorpusName,
  type CorpusOptions,
  type CorpusPatch,
  type CorpusSpec,
  CorpusState,
  type VectorDb
} from "../../domain/Corpus.ts"
import { ServiceError } from "../../domain/Errors.ts"
import { corpusPatchBroken, hostedCorpusBroken, keyedDatabaseRule, vectorDbInPlace } from "../../domain/rag/RagRules.ts"
import { type Broken, refusalOf } from "../../domain/Rule.ts"
import type { SecretVersion } from "../../domain/Secret.ts"
import { llmParserFromWire, llmParserToWire } from "./Chunkings.ts"
import type { RagCorpus, RagVectorDbConfig } from "../messages/RagCorpus.ts"
import { count, defined, required, text } from "../Optional.ts"
import { apiKey, secretVersion } from "../Secrets.ts"

/** The body of `createRagCorpus`. Without an embedding model the service uses its default. */
export const corpusSpecToWire = (spec: CorpusSpec): RagCorpus =>
  defined({
    displayName: spec.displayName,
    description: spec.description,
    ...backendToWire(spec.vectorDb, spec.embeddingModel, spec.options),
    ...optionsToWire(spec.options)
  })

export const corpusSpecFromWire = (wire: RagCorpus): Result.Result<CorpusSpec, ServiceError> =>
  Result.gen(function*() {
    const spec: CorpusSpec = defined({
      displayName: yield* required(wire.displayName, "rag_corpus.display_name"),
      description: text(wire.description),
      vectorDb: (yield* vectorDbFromWire(wire)) ?? { _tag: "managed" },
      embeddingModel: embeddingOf(wire),
      options: yield* optionsFromWire(wire)
    })
    const refused = refusalOf([...hostedCorpusBroken(spec), ...strayKey(wire)].map(asCorpusField))
    return refused === undefined ? { ...spec, vectorDb: vectorDbInPlace(spec.vectorDb) } : yield* Result.fail(refused)
  })

/** The violation of a key beside a database that takes none; an empty list otherwise. */
const strayKey = (wire: RagCorpus): ReadonlyArray<Broken> => {
  const config = databaseOf(wire)
  return keyOf(wire) === undefined || config?.weaviate !== undefined || config?.pinecone !== undefined
    ? []
    : [{ field: "apiKey", description: keyedDatabaseRule.rule, fix: keyedDatabaseRule.fix }]
}

/** A broken rule about a field of a corpus, under the API's name of the field. */
export const asCorpusField = (broken: Broken): Broken => ({ ...broken, field: `rag_corpus.${corpusFields[broken.field] ?? broken.field}` })

const keyField = "vector_db_config.api_auth.api_key_config.api_key_secret_version"

const hybridField = "vector_db_config.rag_embedding_model_config.hybrid_search_config"
const bm25Field = `${hybridField}.sparse_embedding_config.bm25`

const corpusFields: Readonly<Record<string, string>> = {
  displayName: "display_name",
  apiKey: keyField,
  vectorDb: "vector_db_config",
  "vectorDb.httpEndpoint": "vector_db_config.weaviate.http_endpoint",
  "vectorDb.collectionName": "vector_db_config.weaviate.collection_name",
  "vectorDb.indexName": "vector_db_config.pinecone.index_name",
  "vectorDb.apiKey": keyField,
  "vectorDb.featureView": "vector_db_config.vertex_feature_store.feature_view_resource_name",
  "vectorDb.index": "vector_db_config.vertex_vector_search.index",
  "vectorDb.indexEndpoint": "vector_db_config.vertex_vector_search.index_endpoint",
  "vectorDb.servingConfig": "vertex_ai_search_config.serving_config",
  embeddingModel: "vector_db_config.rag_embedding_model_config.vertex_prediction_endpoint.endpoint",
  "options.encryptionKey": "encryption_spec.kms_key_name",
  "options.holds": "corpus_type_config",
  "options.search": "vector_db_config.rag_managed_db",
  "options.search.treeDepth": "vector_db_config.rag_managed_db.ann.tree_depth",
  "options.search.leafCount": "vector_db_config.rag_managed_db.ann.leaf_count",
  "options.hybrid": `${hybridField}.dense_embedding_model_prediction_endpoint`,
  "options.hybrid.bm25": bm25Field,
  "options.hybrid.bm25.k1": `${bm25Field}.k1`,
  "options.hybrid.bm25.b": `${bm25Field}.b`
}

/** The body of `updateRagCorpus`. There is no mask: fields in the body change, others stay. Immutable fields are not sent. */
export const corpusPatchToWire = (patch: CorpusPatch): RagCorpus =>
  defined({
    displayName: patch.displayName,
    description: patch.description,
    ...(patch.vectorDb === undefined ? {} : backendToWire(patch.vectorDb, undefined, undefined)),
    ...(patch.apiKey === undefined ? {} : {
      vectorDbConfig: {
        ...(patch.vectorDb === undefined ? {} : backendToWire(patch.vectorDb, undefined, undefined).vectorDbConfig),
        ...auth(patch.apiKey)
      }
    })
  })

export const corpusPatchFromWire = (wire: RagCorpus): Result.Result<CorpusPatch, ServiceError> =>
  Result.gen(function*() {
    const database = yield* vectorDbFromWire(wire)
    const key = yield* keyFromWire(wire)
    // A key without a database is for the database that the corpus has.
    const patch: CorpusPatch = defined({
      displayName: text(wire.displayName),
      description: text(wire.description),
      vectorDb: database === undefined ? undefined : vectorDbInPlace(database),
      apiKey: database?._tag === "weaviate" || database?._tag === "pinecone" ? undefined : key
    })
    const refused = refusalOf(corpusPatchBroken(patch).map(asCorpusField))
    return refused === undefined ? patch : yield* Result.fail(refused)
  })

const databaseOf = (wire: RagCorpus): RagVectorDbConfig | undefined => wire.vectorDbConfig ?? wire.ragVectorDbConfig

const keyOf = (wire: RagCorpus): string | undefined => text(databaseOf(wire)?.apiAuth?.apiKeyConfig?.apiKeySecretVersion)

const keyFromWire = (wire: RagCorpus): Result.Result<SecretVersion | undefined, ServiceError> => {
  const key = keyOf(wire)
  return key === undefined ? Result.succeed(undefined) : secretVersion(key, `rag_corpus.${keyField}`)
}

/**
 * The immutable fields in an update's body, which may only repeat the corpus's. A managed database without a strategy has the
 * default strategy, as at creation.
 */
export const corpusFixedFromWire = (wire: RagCorpus): Result.Result<Pick<CorpusSpec, "embeddingModel" | "options">, ServiceError> =>
  Result.map(optionsFromWire(wire), (options) => {
    const search = options?.search ?? (databaseOf(wire)?.ragManagedDb === undefined ? undefined : { _tag: "knn" as const })
    return defined({ embeddingModel: embeddingOf(wire), options: search === undefined ? options : { ...options, search } })
  })

/**
 * A corpus as the service returns it. In v1beta1 it also has the deprecated forms of the configuration: the Python SDK up to
 * 1.87 reads only those.
 *
 * `defaultEmbedding` is the embedding endpoint shown for a corpus that named none.
 */
export const corpusToWire = (corpus: Corpus, defaultEmbedding?: string): RagCorpus => {
  const embedding = corpus.embeddingModel ?? defaultEmbedding
  const backend = backendToWire(corpus.vectorDb, embedding, corpus.options, corpus.name)
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
    ragFilesCount: corpus.filesCount,
    ...optionsToWire(corpus.options)
  })
}

/** Decodes a corpus. An absent number of files means zero or unknown: only `get` in v1beta1 returns it. */
export const corpusFromWire = (wire: RagCorpus): Result.Result<Corpus, ServiceError> => {
  if (text(wire.name) === undefined) return Result.fail(ServiceError.internal("the service returned a corpus without a name"))
  return Result.gen(function*() {
    return defined({
      name: CorpusName.make(wire.name ?? ""),
      displayName: wire.displayName ?? "",
      description: text(wire.description),
      vectorDb: (yield* vectorDbFromWire(wire)) ?? { _tag: "managed" as const },
      embeddingModel: embeddingOf(wire),
      options: yield* optionsFromWire(wire),
      state: CorpusState.literals.find((state) => state === wire.corpusStatus?.state) ?? "UNKNOWN",
      errorStatus: text(wire.corpusStatus?.errorStatus),
      filesCount: wire.ragFilesCount,
      createTime: wire.createTime ?? "",
      updateTime: wire.updateTime ?? ""
    })
  })
}

const backendToWire = (
  db: VectorDb,
  embedding: string | undefined,
  options: CorpusOptions | undefined,
  name?: CorpusName
): Pick<RagCorpus, "vectorDbConfig" | "vertexAiSearchConfig"> => {
  if (db._tag === "agentSearch") return { vertexAiSearchConfig: defined({ servingConfig: db.servingConfig }) }
  return {
    vectorDbConfig: defined({ ...vectorDbToWire(db, options, name), ragEmbeddingModelConfig: embeddingToWire(embedding, options?.hybrid) })
  }
}

const embeddingToWire = (embedding: string | undefined, hybrid: CorpusOptions["hybrid"]): RagCorpus["ragEmbeddingModelConfig"] => {
  const endpoint = embedding === undefined ? undefined : { endpoint: embedding }
  if (hybrid === undefined) return endpoint === undefined ? undefined : { vertexPredictionEndpoint: endpoint }
  return {
    hybridSearchConfig: defined({
      sparseEmbeddingConfig: hybrid.bm25 === undefined ? undefined : { bm25: hybrid.bm25 },
      denseEmbeddingModelPredictionEndpoint: endpoint
    })
  }
}

const vectorDbToWire = (
  db: Exclude<VectorDb, { readonly _tag: "agentSearch" }>,
  options: CorpusOptions | undefined,
  name: CorpusName | undefined
): RagVectorDbConfig => {
  switch (db._tag) {
    case "managed":
      return options?.search?._tag === "vectorSearch"
        // The service names its collection; here the name is made from the corpus's id.
        ? { ragManagedVertexVectorSearch: defined({ collectionName: name?.replace("/ragCorpora/", "/collections/") }) }
        : { ragManagedDb: searchToWire(options?.search) }
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
    case "postgres":
    case "qdrant":
    case "lanceDb":
      // The API cannot express these databases. Callers can do the same with such a corpus as with a managed one, so it is shown as that.
      return { ragManagedDb: {} }
  }
}

type ManagedDb = NonNullable<RagVectorDbConfig["ragManagedDb"]>

const searchToWire = (search: Exclude<CorpusOptions["search"], { readonly _tag: "vectorSearch" }>): ManagedDb => {
  if (search === undefined) return {}
  return search._tag === "knn" ? { knn: {} } : { ann: defined({ treeDepth: search.treeDepth, leafCount: search.leafCount }) }
}

const searchFromWire = ({ ann, knn }: ManagedDb): CorpusOptions["search"] => {
  if (ann !== undefined) return defined({ _tag: "ann" as const, treeDepth: count(ann.treeDepth), leafCount: count(ann.leafCount) })
  return knn === undefined ? undefined : { _tag: "knn" }
}

const optionsToWire = ({ encryptionKey, holds }: CorpusOptions = {}): Pick<RagCorpus, "encryptionSpec" | "corpusTypeConfig"> => ({
  encryptionSpec: encryptionKey === undefined ? undefined : { kmsKeyName: encryptionKey },
  corpusTypeConfig: holds === undefined ? undefined : (holds._tag === "documents"
    ? { documentCorpus: {} }
    : { memoryCorpus: holds.parser === undefined ? {} : { llmParser: llmParserToWire(holds.parser) } })
})

/** Decodes the options of a corpus; undefined where none is set. */
const optionsFromWire = (wire: RagCorpus): Result.Result<CorpusOptions | undefined, ServiceError> =>
  Result.gen(function*() {
    const { documentCorpus, memoryCorpus } = wire.corpusTypeConfig ?? {}
    const parser = memoryCorpus?.llmParser === undefined
      ? undefined
      : yield* llmParserFromWire(memoryCorpus.llmParser, "rag_corpus.corpus_type_config.memory_corpus.llm_parser")
    const { ragManagedDb: managed, ragManagedVertexVectorSearch: collection } = databaseOf(wire) ?? {}
    const own = collection === undefined ? undefined : { _tag: "vectorSearch" as const }
    const options: CorpusOptions = defined({
      search: managed === undefined ? own : searchFromWire(managed),
      hybrid: hybridOf(wire),
      encryptionKey: text(wire.encryptionSpec?.kmsKeyName),
      holds: memoryCorpus !== undefined
        ? defined({ _tag: "memories" as const, parser })
        : documentCorpus === undefined
        ? undefined
        : { _tag: "documents" as const }
    })
    return isEmpty(options) ? undefined : options
  })

const auth = (key: string | undefined): RagVectorDbConfig => (key === undefined ? {} : { apiAuth: { apiKeyConfig: apiKey(key) } })

/** Decodes the database of a corpus; undefined where none is set. Unknown databases are the service's own, and count as managed. */
const vectorDbFromWire = (wire: RagCorpus): Result.Result<VectorDb | undefined, ServiceError> =>
  Result.gen(function*() {
    if (wire.vertexAiSearchConfig !== undefined) {
      return defined({ _tag: "agentSearch" as const, servingConfig: text(wire.vertexAiSearchConfig.servingConfig) })
    }
    const config = databaseOf(wire)
    if (config === undefined) return undefined
    const apiKey = yield* keyFromWire(wire)
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
    if (config.ragManagedDb === undefined && apiKey !== undefined) return undefined
    return { _tag: "managed" as const }
  })

const embeddingConfigOf = (
  { ragEmbeddingModelConfig, ragVectorDbConfig, vectorDbConfig }: RagCorpus
): RagCorpus["ragEmbeddingModelConfig"] =>
  vectorDbConfig?.ragEmbeddingModelConfig ?? ragVectorDbConfig?.ragEmbeddingModelConfig ?? ragEmbeddingModelConfig

/** Decodes the settings of hybrid search; undefined where none are set. */
const hybridOf = (wire: RagCorpus): CorpusOptions["hybrid"] => {
  const config = embeddingConfigOf(wire)?.hybridSearchConfig
  if (config === undefined) return undefined
  const bm25 = config.sparseEmbeddingConfig?.bm25
  // In protos false means absent, while 0 is a value of these optional parameters.
  return defined({
    bm25: bm25 === undefined ? undefined : defined({ multilingual: bm25.multilingual === true ? true : undefined, k1: bm25.k1, b: bm25.b })
  })
}

const embeddingOf = (wire: RagCorpus): string | undefined => {
  const config = embeddingConfigOf(wire)
  return text((config?.vertexPredictionEndpoint ?? config?.hybridSearchConfig?.denseEmbeddingModelPredictionEndpoint)?.endpoint)
}
