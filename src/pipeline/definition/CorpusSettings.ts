import { Schema, SchemaTransformation } from "effect"
import { localModelForm, Pooling } from "../../domain/LocalModel.ts"
import { embeddingModelForm, folderOrBucketForm, schemaNameForm } from "../../domain/rag/Forms.ts"
import {
  displayNameLimit,
  displayNameRule,
  isOneOfEach,
  isShortName,
  vectorSearchInPlace,
  vectorSearchRule
} from "../../domain/rag/RagRules.ts"
import { FeatureView, HttpUrl, SecretName, ServingConfig, VectorSearchName } from "../../domain/settings/Names.ts"
import { oneOf } from "../../domain/settings/OneOf.ts"
import { hasForm, integer, positive, rule, text, withDefault } from "../../domain/settings/Rules.ts"

const vectorSearchFields = {
  index: Schema.optionalKey(VectorSearchName.annotate({
    description: "projects/{project}/locations/{location}/indexes/{index}. May be set later, once."
  })),
  indexEndpoint: Schema.optionalKey(VectorSearchName.annotate({
    description: "projects/{project}/locations/{location}/indexEndpoints/{endpoint}. May be set later, once."
  }))
}

const VectorSearch = Schema.Struct(vectorSearchFields).check(
  rule<{ readonly index?: string; readonly indexEndpoint?: string }>(isOneOfEach, vectorSearchRule)
).annotate({ description: "Vertex AI Vector Search." }).pipe(
  Schema.decodeTo(
    Schema.Struct(vectorSearchFields),
    SchemaTransformation.transform({ decode: vectorSearchInPlace, encode: (names) => names })
  )
)

const databaseKey = Schema.optionalKey(SecretName)

/** Setting of where the corpus keeps its vectors; decodes to the domain's `VectorDb`. The kind can never change. */
export const VectorDbChoice = oneOf({
  bare: ["managed"],
  description:
    "Where the corpus keeps its vectors: managed (the default), or exactly one database. The kind is fixed at creation; a field left out may be set later, once.",
  cases: {
    weaviate: Schema.Struct({
      httpEndpoint: Schema.optionalKey(
        HttpUrl.annotate({ description: "HTTP endpoint of the instance. May be set later, once." })
      ),
      collectionName: Schema.optionalKey(
        text.annotate({ description: "The collection that holds the corpus. May be set later, once." })
      ),
      apiKey: databaseKey
    }).annotate({ description: "A Weaviate instance." }),
    pinecone: Schema.Struct({
      indexName: Schema.optionalKey(
        text.annotate({ description: "The index that holds the corpus. May be set later, once." })
      ),
      apiKey: databaseKey
    }).annotate({ description: "A Pinecone index." }),
    featureStore: Schema.Struct({ featureView: Schema.optionalKey(FeatureView) })
      .annotate({ description: "A Vertex AI Feature Store view." }),
    vectorSearch: VectorSearch,
    agentSearch: Schema.Struct({ servingConfig: Schema.optionalKey(ServingConfig) })
      .annotate({ description: "A Vertex AI Search engine or data store." }),
    postgres: Schema.Struct({
      url: SecretName.annotate({
        description:
          "The secret version that holds the connection's URL, postgres://user:password@host:port/database: projects/{project}/secrets/{secret}/versions/{number or latest}."
      }),
      schema: Schema.optionalKey(
        hasForm(schemaNameForm).annotate({
          description: "The schema whose tables hold the corpus. Default sluice; created if it does not exist."
        })
      )
    }).annotate({ description: "PostgreSQL with pgvector 0.8 or later; embedded engine only." }),
    qdrant: Schema.Struct({
      url: HttpUrl.annotate({ description: "The REST address of the server, for example http://127.0.0.1:6333." }),
      collection: text.annotate({ description: "The collection that holds the corpus; created if it does not exist." }),
      apiKey: databaseKey
    }).annotate({ description: "A Qdrant server, 1.10 or later; embedded engine only." }),
    lanceDb: Schema.Struct({
      uri: hasForm(folderOrBucketForm).annotate({
        description:
          "The folder of the database, relative to the folder of the pipeline file, or a place in object storage: s3://bucket/prefix, gs://bucket/prefix, az://container/prefix. Created if it does not exist."
      })
    }).annotate({ description: "LanceDB, embedded in this process (npm install @lancedb/lancedb); embedded engine only." })
  }
})

/** Settings of a server that speaks the `/v1/embeddings` protocol. */
const OpenAiEmbedding = Schema.Struct({
  url: HttpUrl.annotate({ description: "Base address, for example http://localhost:11434/v1." }),
  model: text.annotate({ description: "The model's name at that address." }),
  dimensions: integer(1, 65_536).annotate({ description: "Length of the model's vectors; answers of another length are errors." }),
  apiKey: Schema.optionalKey(SecretName),
  batch: withDefault(integer(1, 2048).annotate({ description: "Texts in one request.", default: 64 }), 64),
  maxRequestsPerMinute: Schema.optionalKey(positive.annotate({ description: "Requests per minute, questions included. Unset: 500." }))
}).annotate({ description: "An embedding server that speaks the OpenAI protocol." })

/** Settings of a local model: which one is run, and how. */
export const localModelFields = {
  model: hasForm(localModelForm).annotate({
    description:
      "The model's folder, relative to that of the pipeline file (./all-MiniLM-L6-v2: tokenizer.json, config.json, onnx/model.onnx), or its name on the hub: owner/name or owner/name@revision."
  }),
  file: Schema.optionalKey(text.annotate({
    description:
      "The file of weights in the model, for example onnx/model_quantized.onnx. Unset: the table of a model that is a table of vectors, otherwise onnx/model.onnx or model.onnx."
  })),
  threads: Schema.optionalKey(
    integer(1, 64).annotate({ description: "Number of threads for computation. Unset: one per processor, at most four." })
  )
}

/** Settings of an embedding model that runs on this machine. */
const LocalEmbedding = Schema.Struct({
  ...localModelFields,
  pooling: Schema.optionalKey(Pooling.annotate({
    description: "How the vectors of a text's tokens are combined into the text's vector. Unset: as the model's own configuration says."
  })),
  documentPrefix: Schema.optionalKey(Schema.String.annotate({
    description: "Prefix of each text of a document, for example \"passage: \". Unset: as the model's own configuration says."
  })),
  queryPrefix: Schema.optionalKey(Schema.String.annotate({
    description: "Prefix of each question, for example \"query: \". Unset: as the model's own configuration says."
  }))
}).annotate({
  description:
    "A model on this machine: a table of vectors (model2vec, StaticEmbedding), or one in ONNX (npm install --ignore-scripts onnxruntime-node); embedded engine only."
})

export const EmbeddingChoice = oneOf({
  bare: [],
  description: "The embedding model, fixed at creation. Unset: the engine's default.",
  cases: {
    model: hasForm(embeddingModelForm).annotate({
      description: "A model or endpoint the engine knows, for example text-embedding-005 on Vertex AI."
    }),
    openai: OpenAiEmbedding,
    local: LocalEmbedding
  }
})
export type EmbeddingChoice = typeof EmbeddingChoice.Type

export const CorpusSettings = Schema.Struct({
  displayName: text.check(
    rule<string>(isShortName, displayNameRule, { maxLength: displayNameLimit })
  ).annotate({ description: "The corpus's name, at most 128 characters. The pipeline finds its corpus by it." }),
  description: Schema.optionalKey(Schema.String.annotate({ description: "What the corpus holds." })),
  vectorDb: withDefault(VectorDbChoice, "managed"),
  embedding: Schema.optionalKey(EmbeddingChoice),
  keepGenerations: Schema.optionalKey(
    integer(0, 20).annotate({
      description:
        "How many earlier corpora `sluice promote` and `run --replace` keep, for `sluice rollback`; older ones are deleted. Unset: 1."
    })
  )
}).annotate({ description: "The corpus that documents go into." })
export type CorpusSettings = typeof CorpusSettings.Type
