import { Schema } from "effect"
import { LlmParsing } from "./Parsing.ts"
import { SecretVersion } from "./Secret.ts"

/** `projects/{project}/locations/{location}/ragCorpora/{corpus}`. Opaque to callers. */
export const CorpusName = Schema.NonEmptyString.pipe(Schema.brand("CorpusName"))
export type CorpusName = typeof CorpusName.Type

/**
 * For a corpus of the embedded engine in a database that exists only at Google: whether its vectors are really there.
 * Absent: the engine's own store stands in.
 */
const served = Schema.optionalKey(Schema.Literal("byGoogle"))

/**
 * Database in which a corpus keeps its vectors: exactly one, fixed at creation; each field inside may be set later, once,
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
  // Databases of Sluice only: the platform does not know them.
  Schema.TaggedStruct("postgres", {
    /** Secret version of the connection's URL, which contains a password. */
    url: SecretVersion,
    schema: Schema.optionalKey(Schema.String)
  }),
  Schema.TaggedStruct("qdrant", {
    url: Schema.String,
    collection: Schema.String,
    apiKey: Schema.optionalKey(SecretVersion)
  }),
  Schema.TaggedStruct("lanceDb", {
    /** Address of the database: a folder, or a place in object storage: `s3://`, `gs://`, `az://`. */
    uri: Schema.String
  })
])
export type VectorDb = typeof VectorDb.Type

// Written out: the inferred type does not work in programs with exactOptionalPropertyTypes.
/** Whether a database exists at Google only. */
export const isOfGoogle = (db: VectorDb): db is Extract<VectorDb, { _tag: "featureStore" | "vectorSearch" | "agentSearch" }> =>
  db._tag === "featureStore" || db._tag === "vectorSearch" || db._tag === "agentSearch"

/**
 * Names the database that the embedded engine's own store stands in for, which exists only at Google. Undefined where it
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

/** Whether a corpus keeps its vectors in a database other than the embedded engine's own. */
export const isElsewhere = (db: VectorDb): boolean => db._tag !== "managed" && standsInFor(db) === undefined

/** Default parameters of BM25, here, at the service, and in Lucene. */
export const bm25Defaults = { k1: 1.2, b: 0.75 } as const

/** Options of the service beyond the database, fixed at creation. The embedded engine stores and returns them. */
export const CorpusOptions = Schema.Struct({
  /**
   * How the managed database searches: exactly, through a tree (the service's defaults are depth 2 and 500 leaves), or in
   * a collection of Vector Search that the service keeps for the corpus. The embedded engine searches in its own way for
   * each of these.
   */
  search: Schema.optionalKey(Schema.Union([
    Schema.TaggedStruct("knn", {}),
    Schema.TaggedStruct("ann", { treeDepth: Schema.optionalKey(Schema.Int), leafCount: Schema.optionalKey(Schema.Int) }),
    Schema.TaggedStruct("vectorSearch", {})
  ])),
  /**
   * Search by words, with BM25, beside the vectors. The embedded engine searches every corpus this way, with these
   * parameters where given.
   */
  hybrid: Schema.optionalKey(Schema.Struct({
    bm25: Schema.optionalKey(Schema.Struct({
      /** Whether to use a multilingual tokenizer. The embedded engine always uses the tokenizer of each text's language. */
      multilingual: Schema.optionalKey(Schema.Boolean),
      /** How slowly repetitions of a term lose weight, 1.2 to 3. Default 1.2. */
      k1: Schema.optionalKey(Schema.Finite),
      /** How strongly a chunk's length counts, 0 to 1. Default 0.75. */
      b: Schema.optionalKey(Schema.Finite)
    }))
  })),
  /** The `projects/{project}/locations/{location}` it belongs to, where one engine serves several. */
  place: Schema.optionalKey(Schema.String),
  /** Name of a Cloud KMS key: `projects/{p}/locations/{l}/keyRings/{r}/cryptoKeys/{k}`. */
  encryptionKey: Schema.optionalKey(Schema.String),
  /** Content of the corpus: documents, or memories of conversations, extracted by a model. Unset: documents. */
  holds: Schema.optionalKey(Schema.Union([
    Schema.TaggedStruct("documents", {}),
    Schema.TaggedStruct("memories", { parser: Schema.optionalKey(LlmParsing) })
  ]))
})
export type CorpusOptions = typeof CorpusOptions.Type

/** Request for a new corpus. */
export const CorpusSpec = Schema.Struct({
  /** Name of the corpus, at most 128 characters. */
  displayName: Schema.NonEmptyString.check(Schema.isMaxLength(128)),
  description: Schema.optionalKey(Schema.String),
  vectorDb: VectorDb,
  /**
   * Embedding model: on the hosted engine an endpoint's name; on the embedded engine a key that the embedder registry
   * knows. Unset: the engine's default. Immutable.
   */
  embeddingModel: Schema.optionalKey(Schema.String),
  options: Schema.optionalKey(CorpusOptions)
})
export type CorpusSpec = typeof CorpusSpec.Type

/** Changes to a corpus. Absent fields stay as they are. */
export interface CorpusPatch {
  readonly displayName?: string
  readonly description?: string
  readonly vectorDb?: VectorDb
  /** API key of the corpus's database; only Weaviate and Pinecone take one. */
  readonly apiKey?: SecretVersion
}

export const CorpusState = Schema.Literals(["UNKNOWN", "INITIALIZED", "ACTIVE", "ERROR"])
export type CorpusState = typeof CorpusState.Type

/** A corpus as the engine returns it. */
export const Corpus = Schema.Struct({
  name: CorpusName,
  displayName: Schema.String,
  description: Schema.optionalKey(Schema.String),
  vectorDb: VectorDb,
  /** Embedding model as requested; absent where the engine's default applies. */
  embeddingModel: Schema.optionalKey(Schema.String),
  /** The embedder that made its vectors, where the engine reports it: model, version and dimensions. */
  embedder: Schema.optionalKey(Schema.String),
  options: Schema.optionalKey(CorpusOptions),
  state: CorpusState,
  errorStatus: Schema.optionalKey(Schema.String),
  filesCount: Schema.optionalKey(Schema.Int),
  /** Time of creation, as in RFC 3339, with microseconds. */
  createTime: Schema.String,
  /** Time of the last change of the corpus; on the embedded engine also of its files, their deletion included. */
  updateTime: Schema.String
})
export type Corpus = typeof Corpus.Type

/**
 * Whether two names are of the same embedding model. The hosted service returns an endpoint's full name, in which the
 * project may be its number, where a person wrote the model's.
 */
export const sameModel = (a: string | undefined, b: string | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && modelId(a) === modelId(b))

const modelId = (name: string): string => name.replace(/^(?:projects\/[^/]+\/locations\/[^/]+\/)?(?:publishers\/google\/models\/)?/, "")
