import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { afterAll, beforeAll } from "vitest"
import { CorpusName, type CorpusSpec, type VectorDb } from "../../src/domain/Corpus.ts"
import { ServiceError } from "../../src/domain/Errors.ts"
import type { ImportRequest, ImportSource } from "../../src/domain/Import.ts"
import { RagFileName } from "../../src/domain/RagFile.ts"
import type { RetrievalRequest } from "../../src/domain/Retrieval.ts"
import { SecretVersion } from "../../src/domain/Secret.ts"
import { Corpora } from "../../src/ports/Corpora.ts"
import { Files } from "../../src/ports/Files.ts"
import { Retrieval } from "../../src/ports/Retrieval.ts"
import { textFile } from "../conformance/Cases.ts"
import { onFake } from "../engines/vertex/Engine.ts"
import { minimal, problemsOf, secret, withRetrieve, withSource, withVectorDb } from "../pipeline/definition/schema/Support.ts"
import { parent, startServer, type TestServer } from "../server/support/TestServer.ts"

/*
 * One suite of requests that break a rule, put to a pipeline file, to the hosted engine from code, and to the server:
 * each refuses it with the same words, the hosted engine before a request leaves.
 */

/** Of a secret written in clear: nobody may repeat it. */
const canary = "wv-canary-5f2c9d"
const inClear = canary as unknown as SecretVersion // what code without types can pass
const version = SecretVersion.make(secret)

const corpus = CorpusName.make(`${parent}/ragCorpora/1`)

interface Bad {
  readonly rule: string
  /** The words that each answer has in it. */
  readonly words: string
  /** Absent where a file has no such field. */
  readonly file?: unknown
  /** Absent where the server has no such field, or means something by the value. */
  readonly http?: { readonly method?: string; readonly path: string; readonly body: object; readonly field: string }
  readonly port?: Effect.Effect<unknown, unknown, Corpora | Files | Retrieval>
  /** Requests that may leave, to read what the rule is about. */
  readonly reads?: number
}

const create = (spec: CorpusSpec) => Effect.flatMap(Corpora, (corpora) => corpora.create(spec))
const retrieve = (request: Partial<RetrievalRequest>) =>
  Effect.flatMap(Retrieval, (retrieval) => retrieval.retrieve({ corpus, query: "q", ...request }))
const importing = (request: Partial<ImportRequest>) =>
  Effect.flatMap(
    Files,
    (files) =>
      files.import({
        corpus,
        source: { _tag: "storage", uris: ["gs://b/"] },
        chunking: { strategy: "fixed", size: 1024, overlap: 200 },
        ...request
      })
  )

const corpora = (field: string, body: object) => ({
  path: `/v1/${parent}/ragCorpora`,
  body: { displayName: "d", ...body },
  field: `rag_corpus.${field}`
})
const bm25 = (parameter: string, value: number) => {
  const denseEmbeddingModelPredictionEndpoint = { endpoint: `${parent}/publishers/google/models/text-embedding-004` }
  const config = { hybridSearchConfig: { sparseEmbeddingConfig: { bm25: { [parameter]: value } }, denseEmbeddingModelPredictionEndpoint } }
  const field = "vector_db_config.rag_embedding_model_config.hybrid_search_config.sparse_embedding_config.bm25"
  return {
    ...corpora(`${field}.${parameter}`, { vectorDbConfig: { ragEmbeddingModelConfig: config } }),
    path: `/v1beta1/${parent}/ragCorpora`
  }
}
const retrieval = (field: string, config: object, query: object = {}) => ({
  path: `/v1/${parent}:retrieveContexts`,
  body: { vertexRagStore: { ragResources: [{ ragCorpus: corpus }] }, query: { text: "q", ragRetrievalConfig: config, ...query } },
  field
})
const imports = (field: string, config: object) => ({
  path: `/v1/${corpus}/ragFiles:import`,
  body: { importRagFilesConfig: { gcsSource: { uris: ["gs://docs/"] }, ...config } },
  field: `import_rag_files_config.${field}`
})
const sources = (field: string, config: object) => ({
  path: `/v1/${corpus}/ragFiles:import`,
  body: { importRagFilesConfig: config },
  field: `import_rag_files_config.${field}`
})

const database = (rule: string, words: string, db: VectorDb, written: object, wire: object, field: string): Bad => ({
  rule,
  words,
  file: withVectorDb(written),
  port: create({ displayName: "d", vectorDb: db }),
  http: corpora(field, wire)
})

const source = (rule: string, words: string, from: ImportSource, written: object, wire: object, field: string): Bad => ({
  rule,
  words,
  file: withSource(written),
  port: importing({ source: from }),
  http: sources(field, wire)
})

const keyField = "vector_db_config.api_auth.api_key_config.api_key_secret_version"
const auth = { apiAuth: { apiKeyConfig: { apiKeySecretVersion: canary } } }
const jira = { server: "acme.atlassian.net", email: "bot@acme.com", projects: ["OPS"], queries: [], token: version }
const writtenJira = { server: jira.server, email: jira.email, projects: jira.projects, token: secret }
const wireJira = { serverUri: jira.server, email: jira.email, projects: jira.projects, apiKeyConfig: { apiKeySecretVersion: secret } }
const library = { site: "s", drive: { name: "d" }, clientId: "c", tenantId: "t", clientSecret: version }

const bad: ReadonlyArray<Bad> = [
  {
    rule: "a corpus has a display name",
    words: "must not be empty",
    file: { ...minimal, corpus: { displayName: " " } },
    port: create({ displayName: "", vectorDb: { _tag: "managed" } }),
    http: corpora("display_name", { displayName: " " })
  },
  {
    rule: "a display name has 128 characters at most",
    words: "must be 128 characters or fewer",
    file: { ...minimal, corpus: { displayName: "x".repeat(129) } },
    port: create({ displayName: "x".repeat(129), vectorDb: { _tag: "managed" } }),
    http: corpora("display_name", { displayName: "x".repeat(129) })
  },
  {
    rule: "a display name stays so when it is changed",
    words: "must be 128 characters or fewer",
    port: Effect.flatMap(Corpora, (corpora) => corpora.update(corpus, { displayName: "x".repeat(129) })),
    http: { method: "PATCH", path: `/v1/${corpus}`, body: { displayName: "x".repeat(129) }, field: "rag_corpus.display_name" }
  },
  database(
    "an endpoint of Weaviate is an address",
    "must be an http:// or https:// address",
    { _tag: "weaviate", httpEndpoint: "w.example" },
    {
      weaviate: { httpEndpoint: "w.example" }
    },
    { vectorDbConfig: { weaviate: { httpEndpoint: "w.example" } } },
    "vector_db_config.weaviate.http_endpoint"
  ),
  database(
    "a key of Weaviate is named, never written",
    "must be the name of a secret version, never the secret itself",
    { _tag: "weaviate", apiKey: inClear },
    {
      weaviate: { apiKey: canary }
    },
    { vectorDbConfig: { weaviate: {}, ...auth } },
    keyField
  ),
  database(
    "a key of Pinecone is named, never written",
    "must be the name of a secret version, never the secret itself",
    { _tag: "pinecone", apiKey: inClear },
    {
      pinecone: { apiKey: canary }
    },
    { vectorDbConfig: { pinecone: {}, ...auth } },
    keyField
  ),
  {
    rule: "a new key is named, never written",
    words: "must be the name of a secret version, never the secret itself",
    port: Effect.flatMap(Corpora, (corpora) => corpora.update(corpus, { apiKey: inClear })),
    http: { method: "PATCH", path: `/v1/${corpus}`, body: { vectorDbConfig: auth }, field: `rag_corpus.${keyField}` }
  },
  {
    rule: "a database that takes no key is given none",
    words: "is for Weaviate and Pinecone only",
    http: corpora(keyField, { vectorDbConfig: { ragManagedDb: {}, apiAuth: { apiKeyConfig: { apiKeySecretVersion: secret } } } })
  },
  database(
    "a feature view is named in full",
    "must be the resource name of a feature view",
    { _tag: "featureStore", featureView: "v" },
    {
      featureStore: { featureView: "v" }
    },
    { vectorDbConfig: { vertexFeatureStore: { featureViewResourceName: "v" } } },
    "vector_db_config.vertex_feature_store.feature_view_resource_name"
  ),
  database(
    "an index is named in full",
    "must be the resource name of an index or an index endpoint",
    { _tag: "vectorSearch", index: "1" },
    {
      vectorSearch: { index: "1" }
    },
    { vectorDbConfig: { vertexVectorSearch: { index: "1" } } },
    "vector_db_config.vertex_vector_search.index"
  ),
  database(
    "an index has an endpoint, not another index",
    "needs one index and one index endpoint",
    {
      _tag: "vectorSearch",
      index: `${parent}/indexes/1`,
      indexEndpoint: `${parent}/indexes/2`
    },
    { vectorSearch: { index: `${parent}/indexes/1`, indexEndpoint: `${parent}/indexes/2` } },
    {
      vectorDbConfig: { vertexVectorSearch: { index: `${parent}/indexes/1`, indexEndpoint: `${parent}/indexes/2` } }
    },
    "vector_db_config"
  ),
  database(
    "a serving config belongs to an engine or a data store",
    "must be the resource name of a serving config",
    { _tag: "agentSearch", servingConfig: `${parent}/servingConfigs/s` },
    {
      agentSearch: { servingConfig: `${parent}/servingConfigs/s` }
    },
    { vertexAiSearchConfig: { servingConfig: `${parent}/servingConfigs/s` } },
    "vertex_ai_search_config.serving_config"
  ),
  {
    rule: "an embedding endpoint has its form",
    words: "must be the name of an embedding model, or an endpoint",
    file: { ...minimal, corpus: { displayName: "d", embedding: { model: "models/text-embedding-004" } } },
    port: create({ displayName: "d", vectorDb: { _tag: "managed" }, embeddingModel: "models/text-embedding-004" }),
    http: corpora("vector_db_config.rag_embedding_model_config.vertex_prediction_endpoint.endpoint", {
      vectorDbConfig: { ragEmbeddingModelConfig: { vertexPredictionEndpoint: { endpoint: "models/text-embedding-004" } } }
    })
  },
  {
    rule: "only the managed database has a way to search",
    words: "is for the managed database only",
    port: create({ displayName: "d", vectorDb: { _tag: "pinecone" }, options: { search: { _tag: "knn" } } })
  },
  {
    rule: "hybrid search names its embedding model",
    words: "must name the embedding model of the vectors",
    port: create({ displayName: "d", vectorDb: { _tag: "managed" }, options: { hybrid: {} } }),
    http: {
      ...corpora("vector_db_config.rag_embedding_model_config.hybrid_search_config.dense_embedding_model_prediction_endpoint", {
        vectorDbConfig: { ragEmbeddingModelConfig: { hybridSearchConfig: {} } }
      }),
      path: `/v1beta1/${parent}/ragCorpora`
    }
  },
  {
    rule: "BM25's saturation has its bounds",
    words: "must be from 1.2 to 3",
    port: create({ displayName: "d", vectorDb: { _tag: "managed" }, options: { hybrid: { bm25: { k1: 1 } } } }),
    http: bm25("k1", 1)
  },
  {
    rule: "BM25's weight of lengths is a share",
    words: "must be from 0 to 1",
    port: create({ displayName: "d", vectorDb: { _tag: "managed" }, options: { hybrid: { bm25: { b: 1.5 } } } }),
    http: bm25("b", 1.5)
  },
  {
    rule: "a question has words",
    words: "must not be empty",
    port: retrieve({ query: "  " }),
    http: {
      path: `/v1/${parent}:retrieveContexts`,
      body: { vertexRagStore: { ragResources: [{ ragCorpus: corpus }] }, query: { text: "  " } },
      field: "query.text"
    }
  },
  // The API's 0 is the default.
  { rule: "topK is 1 or more", words: "must be a whole number, 1 or more", file: withRetrieve({ topK: 0 }), port: retrieve({ topK: 0 }) },
  {
    rule: "topK is not negative",
    words: "must be a whole number, 1 or more",
    file: withRetrieve({ topK: -1 }),
    port: retrieve({ topK: -1 }),
    http: retrieval("query.rag_retrieval_config.top_k", { topK: -1 })
  },
  {
    rule: "alpha is from 0 to 1",
    words: "must be from 0 (words only) to 1 (vectors only)",
    file: withRetrieve({ hybrid: { alpha: 1.5 } }),
    port: retrieve({ hybrid: { alpha: 1.5 } }),
    http: retrieval("query.rag_retrieval_config.hybrid_search.alpha", { hybridSearch: { alpha: 1.5 } })
  },
  {
    rule: "a distance is not negative",
    words: "must be 0 or more",
    file: withRetrieve({ filter: { maxDistance: -0.1 } }),
    port: retrieve({ filter: { maxDistance: -0.1 } }),
    http: retrieval("query.rag_retrieval_config.filter.vector_distance_threshold", { filter: { vectorDistanceThreshold: -0.1 } })
  },
  {
    rule: "files are of the corpus that is searched",
    words: "must all be files of one corpus",
    file: withRetrieve({ files: [`${corpus}/ragFiles/1`, `${corpus}2/ragFiles/1`] }),
    port: retrieve({ files: [RagFileName.make(`${corpus}2/ragFiles/1`)] }),
    http: {
      path: `/v1/${parent}:retrieveContexts`,
      body: { vertexRagStore: { ragResources: [{ ragCorpus: corpus, ragFileIds: [`${corpus}2/ragFiles/1`] }] }, query: { text: "q" } },
      field: "vertex_rag_store.rag_resources[0].rag_file_ids[0]"
    }
  },
  // A file is checked against its engine: see the tests of fitness. The server searches by words in its own database too.
  {
    rule: "hybrid search works with Weaviate only",
    words: "works with the Weaviate database only",
    port: retrieve({ hybrid: {} }),
    reads: 1
  },
  {
    rule: "an overlap is less than the size",
    words: "must be less than size (100)",
    file: { ...minimal, chunking: { size: 100, overlap: 100 } },
    port: importing({ chunking: { strategy: "fixed", size: 100, overlap: 100 } }),
    http: imports("rag_file_transformation_config.rag_file_chunking_config.fixed_length_chunking.chunk_overlap", {
      ragFileTransformationConfig: { ragFileChunkingConfig: { fixedLengthChunking: { chunkSize: 100, chunkOverlap: 100 } } }
    })
  },
  {
    rule: "an upload's overlap is less than its size",
    words: "must be less than size (100)",
    port: Effect.flatMap(
      Files,
      (files) => files.upload({ ...textFile(corpus, "a.md", "text"), chunking: { strategy: "fixed", size: 100, overlap: 100 } })
    )
  },
  {
    rule: "an uploaded file has a name",
    words: "must not be empty",
    port: Effect.flatMap(Files, (files) => files.upload(textFile(corpus, "", "text")))
  },
  {
    rule: "a chunk has 1 to 8192 tokens",
    words: "must be a whole number from 1 to 8192",
    file: { ...minimal, chunking: { size: 9000, overlap: 0 } },
    port: importing({ chunking: { strategy: "fixed", size: 9000, overlap: 0 } }),
    http: imports("rag_file_transformation_config.rag_file_chunking_config.fixed_length_chunking.chunk_size", {
      ragFileTransformationConfig: { ragFileChunkingConfig: { fixedLengthChunking: { chunkSize: 9000 } } }
    })
  },
  {
    rule: "a processor is named in full",
    words: "must be the resource name of a document processor",
    file: { ...minimal, parsing: { layout: { processor: "p" } } },
    port: importing({ parsing: { _tag: "layout", processor: "p" } }),
    http: imports("rag_file_parsing_config.layout_parser.processor_name", {
      ragFileParsingConfig: { layoutParser: { processorName: "p" } }
    })
  },
  {
    rule: "a rate of parsing is positive",
    words: "must be a whole number, 1 or more",
    file: { ...minimal, parsing: { layout: { processor: `${parent}/processors/p`, maxRequestsPerMinute: -1 } } },
    port: importing({ parsing: { _tag: "layout", processor: `${parent}/processors/p`, maxRequestsPerMinute: -1 } }),
    http: imports("rag_file_parsing_config.max_parsing_requests_per_min", {
      ragFileParsingConfig: { layoutParser: { processorName: `${parent}/processors/p`, maxParsingRequestsPerMin: "-1" } }
    })
  },
  {
    rule: "a rate of embedding is positive",
    words: "must be a whole number, 1 or more",
    file: { ...minimal, import: { maxEmbeddingRequestsPerMinute: -5 } },
    port: importing({ maxEmbeddingRequestsPerMinute: -5 }),
    http: imports("max_embedding_requests_per_min", { maxEmbeddingRequestsPerMin: -5 })
  },
  {
    rule: "results go to an object or a table",
    words: "must be a gs:// object or a bq:// table",
    file: { ...minimal, import: { resultSink: "file:///tmp/x" } },
    port: importing({ resultSink: "file:///tmp/x" }),
    http: imports("import_result_gcs_sink.output_uri_prefix", { importResultGcsSink: { outputUriPrefix: "file:///tmp/x" } })
  },
  {
    rule: "the service imports from Cloud Storage, and from nowhere else by address",
    words: "must be a gs:// bucket or prefix",
    port: importing({ source: { _tag: "storage", uris: ["s3://bucket/"] } })
  },
  source(
    "a Drive resource is named by its id",
    "must be a Google Drive id",
    { _tag: "googleDrive", resources: [{ kind: "folder", id: "https://drive/x" }] },
    {
      googleDrive: { folders: ["https://drive/x"] }
    },
    { googleDriveSource: { resourceIds: [{ resourceType: "RESOURCE_TYPE_FOLDER", resourceId: "https://drive/x" }] } },
    "google_drive_source.resource_ids[0].resource_id"
  ),
  source(
    "a channel is named by its id",
    "must be a Slack channel id",
    { _tag: "slack", workspaces: [{ channels: [{ id: "#general" }], token: version }] },
    {
      slack: { channels: [{ id: "#general" }], token: secret }
    },
    { slackSource: { channels: [{ channels: [{ channelId: "#general" }], apiKeyConfig: { apiKeySecretVersion: secret } }] } },
    "slack_source.channels[0].channels[0].channel_id"
  ),
  source(
    "a channel ends after it starts",
    "must be later than start",
    {
      _tag: "slack",
      workspaces: [{ channels: [{ id: "C1", start: "2026-01-02T00:00:00Z", end: "2026-01-01T00:00:00Z" }], token: version }]
    },
    { slack: { channels: [{ id: "C1", start: "2026-01-02T00:00:00Z", end: "2026-01-01T00:00:00Z" }], token: secret } },
    {
      slackSource: {
        channels: [{
          channels: [{ channelId: "C1", startTime: "2026-01-02T00:00:00Z", endTime: "2026-01-01T00:00:00Z" }],
          apiKeyConfig: { apiKeySecretVersion: secret }
        }]
      }
    },
    "slack_source.channels[0].channels[0].end_time"
  ),
  source(
    "Slack's token is named, never written",
    "must be the name of a secret version, never the secret itself",
    {
      _tag: "slack",
      workspaces: [{ channels: [{ id: "C1" }], token: inClear }]
    },
    { slack: { channels: [{ id: "C1" }], token: canary } },
    {
      slackSource: { channels: [{ channels: [{ channelId: "C1" }], apiKeyConfig: { apiKeySecretVersion: canary } }] }
    },
    "slack_source.channels[0].api_key_config.api_key_secret_version"
  ),
  source(
    "Jira is asked by an account",
    "must be the e-mail address of the account",
    { _tag: "jira", accounts: [{ ...jira, email: "bot" }] },
    {
      jira: { ...writtenJira, email: "bot" }
    },
    { jiraSource: { jiraQueries: [{ ...wireJira, email: "bot" }] } },
    "jira_source.jira_queries[0].email"
  ),
  source(
    "Jira's server is a host or an address",
    "must be the server's host name or https:// address",
    { _tag: "jira", accounts: [{ ...jira, server: "a.atlassian.net#@127.0.0.1" }] },
    {
      jira: { ...writtenJira, server: "a.atlassian.net#@127.0.0.1" }
    },
    { jiraSource: { jiraQueries: [{ ...wireJira, serverUri: "a.atlassian.net#@127.0.0.1" }] } },
    "jira_source.jira_queries[0].server_uri"
  ),
  source(
    "Jira's token is named, never written",
    "must be the name of a secret version, never the secret itself",
    { _tag: "jira", accounts: [{ ...jira, token: inClear }] },
    {
      jira: { ...writtenJira, token: canary }
    },
    { jiraSource: { jiraQueries: [{ ...wireJira, apiKeyConfig: { apiKeySecretVersion: canary } }] } },
    "jira_source.jira_queries[0].api_key_config.api_key_secret_version"
  ),
  source("SharePoint's secret is named, never written", "must be the name of a secret version, never the secret itself", {
    _tag: "sharePoint",
    libraries: [{ ...library, clientSecret: inClear }]
  }, {
    sharePoint: { site: "s", drive: "d", clientId: "c", tenantId: "t", clientSecret: canary }
  }, {
    sharePointSources: {
      sharePointSources: [{
        sharepointSiteName: "s",
        driveName: "d",
        clientId: "c",
        tenantId: "t",
        clientSecret: { apiKeySecretVersion: canary }
      }]
    }
  }, "share_point_sources.share_point_sources[0].client_secret.api_key_secret_version")
]

describe("a pipeline file refuses a request that breaks a rule", () => {
  for (const { file, rule, words } of bad) {
    if (file === undefined) continue
    it(rule, () => {
      const problems = problemsOf(file).join("\n")
      assert.include(problems, words)
      assert.notInclude(problems, canary)
    })
  }
})

describe("the hosted engine refuses it before a request leaves", () => {
  for (const { port, reads = 0, rule, words } of bad) {
    if (port === undefined) continue
    it.live(rule, () =>
      onFake((fake) =>
        Effect.gen(function*() {
          fake.corpora.set(corpus, { name: corpus, displayName: "d", vectorDbConfig: { ragManagedDb: {} } })
          const exit = yield* Effect.exit(port)
          assert.isTrue(Exit.isFailure(exit))
          const error = yield* Effect.flip(port)
          assert.instanceOf(error, ServiceError)
          assert.strictEqual((error as ServiceError).code, "INVALID_ARGUMENT")
          assert.include((error as ServiceError).violations?.map(({ description }) => description).join("\n"), words)
          assert.notInclude(JSON.stringify([exit, error, (error as ServiceError).message]), canary)
          assert.lengthOf(fake.calls, reads)
        })
      ))
  }
})

describe("the server refuses it on the way in", () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer()
  })
  afterAll(() => server.stop())

  for (const { http, rule, words } of bad) {
    if (http === undefined) continue
    it(rule, async () => {
      // As the corpus that the cases name, so that nothing else is wrong with them.
      const own = await server.corpus()
      const named = (text: string) => text.replaceAll(corpus, own)
      const { body, status } = await server.call(http.method ?? "POST", named(http.path), named(JSON.stringify(http.body)))
      assert.strictEqual(status, 400, JSON.stringify(body))
      assert.strictEqual(body.error.status, "INVALID_ARGUMENT")
      const violations = body.error.details.flatMap((
        { fieldViolations = [] }: { fieldViolations?: ReadonlyArray<{ field: string; description: string }> }
      ) => fieldViolations)
      const found = violations.find(({ field }: { field: string }) => field === http.field)
      assert.isDefined(found, JSON.stringify(violations))
      assert.include(found.description, words)
      assert.notInclude(JSON.stringify(body), canary)
    })
  }
})
