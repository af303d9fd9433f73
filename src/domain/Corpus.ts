import { Schema } from "effect"
import { LlmParsing } from "./Parsing.ts"
import { SecretVersion } from "./Secret.ts"

/** `projects/{project}/locations/{location}/ragCorpora/{corpus}`. Opaque to callers. */
export const CorpusName = Schema.NonEmptyString.pipe(Schema.brand("CorpusName"))
export type CorpusName = typeof CorpusName.Type

/**
 * Of a corpus of the embedded engine in a database that exists at Google only: its vectors are really there. Absent: the
 * engine's own store stands in for it.
 */
const served = Schema.optionalKey(Schema.Literal("byGoogle"))

/**
 * Where a corpus keeps its vectors. Exactly one, fixed at creation; each field inside may be set later, once,
 * if it was empty.
 */
export const VectorDb = Schema.Union([
  Schema.TaggedStruct("managed", {}),
  Schema.TaggedStruct("weaviate", {
    httpEndpoint: Schema.optionalKey(Schema.String),
    collectionName: Schema.optionalKey(Schema.String),
    apiKey: Schema.optionalKey(SecretVersion)
  }),
  Schema.TaggedStruct("pinecone", {
    indexName: Schema.optionalKey(Schema.String),
    apiKey: Schema.optionalKey(SecretVersion)
  }),
  Schema.TaggedStruct("featureStore", { featureView: Schema.optionalKey(Schema.String), served }),
  Schema.TaggedStruct("vectorSearch", {
    index: Schema.optionalKey(Schema.String),
    indexEndpoint: Schema.optionalKey(Schema.String),
    served
  }),
  Schema.TaggedStruct("agentSearch", { servingConfig: Schema.optionalKey(Schema.String), served }),
  // Ours: the platform knows none of these.
  Schema.TaggedStruct("postgres", {
    /** Of the connection's URL, which has a password in it. */
    url: SecretVersion,
    schema: Schema.optionalKey(Schema.String)
  }),
  Schema.TaggedStruct("qdrant", {
    url: Schema.String,
    collection: Schema.String,
    apiKey: Schema.optionalKey(SecretVersion)
  }),
  Schema.TaggedStruct("lanceDb", {
    /** A folder, or a place in object storage: `s3://`, `gs://`, `az://`. */
    uri: Schema.String
  })
])
export type VectorDb = typeof VectorDb.Type

// Written out: the type that is inferred does not hold in programs with exactOptionalPropertyTypes.
/** Whether a database exists at Google only. */
export const isOfGoogle = (db: VectorDb): db is Extract<VectorDb, { _tag: "featureStore" | "vectorSearch" | "agentSearch" }> =>
  db._tag === "featureStore" || db._tag === "vectorSearch" || db._tag === "agentSearch"

/**
 * What the embedded engine's own store stands in for, in words: a database that exists at Google only. Undefined where it
 * stands in for none.
 */
export const standsInFor = (db: VectorDb, { search }: CorpusOptions = {}): string | undefined => {
  if (db._tag === "managed" && search?._tag === "vectorSearch") return "Vector Search"
  if (!isOfGoogle(db) || db.served === "byGoogle") return undefined
  switch (db._tag) {
    case "featureStore":
      return named("Feature Store", db.featureView)
    case "vectorSearch":
      return named("Vector Search", db.index)
    case "agentSearch":
      return named("Agent Search", db.servingConfig)
  }
}

const named = (what: string, resource: string | undefined): string =>
  resource === undefined || resource === "" ? what : `${what} (${resource})`

/** Whether a corpus keeps its vectors in another database than the embedded engine's own. */
export const isElsewhere = (db: VectorDb): boolean => db._tag !== "managed" && standsInFor(db) === undefined

/** BM25's parameters where nothing is said of them, here and at the service; Lucene's too. */
export const bm25Defaults = { k1: 1.2, b: 0.75 } as const

/** What the service offers beyond the database, fixed at creation. The embedded engine keeps and tells it. */
export const CorpusOptions = Schema.Struct({
  /**
   * How the managed database searches: exactly, through a tree (the service's defaults are depth 2 and 500 leaves), or in a
   * collection of Vector Search that the service keeps for the corpus. The embedded engine searches its own way in each.
   */
  search: Schema.optionalKey(Schema.Union([
    Schema.TaggedStruct("knn", {}),
    Schema.TaggedStruct("ann", { treeDepth: Schema.optionalKey(Schema.Int), leafCount: Schema.optionalKey(Schema.Int) }),
    Schema.TaggedStruct("vectorSearch", {})
  ])),
  /** Words beside the vectors, found by BM25. The embedded engine searches any corpus so, with these parameters where given. */
  hybrid: Schema.optionalKey(Schema.Struct({
    bm25: Schema.optionalKey(Schema.Struct({
      /** A tokenizer of many languages. The embedded engine's takes each text's own, whatever is said here. */
      multilingual: Schema.optionalKey(Schema.Boolean),
      /** How slowly repeating a term stops to count, 1.2 to 3. Default 1.2. */
      k1: Schema.optionalKey(Schema.Finite),
      /** How much a chunk's length counts, 0 to 1. Default .75. */
      b: Schema.optionalKey(Schema.Finite)
    }))
  })),
  /** `projects/{project}/locations/{location}` that it belongs to, where one engine serves many. */
  place: Schema.optionalKey(Schema.String),
  /** Cloud KMS key: `projects/{p}/locations/{l}/keyRings/{r}/cryptoKeys/{k}`. */
  encryptionKey: Schema.optionalKey(Schema.String),
  /** Documents, or what conversations left behind, read by a model. Unset: documents. */
  holds: Schema.optionalKey(Schema.Union([
    Schema.TaggedStruct("documents", {}),
    Schema.TaggedStruct("memories", { parser: Schema.optionalKey(LlmParsing) })
  ]))
})
export type CorpusOptions = typeof CorpusOptions.Type

/** What a caller asks for when creating a corpus. */
export const CorpusSpec = Schema.Struct({
  /** At most 128 characters. */
  displayName: Schema.NonEmptyString.check(Schema.isMaxLength(128)),
  description: Schema.optionalKey(Schema.String),
  vectorDb: VectorDb,
  /**
   * Embedding model: on the hosted engine an endpoint name; on the embedded one a key the embedder registry
   * knows. Unset: the engine's default. Immutable.
   */
  embeddingModel: Schema.optionalKey(Schema.String),
  options: Schema.optionalKey(CorpusOptions)
})
export type CorpusSpec = typeof CorpusSpec.Type

/** What may change after creation. Absent fields stay as they are. */
export interface CorpusPatch {
  readonly displayName?: string
  readonly description?: string
  readonly vectorDb?: VectorDb
  /** The key of the database that the corpus has, whichever it is; only Weaviate and Pinecone take one. */
  readonly apiKey?: SecretVersion
}

export const CorpusState = Schema.Literals(["UNKNOWN", "INITIALIZED", "ACTIVE", "ERROR"])
export type CorpusState = typeof CorpusState.Type

/** A corpus as the engine tells of it. */
export const Corpus = Schema.Struct({
  name: CorpusName,
  displayName: Schema.String,
  description: Schema.optionalKey(Schema.String),
  vectorDb: VectorDb,
  /** The model as asked for; absent when the engine's default applies. */
  embeddingModel: Schema.optionalKey(Schema.String),
  /** What its vectors are really of, where the engine tells: model, version and dimensions. */
  embedder: Schema.optionalKey(Schema.String),
  options: Schema.optionalKey(CorpusOptions),
  state: CorpusState,
  errorStatus: Schema.optionalKey(Schema.String),
  filesCount: Schema.optionalKey(Schema.Int),
  /** RFC 3339, microseconds kept. */
  createTime: Schema.String,
  updateTime: Schema.String
})
export type Corpus = typeof Corpus.Type

/**
 * Whether two names are of one embedding model. The hosted service answers an endpoint's full name, in which a project
 * may be its number, where a person wrote the model's.
 */
export const sameModel = (a: string | undefined, b: string | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && modelId(a) === modelId(b))

const modelId = (name: string): string => name.replace(/^(?:projects\/[^/]+\/locations\/[^/]+\/)?(?:publishers\/google\/models\/)?/, "")
