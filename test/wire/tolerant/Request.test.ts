import { Result } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { CorpusName } from "../../../src/domain/Corpus.ts"
import { corpusPatchFromWire, corpusSpecFromWire, corpusSpecToWire } from "../../../src/wire/rag/Corpora.ts"
import { uploadRequestFromWire } from "../../../src/wire/rag/Files.ts"
import { groundedQuestionFromWire } from "../../../src/wire/rag/Grounding.ts"
import { importRequestFromWire, importRequestToWire } from "../../../src/wire/rag/Imports.ts"
import type { ApiVersion, Json } from "../../../src/wire/Message.ts"
import { retrieveRequestFromWire, retrieveRequestToWire } from "../../../src/wire/rag/Retrievals.ts"
import { encodeRequest, match, type Route, routes } from "../../../src/wire/Routes.ts"
import { snake } from "../../../src/wire/tolerant/Normalize.ts"
import { readBody, readQuery } from "../../../src/wire/tolerant/Request.ts"
import * as any from "../Arbitraries.ts"

const parent = "projects/p/locations/l"
const corpus = CorpusName.make(`${parent}/ragCorpora/1`)

const read = <B>(route: Route<string, unknown, B, unknown>, body: object | string, version: ApiVersion = "v1beta1"): B =>
  Result.getOrThrow(readBody(route, typeof body === "string" ? body : JSON.stringify(body), { version }))

const refused = (route: Route, body: object | string, options: { version: ApiVersion; strict?: boolean } = { version: "v1beta1" }) => {
  const result = readBody(route, typeof body === "string" ? body : JSON.stringify(body), options)
  return Result.isFailure(result) ? result.failure : undefined
}

const secretVersion = "projects/1/secrets/s/versions/2"
const importOf = (config: object | string) =>
  Result.getOrThrow(
    importRequestFromWire(corpus, read(routes.importRagFiles, typeof config === "string" ? config : { importRagFilesConfig: config }))
  )
const gcs = { gcsSource: { uris: ["gs://b/x"] } }

describe("spellings of part 3 of the wire, by row", () => {
  it("13: index and index endpoint the documentation swapped", () => {
    const index = `${parent}/indexes/1`
    const indexEndpoint = `${parent}/indexEndpoints/2`
    for (const given of [{ index, indexEndpoint }, { index: indexEndpoint, index_endpoint: index }]) {
      const wire = read(routes.createRagCorpus, { displayName: "d", vectorDbConfig: { vertexVectorSearch: given } })
      expect(Result.getOrThrow(corpusSpecFromWire(wire)).vectorDb).toEqual({ _tag: "vectorSearch", index, indexEndpoint })
    }
  })

  it.each(["vector_db_config", "rag_vector_db_config", "rag_vector_db", "ragVectorDb"])("14: %s", (name) => {
    const wire = read(routes.updateRagCorpus, { [name]: { pinecone: { index_name: "i" } } }, "v1")
    expect(Result.getOrThrow(corpusPatchFromWire(wire))).toEqual({ vectorDb: { _tag: "pinecone", indexName: "i" } })
  })

  it("15: the embedding model beside the database", () => {
    const wire = read(routes.createRagCorpus, {
      display_name: "d",
      rag_embedding_model_config: { vertex_prediction_endpoint: { endpoint: "e" } }
    })
    expect(Result.getOrThrow(corpusSpecFromWire(wire)).embeddingModel).toBe("e")
  })

  it("17: a rate in a string", () => {
    const processor = "projects/p/locations/us/processors/x"
    const parsing = { layout_parser: { processor_name: processor, max_parsing_requests_per_min: "120" } }
    expect(importOf({ ...gcs, rag_file_parsing_config: parsing }).parsing).toEqual({ _tag: "layout", processor, maxRequestsPerMinute: 120 })
  })

  it.each([
    { rag_file_chunking_config: { chunk_size: 512, chunk_overlap: 50 } },
    { ragFileChunkingConfig: { fixedLengthChunking: { chunkSize: 512, chunkOverlap: 50 } } },
    { rag_file_transformation_config: { rag_file_chunking_config: { chunk_size: "512", chunk_overlap: "50" } } },
    { ragFileTransformationConfig: { ragFileChunkingConfig: { fixedLengthChunking: { chunkSize: 512, chunkOverlap: 50 } } } }
  ])("18: chunking as %j", (config) => {
    expect(importOf({ ...gcs, ...config }).chunking).toEqual({ strategy: "fixed", size: 512, overlap: 50 })
  })

  it("18: no chunking is the service's default", () => {
    expect(importOf(gcs).chunking).toEqual({ strategy: "fixed", size: 1024, overlap: 200 })
  })

  it("19: one value where a list belongs", () => {
    expect(importOf({ gcs_source: { uris: "gs://b/x" } }).source).toEqual({ _tag: "storage", uris: ["gs://b/x"] })
    expect(importOf({ google_drive_source: { resource_ids: { resource_id: "f", resource_type: "RESOURCE_TYPE_FOLDER" } } }).source).toEqual(
      {
        _tag: "googleDrive",
        resources: [{ kind: "folder", id: "f" }]
      }
    )
    const wire = read(routes.generateContent, {
      contents: { role: "user", parts: { text: "q" } },
      tools: {
        retrieval: {
          disable_attribution: false,
          vertex_rag_store: { rag_resources: { rag_corpus: corpus }, similarity_top_k: 3, vector_distance_threshold: 0.5 }
        }
      }
    })
    expect(Result.getOrThrow(groundedQuestionFromWire(parent, wire))).toEqual({
      question: "q",
      selection: { corpus, topK: 3, filter: { maxDistance: 0.5 } }
    })
  })

  it("20: SharePoint as the documentation's curl", () => {
    const sharePointSource = [{
      sharepointFolderPath: "/policies",
      driveName: "Documents",
      sharepointSiteName: "Handbook",
      clientId: "c",
      tenantId: "t",
      apiKeyConfig: { apiKeySecretVersion: secretVersion }
    }]
    expect(importOf({ sharePointSources: { sharePointSource } }).source).toEqual({
      _tag: "sharePoint",
      libraries: [{
        site: "Handbook",
        drive: { name: "Documents" },
        folder: { path: "/policies" },
        clientId: "c",
        tenantId: "t",
        clientSecret: secretVersion
      }]
    })
  })

  it("21, 29: metadata of an upload as the SDK prints it", () => {
    const wire = read(
      routes.uploadRagFile,
      "{'rag_file': {'display_name': 'x'}, 'upload_rag_file_config': {'rag_file_transformation_config': {'rag_file_chunking_config': {'fixed_length_chunking': {'chunk_size': 512, 'chunk_overlap': 10}}}},}"
    )
    const content = new Uint8Array()
    expect(Result.getOrThrow(uploadRequestFromWire(corpus, wire, { content }))).toEqual({
      corpus,
      displayName: "x",
      content,
      chunking: { strategy: "fixed", size: 512, overlap: 10 }
    })
  })

  it("22: thresholds and top k in their old places; the newer win", () => {
    const retrieve = (store: object, query: object) =>
      Result.getOrThrow(retrieveRequestFromWire(
        parent,
        read(routes.retrieveContexts, {
          vertex_rag_store: { rag_resources: [{ rag_corpus: corpus }], ...store },
          query: { text: "q", ...query }
        })
      ))
    expect(retrieve({ vector_distance_threshold: 0.8 }, { similarity_top_k: 5 })).toEqual({
      corpus,
      query: "q",
      topK: 5,
      filter: { maxDistance: 0.8 }
    })
    expect(
      retrieve({ vector_distance_threshold: 0.8 }, {
        similarity_top_k: 5,
        ragRetrievalConfig: { topK: 2, filter: { vectorDistanceThreshold: 0.3 } }
      })
    )
      .toEqual({ corpus, query: "q", topK: 2, filter: { maxDistance: 0.3 } })
    expect(retrieve({ vector_distance_threshold: 0.8 }, { ragRetrievalConfig: { filter: { vectorSimilarityThreshold: 0.3 } } }))
      .toEqual({ corpus, query: "q", filter: { minSimilarity: 0.3 } })
  })

  it("23: ragCorpora instead of resources, and bare ids of corpora", () => {
    for (const store of [{ rag_corpora: [corpus] }, { ragCorpora: "1" }, { ragResources: [{ ragCorpus: "1" }] }]) {
      const wire = read(routes.retrieveContexts, { vertexRagStore: store, query: { text: "q" } })
      expect(Result.getOrThrow(retrieveRequestFromWire(parent, wire))).toEqual({ corpus, query: "q" })
    }
  })

  it("25: files by id or by name", () => {
    const wire = read(routes.retrieveContexts, {
      vertexRagStore: { ragResources: { ragCorpus: corpus, ragFileIds: ["7", `${corpus}/ragFiles/8`] } },
      query: { text: "q" }
    })
    expect(Result.getOrThrow(retrieveRequestFromWire(parent, wire)).files).toEqual([`${corpus}/ragFiles/7`, `${corpus}/ragFiles/8`])
  })

  it("27, 28: on v1 what only v1beta1 has, unless strict", () => {
    const body = { displayName: "d", vectorDbConfig: { weaviate: { httpEndpoint: "https://h" } } }
    expect(Result.getOrThrow(corpusSpecFromWire(read(routes.createRagCorpus, body, "v1"))).vectorDb).toEqual({
      _tag: "weaviate",
      httpEndpoint: "https://h"
    })
    expect(refused(routes.createRagCorpus, body, { version: "v1", strict: true })?.message).toBe(
      `Invalid JSON payload received. Unknown name "weaviate" at 'rag_corpus.vector_db_config': Cannot find field.`
    )
    const query = { text: "q", ragRetrievalConfig: { hybridSearch: {} } }
    const wire = read(routes.retrieveContexts, { vertexRagStore: { ragResources: { ragCorpus: corpus } }, query }, "v1")
    expect(Result.getOrThrow(retrieveRequestFromWire(parent, wire)).hybrid).toEqual({})
  })

  it("30: durations and timestamps as seconds and nanos", () => {
    expect(
      read(routes.generateContent, {
        contents: { parts: { text: "q", videoMetadata: { startOffset: { seconds: 10, nanos: 500_000_000 }, endOffset: "12s" } } }
      })
    )
      .toMatchObject({ contents: [{ parts: [{ videoMetadata: { startOffset: "10.500s", endOffset: "12s" } }] }] })
    expect(read(routes.waitOperation, { timeout: { seconds: "30" } })).toEqual({ timeout: "30s" })
    const channels = [{
      channels: [{ channelId: "C", startTime: { seconds: 1_767_225_600, nanos: 1000 } }],
      apiKeyConfig: { apiKeySecretVersion: secretVersion }
    }]
    expect(importOf({ slackSource: { channels } }).source).toMatchObject({
      workspaces: [{ channels: [{ id: "C", start: "2026-01-01T00:00:00.000001Z" }] }]
    })
  })

  it.each([
    ["2026-01-01T02:00:00.123456+02:00", "2026-01-01T00:00:00.123456Z"],
    ["2026-01-01t00:00:00z", "2026-01-01T00:00:00Z"]
  ])("timestamps in UTC: %s", (given, utc) => {
    const channels = [{ channels: [{ channelId: "C", startTime: given }], apiKeyConfig: { apiKeySecretVersion: secretVersion } }]
    expect(importOf({ slackSource: { channels } }).source).toMatchObject({ workspaces: [{ channels: [{ start: utc }] }] })
  })

  it("35: what came later is taken", () => {
    expect(read(routes.createRagCorpus, {
      displayName: "d",
      vectorDbConfig: { ragManagedDb: { ann: { treeDepth: 2, leafCount: 500 } } },
      encryptionSpec: { kmsKeyName: "k" },
      corpusTypeConfig: { documentCorpus: {} }
    })).toMatchObject({ encryptionSpec: { kmsKeyName: "k" } })
    expect(
      importOf({ ...gcs, rebuildAnnIndex: true, globalMaxEmbeddingRequestsPerMin: 5, importResultGcsSink: { outputUriPrefix: "gs://b/r" } })
        .resultSink
    )
      .toBe("gs://b/r")
  })

  it("numbers for enums, also unknown ones", () => {
    expect(importOf({ googleDriveSource: { resourceIds: [{ resourceType: 2, resourceId: "abc" }] } }).source).toMatchObject({
      resources: [{ kind: "folder" }]
    })
    expect(read(routes.generateContent, { contents: [], safetySettings: [{ category: 3, threshold: 99 }] })).toEqual({
      contents: [],
      safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "99" }]
    })
  })

  it("a field under two of its names as one", () => {
    const body = {
      display_name: "old",
      displayName: "d",
      vectorDbConfig: { pinecone: { indexName: "i" } },
      rag_vector_db: { pinecone: {}, api_auth: { api_key_config: { api_key_secret_version: secretVersion } } }
    }
    expect(Result.getOrThrow(corpusSpecFromWire(read(routes.createRagCorpus, body)))).toEqual({
      displayName: "d",
      vectorDb: { _tag: "pinecone", indexName: "i", apiKey: secretVersion }
    })
  })

  it("the path's own fields repeated in the body", () => {
    expect(importOf({ parent: corpus, ...gcs }).corpus).toBe(corpus)
    expect(refused(routes.retrieveContexts, { parent, query: { text: "q" } })).toBeUndefined()
  })

  it("empty bodies, and the empty string that some clients send to cancel", () => {
    for (const body of ["", "\"\"", "{}", "null", " "]) expect(read(routes.cancelOperation, body)).toEqual({})
  })
})

describe("refusals in the service's words", () => {
  it.each([
    [{ nme: 1 }, `Invalid JSON payload received. Unknown name "nme" at 'rag_corpus': Cannot find field.`],
    [
      { vectorDbConfig: { pinecone: { indexNames: 1 } } },
      `Invalid JSON payload received. Unknown name "indexNames" at 'rag_corpus.vector_db_config.pinecone': Cannot find field.`
    ],
    [
      { vectorDbConfig: { pinecone: {}, weaviate: {} } },
      `Invalid value at 'rag_corpus.vector_db_config' (oneof), oneof field 'vector_db' is already set. Cannot set 'weaviate'`
    ],
    [
      { displayName: ["a"] },
      `Invalid JSON payload received. Unknown name "displayName" at 'rag_corpus': Proto field is not repeating, cannot start list.`
    ],
    [{ displayName: {} }, `Invalid value at 'rag_corpus.display_name' (TYPE_STRING), Starting an object on a scalar field`],
    [
      { corpusStatus: "ok" },
      `Invalid value at 'rag_corpus.corpus_status' (type.googleapis.com/google.cloud.aiplatform.v1beta1.CorpusStatus), "ok"`
    ],
    [{ createTime: "today" }, `Invalid value at 'rag_corpus.create_time' (type.googleapis.com/google.protobuf.Timestamp), "today"`],
    [
      { corpusStatus: { state: "GONE" } },
      `Invalid value at 'rag_corpus.corpus_status.state' (type.googleapis.com/google.cloud.aiplatform.v1beta1.CorpusStatus.State), "GONE"`
    ],
    [[], `Invalid JSON payload received. Unknown name "": Root element must be a message.`]
  ])("%j", (body, message) => {
    const error = refused(routes.createRagCorpus, body)
    expect(error?.code).toBe("INVALID_ARGUMENT")
    expect(error?.message).toBe(message)
    expect(error?.violations?.[0]?.description).toBe(message)
  })

  it("at the top of a request, without a place", () => {
    expect(refused(routes.importRagFiles, { x: 1 })?.message).toBe(`Invalid JSON payload received. Unknown name "x": Cannot find field.`)
  })

  it("all at once, but not without end", () => {
    const body = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`x${i}`, 1]))
    expect(refused(routes.createRagCorpus, body)?.violations).toHaveLength(20)
  })

  it("never repeat a value where a secret belongs", () => {
    const auth = (apiKeySecretVersion: Json) => ({
      displayName: "d",
      vectorDbConfig: { pinecone: {}, apiAuth: { apiKeyConfig: { apiKeySecretVersion } } }
    })
    expect(JSON.stringify(refused(routes.createRagCorpus, auth(31337)))).not.toContain("31337")
    const spec = corpusSpecFromWire(read(routes.createRagCorpus, auth("pc-31337")))
    expect(Result.isFailure(spec) && spec.failure.violations?.[0]?.field).toBe(
      "rag_corpus.vector_db_config.api_auth.api_key_config.api_key_secret_version"
    )
    expect(JSON.stringify(spec)).not.toContain("31337")
  })

  it("of what is missing or out of range", () => {
    const fieldOf = (result: Result.Result<unknown, { readonly violations?: ReadonlyArray<{ readonly field: string }> }>) =>
      Result.isFailure(result) ? result.failure.violations?.[0]?.field : undefined
    expect(fieldOf(corpusSpecFromWire({}))).toBe("rag_corpus.display_name")
    expect(fieldOf(importRequestFromWire(corpus, {}))).toBe("import_rag_files_config")
    expect(fieldOf(importRequestFromWire(corpus, { importRagFilesConfig: {} }))).toBe("import_rag_files_config")
    expect(
      fieldOf(
        importRequestFromWire(corpus, { importRagFilesConfig: { ...gcs, ragFileChunkingConfig: { chunkSize: 10, chunkOverlap: 10 } } })
      )
    )
      .toBe("import_rag_files_config.rag_file_transformation_config.rag_file_chunking_config.fixed_length_chunking.chunk_overlap")
    expect(fieldOf(retrieveRequestFromWire(parent, { query: { text: "q" } }))).toBe("vertex_rag_store.rag_resources[0].rag_corpus")
    expect(fieldOf(retrieveRequestFromWire(parent, { vertexRagStore: { ragResources: [{ ragCorpus: "1" }, {}] }, query: { text: "q" } })))
      .toBe("vertex_rag_store.rag_resources[1].rag_corpus")
    expect(fieldOf(retrieveRequestFromWire(parent, { vertexRagStore: { ragCorpora: ["1"] }, query: {} }))).toBe("query.text")
    expect(fieldOf(uploadRequestFromWire(corpus, {}, { content: new Uint8Array() }))).toBe("rag_file.display_name")
    expect(fieldOf(groundedQuestionFromWire(parent, {}))).toBe("contents")
  })
})

describe("queries", () => {
  it("in either case, numbers and booleans as words, and what every method takes", () => {
    const page = readQuery(routes.listRagCorpora, "page_size=5&pageToken=a%20b&$alt=json%3Benum-encoding=int&$prettyPrint=0&key=k")
    expect(Result.getOrThrow(page)).toEqual({ query: { pageSize: 5, pageToken: "a b" }, form: { enumNumbers: true, sse: false } })
    expect(Result.getOrThrow(readQuery(routes.deleteRagCorpus, "force=True")).query).toEqual({ force: true })
    expect(Result.getOrThrow(readQuery(routes.streamGenerateContent, "alt=sse")).form).toEqual({ enumNumbers: false, sse: true })
    expect(Result.getOrThrow(readQuery(routes.getRagCorpus, "")).query).toEqual({})
  })

  it("refuse what no method of this name takes", () => {
    const result = readQuery(routes.listRagCorpora, "pageSizes=5&pageSize=five")
    expect(Result.isFailure(result) && result.failure.violations?.map(({ field }) => field)).toEqual(["pageSizes", "page_size"])
  })
})

/** Keys in the protos' own spelling, at every depth. */
const snaked = (json: Json): Json =>
  Array.isArray(json)
    ? json.map(snaked)
    : typeof json === "object" && json !== null
    ? Object.fromEntries(Object.entries(json).map(([key, value]) => [snake(key), snaked(value)]))
    : json

it("snake_case and camelCase are the same request", () => {
  const same = <B>(route: Route<string, unknown, B, unknown>, body: B & object) => {
    const json = Result.getOrThrow(encodeRequest(route, "v1beta1", body))
    expect(read(route, snaked(json) as object)).toEqual(read(route, json))
    expect(read(route, json)).toEqual(json)
  }
  fc.assert(fc.property(any.corpusSpec, any.importRequest, any.retrieval, (spec, request, retrieval) => {
    same(routes.createRagCorpus, corpusSpecToWire(spec))
    same(routes.importRagFiles, Result.getOrThrow(importRequestToWire(request)))
    same(routes.retrieveContexts, Result.getOrThrow(retrieveRequestToWire(retrieval)))
  }))
})

/** JSON that is like a request: its keys are of this API, its values of any shape. */
const keys = [
  "displayName",
  "vector_db_config",
  "pinecone",
  "importRagFilesConfig",
  "gcsSource",
  "uris",
  "query",
  "text",
  "vertexRagStore",
  "ragResources",
  "ragCorpus",
  "contents",
  "parts",
  "tools",
  "retrieval",
  "ragRetrievalConfig",
  "filter",
  "topK",
  "seconds",
  "nanos",
  "@type",
  "__proto__"
]
const strange = fc.letrec((tie) => ({
  json: fc.oneof(
    { maxDepth: 6 },
    fc.oneof(
      fc.constant(null),
      fc.boolean(),
      fc.double(),
      fc.integer(),
      fc.string({ unit: "binary" }),
      fc.constantFrom("1", "true", "3.5s", "NaN", "2026-01-01T00:00:00Z")
    ),
    fc.array(tie("json"), { maxLength: 4 }),
    fc.array(fc.tuple(fc.oneof(fc.constantFrom(...keys), fc.string({ maxLength: 5 })), tie("json")), { maxLength: 5 })
      .map((entries) => Object.fromEntries(entries))
  )
})).json

it("no body makes reading it do anything but succeed or refuse", () => {
  const bodies = Object.values<Route>(routes).filter(({ body }) => body !== undefined)
  fc.assert(
    fc.property(
      fc.constantFrom(...bodies),
      strange,
      fc.constantFrom("v1" as const, "v1beta1" as const),
      fc.boolean(),
      (route, json, version, strict) => {
        const result = readBody(route, JSON.stringify(json) ?? "", { version, strict })
        if (Result.isFailure(result)) {
          expect(result.failure.code).toBe("INVALID_ARGUMENT")
          return
        }
        const wire = result.success as never // each mapping takes its own message and must bear any other's fields
        for (const map of [corpusSpecFromWire, corpusPatchFromWire]) if (route.body === routes.createRagCorpus.body) map(wire)
        if (route === routes.importRagFiles) importRequestFromWire(corpus, wire)
        if (route === routes.retrieveContexts) retrieveRequestFromWire(parent, wire)
        if (route === routes.generateContent) groundedQuestionFromWire(parent, wire)
        if (route === routes.uploadRagFile) uploadRequestFromWire(corpus, wire, { content: new Uint8Array() })
      }
    ),
    { numRuns: 3000 }
  )
})

it("bytes that are not UTF-8 are refused", () => {
  const result = readBody(routes.createRagCorpus, Uint8Array.of(0x7b, 0xff, 0x7d), { version: "v1" })
  expect(Result.isFailure(result) && result.failure.code).toBe("INVALID_ARGUMENT")
})

it.each([
  [
    "POST",
    "/v1beta1/projects/p1/locations/us-central1/publishers/google/models/gemini-2.0-flash-001:generateContent",
    `{"contents":[{"parts":[{"text":"hi"}],"role":"user"}],"systemInstruction":{"parts":[{"text":"sys"}],"role":"user"},"safetySettings":[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"OFF"}],"tools":[{"retrieval":{"vertexRagStore":{"ragResources":[{"ragCorpus":"projects/p1/locations/us-central1/ragCorpora/77"}],"ragRetrievalConfig":{"topK":3,"filter":{"vectorDistanceThreshold":0.5}}}}}],"generationConfig":{"temperature":0.5,"maxOutputTokens":10}}`
  ],
  [
    "POST",
    "/v1beta1/projects/p1/locations/us-central1/publishers/google/models/m:generateContent",
    `{"contents":[{"parts":[{"text":"hi"}],"role":"user"}],"labels":{},"safetySettings":[{"category":3,"threshold":5}]}`
  ],
  [
    "POST",
    "/v1beta1/projects/p1/locations/us-central1/ragCorpora",
    `{"vectorDbConfig":{"pinecone":{"indexName":"idx"},"apiAuth":{"apiKeyConfig":{"apiKeySecretVersion":"projects/1/secrets/s/versions/1"}},"ragEmbeddingModelConfig":{"vertexPredictionEndpoint":{"endpoint":"projects/p1/locations/us-central1/publishers/google/models/text-embedding-005"}}},"displayName":"d","description":"x"}`
  ],
  [
    "POST",
    "/v1beta1/projects/p1/locations/us-central1/ragCorpora/77/ragFiles:import",
    `{"importRagFilesConfig":{"googleDriveSource":{"resourceIds":[{"resourceType":2,"resourceId":"abc"}]},"ragFileTransformationConfig":{"ragFileChunkingConfig":{"fixedLengthChunking":{"chunkSize":512,"chunkOverlap":50}}},"maxEmbeddingRequestsPerMin":900}}`
  ],
  [
    "POST",
    "/v1beta1/projects/p1/locations/us-central1/ragCorpora/77/ragFiles:upload",
    `{"ragFile":{"displayName":"f.txt"},"uploadRagFileConfig":{}}`
  ],
  [
    "POST",
    "/v1beta1/projects/p1/locations/us-central1:retrieveContexts",
    `{"vertexRagStore":{"ragResources":[{"ragCorpus":"projects/p1/locations/us-central1/ragCorpora/77"}]},"query":{"text":"q?","ragRetrievalConfig":{"topK":4,"filter":{"vectorSimilarityThreshold":0.4}}}}`
  ],
  ["PATCH", "/v1beta1/projects/p1/locations/us-central1/ragCorpora/77", `{"displayName":"d2"}`]
])("the request real clients make is read: %s %s", (verb, path, body) => {
  const found = match(verb, path)
  expect(found).toBeDefined()
  expect(refused(routes[found?.key ?? "getRagCorpus"], body)).toBeUndefined()
})
