import * as fc from "fast-check"
import type { Answer, Citation, Support } from "../../src/domain/Answer.ts"
import type { Chunking } from "../../src/domain/Chunking.ts"
import {
  type Corpus,
  CorpusName,
  type CorpusOptions,
  type CorpusPatch,
  type CorpusSpec,
  CorpusState,
  type VectorDb
} from "../../src/domain/Corpus.ts"
import { defined } from "../../src/domain/Defined.ts"
import { Code, DocumentError, DocumentProblem, ServiceError } from "../../src/domain/Errors.ts"
import type { ImportRequest, ImportSource } from "../../src/domain/Import.ts"
import { type Operation, OperationKind, OperationName } from "../../src/domain/Operation.ts"
import type { Parsing } from "../../src/domain/Parsing.ts"
import { FileState, type Marker, type RagFile, RagFileName } from "../../src/domain/RagFile.ts"
import type { Context, Ranking, RetrievalRequest } from "../../src/domain/Retrieval.ts"
import { SecretVersion } from "../../src/domain/Secret.ts"
import { isModelOperation } from "../../src/wire/models/ModelOperations.ts"

/** Any domain value that can meet the wire; absent keys are absent. */

export const text = fc.string({ unit: "binary", maxLength: 40 })
export const word = fc.string({ unit: "binary", minLength: 1, maxLength: 40 }).filter((s) => s.trim() !== "")

/** Every character an id may have: what a path segment takes, without `/`, `:`, dot segments, `?`, `#` and controls. */
export const id = fc.string({ unit: "binary", minLength: 1, maxLength: 24 })
  .filter((s) => !/[/:?#\p{Cc}]/u.test(s) && s !== "." && s !== "..")
const digits = fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }).map(String)

export const parent = fc.tuple(fc.oneof(id, fc.constant("example.com:project")), id).map(([p, l]) => `projects/${p}/locations/${l}`)
export const corpusName = fc.tuple(parent, digits).map(([p, c]) => CorpusName.make(`${p}/ragCorpora/${c}`))
export const fileNameOf = (corpus: string) => digits.map((f) => RagFileName.make(`${corpus}/ragFiles/${f}`))
export const fileName = corpusName.chain(fileNameOf)

export const secret = fc.tuple(
  fc.constantFrom("my-project", "12345"),
  fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/),
  fc.constantFrom("latest", "7")
)
  .map(([p, s, v]) => SecretVersion.make(`projects/${p}/secrets/${s}/versions/${v}`))

/** With microseconds, as the service writes. */
export const time = fc.tuple(
  fc.date({ min: new Date("1970-01-01"), max: new Date("2100-01-01"), noInvalidDate: true }),
  fc.integer({ min: 0, max: 999 })
)
  .map(([date, micros]) => date.toISOString().replace("Z", `${String(micros).padStart(3, "0")}Z`))

/** Names in the forms that the service has for them. */
const part = fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/)
const resource = (...kinds: ReadonlyArray<string>) =>
  fc.tuple(part, part, part, part, part).map(([project, location, ...ids]) =>
    [`projects/${project}/locations/${location}`, ...kinds.map((kind, at) => `${kind}/${ids[at]}`)].join("/")
  )
const processor = fc.oneof(resource("processors"), resource("processors", "processorVersions"))
const webAddress = fc.tuple(fc.constantFrom("http", "https"), part, fc.webPath()).map(([scheme, host, path]) =>
  `${scheme}://${host}.example${path}`
)
const embeddingModel = fc.oneof(part, resource("endpoints"), resource("publishers", "models"))

const partial = { requiredKeys: [] as [] }
const rate = fc.integer({ min: 1, max: 100_000 })

export const vectorDb: fc.Arbitrary<VectorDb> = fc.oneof(
  fc.constant({ _tag: "managed" as const }),
  fc.record({ _tag: fc.constant("weaviate" as const), httpEndpoint: webAddress, collectionName: word, apiKey: secret }, {
    requiredKeys: ["_tag"]
  }),
  fc.record({ _tag: fc.constant("pinecone" as const), indexName: word, apiKey: secret }, { requiredKeys: ["_tag"] }),
  fc.record({ _tag: fc.constant("featureStore" as const), featureView: resource("featureOnlineStores", "featureViews") }, {
    requiredKeys: ["_tag"]
  }),
  fc.record({ _tag: fc.constant("vectorSearch" as const), index: resource("indexes"), indexEndpoint: resource("indexEndpoints") }, {
    requiredKeys: ["_tag"]
  }),
  fc.record({ _tag: fc.constant("agentSearch" as const), servingConfig: resource("collections", "engines", "servingConfigs") }, {
    requiredKeys: ["_tag"]
  })
)

/** The embedding of a corpus that keeps its vectors in agent search is that service's. */
const embedded = <A extends { readonly vectorDb: VectorDb }>(value: A & { readonly embeddingModel?: string }) => {
  const { embeddingModel: _, ...rest } = value
  return value.vectorDb._tag === "agentSearch" ? rest : value
}

const llmParsing = fc.record(
  { _tag: fc.constant("llm" as const), model: word, prompt: word, maxRequestsPerMinute: rate, globalMaxRequestsPerMinute: rate },
  { requiredKeys: ["_tag", "model"] }
)

const corpusOptions: fc.Arbitrary<CorpusOptions> = fc.record({
  search: fc.oneof(
    fc.constant({ _tag: "knn" as const }),
    fc.constant({ _tag: "vectorSearch" as const }),
    fc.record({ _tag: fc.constant("ann" as const), treeDepth: fc.constantFrom(2, 3), leafCount: rate }, { requiredKeys: ["_tag"] })
  ),
  hybrid: fc.record({
    bm25: fc.record({
      multilingual: fc.constant(true),
      k1: fc.double({ min: 1.2, max: 3, noNaN: true }),
      b: fc.double({ min: 0, max: 1, noNaN: true }).map((b) => b + 0)
    }, partial)
  }, partial),
  encryptionKey: resource("keyRings", "cryptoKeys"),
  holds: fc.oneof(
    fc.constant({ _tag: "documents" as const }),
    fc.record({ _tag: fc.constant("memories" as const), parser: llmParsing }, { requiredKeys: ["_tag"] })
  )
}, partial)

/** Only the managed database has a strategy, hybrid search has a model for its vectors, and no options at all are absent. */
const withOptions = <A extends { readonly vectorDb: VectorDb; readonly embeddingModel?: string; readonly options?: CorpusOptions }>(
  { options, ...value }: A
) => {
  const { hybrid, search, ...others } = options ?? {}
  const kept = defined({
    search: value.vectorDb._tag === "managed" ? search : undefined,
    hybrid: value.embeddingModel === undefined ? undefined : hybrid,
    ...others
  })
  return Object.keys(kept).length === 0 ? value : { ...value, options: kept }
}

export const corpusSpec: fc.Arbitrary<CorpusSpec> = fc.record(
  { displayName: word, description: word, vectorDb, embeddingModel, options: corpusOptions },
  { requiredKeys: ["displayName", "vectorDb"] }
).map(embedded).map(withOptions)

export const corpusPatch: fc.Arbitrary<CorpusPatch> = fc.oneof(
  fc.record({ displayName: word, description: word, vectorDb }, partial),
  fc.record({ displayName: word, apiKey: secret }, { requiredKeys: ["apiKey"] })
)

export const corpus: fc.Arbitrary<Corpus> = fc.record({
  name: corpusName,
  displayName: word,
  description: word,
  vectorDb,
  embeddingModel,
  options: corpusOptions,
  state: fc.constantFrom(...CorpusState.literals),
  errorStatus: word,
  filesCount: fc.integer({ min: 1, max: 1_000_000 }),
  createTime: time,
  updateTime: time
}, { requiredKeys: ["name", "displayName", "vectorDb", "state", "createTime", "updateTime"] }).map(embedded).map(withOptions)

const hash = fc.stringMatching(/^[0-9a-f]{32}$/)
export const marker: fc.Arbitrary<Marker> = fc.record({
  source: fc.string({ unit: "binary", minLength: 1, maxLength: 60 }),
  pathHash: hash,
  fingerprint: fc.tuple(hash, hash, hash).map((parts) => parts.join("."))
})

export const ragFile: fc.Arbitrary<RagFile> = fc.tuple(
  fc.record({
    name: fileName,
    displayName: word,
    description: word,
    sizeBytes: fc.nat().map((n) => n + 1),
    state: fc.constantFrom(...FileState.literals),
    errorStatus: word,
    marker,
    createTime: time,
    updateTime: time
  }, { requiredKeys: ["name", "displayName", "state", "createTime", "updateTime"] }),
  fc.oneof(fc.constant(undefined), id.map((object) => `gs://bucket/${object}`), id.map((id) => `https://drive.google.com/open?id=${id}`))
).map(([file, uri]) => ({ ...file, sourceUri: uri ?? file.displayName }))

export const chunking: fc.Arbitrary<Chunking> = fc.integer({ min: 1, max: 8192 }).chain((size) =>
  fc.record({ strategy: fc.constant("fixed" as const), size: fc.constant(size), overlap: fc.integer({ min: 0, max: size - 1 }) })
)

/** The default parser goes unsaid on the wire. */
export const parsing: fc.Arbitrary<Exclude<Parsing, { readonly _tag: "default" }>> = fc.oneof(
  fc.record(
    { _tag: fc.constant("layout" as const), processor, maxRequestsPerMinute: rate, globalMaxRequestsPerMinute: rate },
    { requiredKeys: ["_tag", "processor"] }
  ),
  llmParsing
)

export const upload = fc.record({ displayName: word, description: word, marker, chunking, parsing }, {
  requiredKeys: ["displayName", "chunking"]
})

const channel = fc.stringMatching(/^[A-Z0-9]{1,12}$/)
const some = <A>(arbitrary: fc.Arbitrary<A>) => fc.array(arbitrary, { minLength: 1, maxLength: 4 })

export const importSource: fc.Arbitrary<ImportSource> = fc.oneof(
  fc.record({ _tag: fc.constant("storage" as const), uris: some(word.map((s) => `gs://${s}`)) }),
  fc.record({
    _tag: fc.constant("googleDrive" as const),
    resources: some(fc.record({ kind: fc.constantFrom("file" as const, "folder" as const), id: part }))
  }),
  fc.record({
    _tag: fc.constant("slack" as const),
    workspaces: some(fc.record({
      channels: some(fc.oneof(
        fc.record({ id: channel, start: time }, { requiredKeys: ["id"] }),
        fc.record({ id: channel, end: time })
      )),
      token: secret
    }))
  }),
  fc.record({
    _tag: fc.constant("jira" as const),
    accounts: some(
      fc.record({
        server: part.map((host) => `${host.replace(/^[-_]+/, "j")}.atlassian.net`.replaceAll("_", "-")),
        email: part.map((name) => `${name}@acme.com`),
        projects: some(word),
        queries: fc.array(word, { maxLength: 2 }),
        token: secret
      })
    )
  }),
  fc.record({
    _tag: fc.constant("sharePoint" as const),
    libraries: some(fc.record({
      site: word,
      drive: fc.oneof(fc.record({ name: word }), fc.record({ id: word })),
      folder: fc.oneof(fc.record({ path: word }), fc.record({ id: word })),
      clientId: word,
      tenantId: word,
      clientSecret: secret
    }, { requiredKeys: ["site", "drive", "clientId", "tenantId", "clientSecret"] }))
  })
)

export const importRequest: fc.Arbitrary<ImportRequest> = fc.record({
  corpus: corpusName,
  source: importSource,
  chunking,
  parsing,
  maxEmbeddingRequestsPerMinute: rate,
  globalMaxEmbeddingRequestsPerMinute: rate,
  resultSink: fc.constantFrom("gs://bucket/results", "bq://project.dataset.table"),
  rebuildAnnIndex: fc.constant(true)
}, { requiredKeys: ["corpus", "source", "chunking"] })

const unit = fc.float({ min: 0, max: 1, noNaN: true, noDefaultInfinity: true }).map((n) => (n === 0 ? 0 : n)) // no -0: JSON has none
const distance = unit.map((n) => n * 2)
/** Words of the filter language, which cannot be quoted there and are refused as keys. */
const keywords: ReadonlySet<string> = new Set(["AND", "OR", "NOT", "in", "true", "false"])
/** Keys of metadata that a filter can name. */
export const key = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,10}$/).filter((k) => k !== "__proto__" && !keywords.has(k))
export const metadata = fc.dictionary(key, text, { minKeys: 1, maxKeys: 4, noNullPrototype: true })

export const ranking: fc.Arbitrary<Exclude<Ranking, { readonly _tag: "lexical" }>> = fc.oneof(
  fc.record({ _tag: fc.constant("rankService" as const), model: word }, { requiredKeys: ["_tag"] }),
  fc.record({ _tag: fc.constant("llmRanker" as const), model: word }, { requiredKeys: ["_tag"] })
)

export const retrieval: fc.Arbitrary<RetrievalRequest> = corpusName.chain((corpus) =>
  fc.record({
    corpus: fc.constant(corpus),
    files: some(fileNameOf(corpus)),
    query: word,
    topK: fc.integer({ min: 1, max: 100 }),
    hybrid: fc.record({ alpha: unit }, partial),
    filter: fc.oneof(
      fc.record({ maxDistance: distance, metadata }, { requiredKeys: ["maxDistance"] }),
      fc.record({ minSimilarity: unit, metadata }, { requiredKeys: ["minSimilarity"] }),
      fc.record({ metadata })
    ),
    rank: ranking
  }, { requiredKeys: ["corpus", "query"] })
)

/** What of a context crosses the wire, and back. */
export const contextOf = (corpus: string): fc.Arbitrary<Context> =>
  fc.record({
    chunkId: word,
    file: fileNameOf(corpus),
    sourceUri: word,
    sourceDisplayName: word,
    text: word,
    headings: fc.constant([]),
    distance,
    firstPage: fc.integer({ min: 1, max: 999 }),
    pages: fc.integer({ min: 0, max: 3 })
  }, { requiredKeys: ["chunkId", "file", "sourceUri", "sourceDisplayName", "text", "headings", "distance"] }).map(
    ({ firstPage, pages = 0, ...rest }) => ({
      ...rest,
      score: 1 - rest.distance,
      ...(firstPage === undefined ? {} : { firstPage, lastPage: firstPage + pages })
    })
  )

/** Marked as our generators mark: ` [1][2]` after each supported stretch. */
export const answerOf = (corpus: string): fc.Arbitrary<Answer> =>
  fc.tuple(
    fc.array(contextOf(corpus), { maxLength: 4 }),
    fc.array(fc.tuple(word, fc.array(fc.nat(), { minLength: 1, maxLength: 3 }), unit), { maxLength: 4 }),
    fc.option(fc.record({ promptTokens: rate, answerTokens: rate, totalTokens: rate }), { nil: undefined })
  ).map(([contexts, sentences, usage]) => {
    const citations = contexts.map(({ chunkId, file, firstPage, lastPage, sourceDisplayName, sourceUri, text }, i): Citation => ({
      index: i + 1,
      file,
      sourceUri,
      sourceDisplayName,
      chunkId,
      quote: text,
      ...(firstPage === undefined || lastPage === undefined ? {} : { firstPage, lastPage })
    }))
    const supports: Array<Support> = []
    let answer = ""
    for (const [sentence, sources, confidence] of sentences) {
      const start = answer.length
      answer += sentence
      const marks = citations.length === 0 ? [] : [...new Set(sources.map((n) => n % citations.length + 1))]
      if (marks.length === 0) continue
      supports.push({ start, end: answer.length, citations: marks, confidence })
      answer += ` ${marks.map((n) => `[${n}]`).join("")}`
    }
    return {
      text: answer === "" ? "nothing" : answer,
      grounded: supports.length > 0,
      citations: supports.length > 0 ? citations : [],
      supports,
      model: "model",
      ...(usage === undefined ? {} : { usage })
    }
  })

export const code = fc.constantFrom(...Code.literals)
const violation = fc.record({ field: word, description: word })

export const serviceError: fc.Arbitrary<ServiceError> = fc.record({
  code,
  message: word,
  fix: word,
  violations: fc.array(violation, { minLength: 1, maxLength: 3 }),
  reason: fc.stringMatching(/^[A-Z][A-Z0-9]{1,50}_[A-Z0-9]$/),
  retryAfter: fc.nat({ max: 100_000 })
}, { requiredKeys: ["code", "message"] }).map((fields) => new ServiceError(fields))

export const documentError = fc.record({ problem: fc.constantFrom(...DocumentProblem.literals), message: word })
  .map((fields) => new DocumentError(fields))

/** Those on models and endpoints are in `ModelArbitraries.ts`. */
/** What deletes data schemas or metadata looks on the wire like what deletes their corpus or file. */
const operationKinds = OperationKind.literals.filter((kind) =>
  !isModelOperation(kind) && kind !== "deleteDataSchemas" && kind !== "deleteFileMetadata"
)

export const operation: fc.Arbitrary<Operation> = fc.constantFrom(...operationKinds).chain((kind) => {
  const target: fc.Arbitrary<string> = kind === "deleteFile"
    ? fileName
    : kind === "deleteBatchJob"
    ? fc.tuple(parent, digits).map(([parent, job]) => `${parent}/batchPredictionJobs/${job}`)
    : kind === "updateEngineConfig"
    ? parent
    : corpusName
  return fc.tuple(target, digits, fc.boolean()).chain(([target, id, done]) =>
    fc.record({
      name: fc.constant(OperationName.make(`${target}/operations/${id}`)),
      kind: fc.constant(kind),
      target: fc.constant(target),
      done: fc.constant(done),
      partialFailures: fc.array(fc.record({ code, message: word }), { maxLength: 2 }),
      createTime: time,
      updateTime: time,
      failed: fc.option(fc.record({ code, message: word }), { nil: undefined }),
      progress: fc.integer({ min: 0, max: 100 }),
      counts: fc.record({ imported: fc.nat(), failed: fc.nat(), skipped: fc.nat() })
    }).map(({ counts, failed, progress, ...rest }) => ({
      ...rest,
      ...(kind === "importFiles" ? { progress } : {}),
      ...(done && failed !== undefined ? { error: failed } : {}),
      ...(kind === "importFiles" && done && failed === undefined ? { counts } : {})
    }))
  )
})
