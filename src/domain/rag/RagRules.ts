import { defined } from "../Defined.ts"
import type { Chunking } from "../Chunking.ts"
import type { CorpusOptions, CorpusPatch, CorpusSpec, VectorDb } from "../Corpus.ts"
import type { ImportRequest, ImportSource, JiraAccount, SharePointLibrary, SlackWorkspace } from "../Import.ts"
import type { Parsing } from "../Parsing.ts"
import type { RetrievalRequest, SearchedCorpus } from "../Retrieval.ts"
import type { Broken } from "../Rule.ts"
import { secretForm } from "../Secret.ts"
import {
  bucketUriForm,
  channelIdForm,
  driveIdForm,
  embeddingModelForm,
  emailForm,
  encryptionKeyForm,
  endTimeRule,
  featureViewForm,
  folderOrBucketForm,
  type Form,
  httpUrlForm,
  instantForm,
  jiraServerForm,
  maxInt32,
  processorForm,
  resultSinkForm,
  schemaNameForm,
  servingConfigForm,
  textForm,
  vectorSearchForm,
  wholeNumberRule,
  type Wording
} from "./Forms.ts"

/*
 * The rules of corpora, files, imports and retrieval. A pipeline file, the hosted engine before a request leaves, and the
 * server on the way in check these; each names a field as its own readers write it.
 */

type Found = ReadonlyArray<Broken>

/** Most characters of a display name; characters, not UTF-16 units. */
export const displayNameLimit = 128

export const displayNameRule: Wording = { rule: `must be ${displayNameLimit} characters or fewer` }
export const alphaRule: Wording = { rule: "must be from 0 (words only) to 1 (vectors only)" }
export const distanceRule: Wording = { rule: "must be 0 or more" }
const thresholdsRule: Wording = {
  rule: "takes one of maxDistance or minSimilarity, not maxDistance and minSimilarity",
  fix: "keep one of them"
}
export const filesGivenRule: Wording = { rule: "needs at least one file", fix: "leave files out to search the whole corpus" }
export const oneCorpusRule: Wording = { rule: "must all be files of one corpus, the one that is searched" }
/** A path of a source is none of a file's names: what is in the corpus is named by the engine. */
export const fileNamesRule: Wording = {
  rule: "must be ids of files, or names as projects/.../ragFiles/{id}; paths are neither",
  fix:
    "take ids from sluice files list; to narrow by path, give the pipeline metadata: { folder: { path: \"{folder}/**\" } }, and filter by metadataFilter: folder == \"people\""
}
/** Whether it may be a file's id, or is a name of one. */
export const isFileName = (file: string): boolean => !file.includes("/") || /^projects\/.+\/ragFiles\/[^/]+$/.test(file)
export const vectorSearchRule: Wording = {
  rule: "needs one index and one index endpoint; both names are of the same kind",
  fix: "write .../indexes/{index} for index and .../indexEndpoints/{endpoint} for indexEndpoint"
}
export const keyedDatabaseRule: Wording = { rule: "is for Weaviate and Pinecone only; this database takes no API key", fix: "leave it out" }
const hybridRule: Wording = {
  rule: "works with the Weaviate database only",
  fix: "leave hybrid out, or create the corpus with a Weaviate database"
}

const hybridModelRule: Wording = {
  rule: "must name the embedding model of the vectors",
  fix: "name the model, or leave the settings of hybrid search out"
}

export const overlapRule = (size: number): Wording => ({ rule: `must be less than size (${size})` })

/** Least and most tokens of a chunk. */
export const chunkSizeLimits = [1, 8192] as const

const breaks = (field: string, { fix, rule }: Wording): Found => [{ field, description: rule, fix }]

/** Checks the form of a field. An absent field has none; `required` checks that it is present. */
const formed = (field: string, value: string | undefined, form: Form): Found =>
  value === undefined || form.pattern.test(value) ? [] : breaks(field, form)

const required = (field: string, value: string | undefined, form: Form = textForm): Found =>
  value === undefined ? breaks(field, textForm) : formed(field, value, form)

export const textBroken = (field: string, value: string | undefined): Found => required(field, value)

const whole = (field: string, value: number | undefined, minimum = 1, maximum = maxInt32): Found =>
  value === undefined || (Number.isInteger(value) && value >= minimum && value <= maximum)
    ? []
    : breaks(field, wholeNumberRule(minimum, maximum))

const within = (field: string, value: number | undefined, minimum: number, maximum: number): Found =>
  value === undefined || (value >= minimum && value <= maximum) ? [] : breaks(field, { rule: `must be from ${minimum} to ${maximum}` })

const some = (field: string, items: ReadonlyArray<unknown>): Found => items.length > 0 ? [] : breaks(field, { rule: "needs at least one" })

export const displayNameBroken = (field: string, name: string | undefined): Found =>
  name === undefined || name.trim() === "" ? breaks(field, textForm) : isShortName(name) ? [] : breaks(field, displayNameRule)

export const isShortName = (name: string): boolean => name.length <= displayNameLimit || Array.from(name).length <= displayNameLimit

/** Broken rules of a new corpus, in the fields of a {@link CorpusSpec}. Which embedding models exist differs by engine. */
export const corpusBroken = ({ displayName, options, vectorDb }: CorpusSpec): Found => [
  ...displayNameBroken("displayName", displayName),
  ...vectorDbBroken(vectorDb),
  ...optionsBroken(options, vectorDb)
]

/** What a new corpus of the hosted service, or one made through its API, breaks. */
export const hostedCorpusBroken = (
  spec: CorpusSpec
): Found => [
  ...corpusBroken(spec),
  ...formed("embeddingModel", spec.embeddingModel, embeddingModelForm),
  ...(spec.options?.hybrid === undefined || spec.embeddingModel !== undefined ? [] : breaks("options.hybrid", hybridModelRule))
]

/** Broken rules of a change of a corpus, in the fields of a {@link CorpusPatch}. */
export const corpusPatchBroken = ({ apiKey, displayName, vectorDb }: CorpusPatch): Found => [
  ...(displayName === undefined ? [] : displayNameBroken("displayName", displayName)),
  ...(vectorDb === undefined ? [] : vectorDbBroken(vectorDb)),
  ...formed("apiKey", apiKey, secretForm)
]

const vectorDbBroken = (db: VectorDb): Found => {
  switch (db._tag) {
    case "managed":
      return []
    case "weaviate":
      return [
        ...formed("vectorDb.httpEndpoint", db.httpEndpoint, httpUrlForm),
        ...formed("vectorDb.collectionName", db.collectionName, textForm),
        ...formed("vectorDb.apiKey", db.apiKey, secretForm)
      ]
    case "pinecone":
      return [...formed("vectorDb.indexName", db.indexName, textForm), ...formed("vectorDb.apiKey", db.apiKey, secretForm)]
    case "featureStore":
      return formed("vectorDb.featureView", db.featureView, featureViewForm)
    case "vectorSearch":
      return [
        ...formed("vectorDb.index", db.index, vectorSearchForm),
        ...formed("vectorDb.indexEndpoint", db.indexEndpoint, vectorSearchForm),
        ...(isOneOfEach(db) ? [] : breaks("vectorDb", vectorSearchRule))
      ]
    case "agentSearch":
      return formed("vectorDb.servingConfig", db.servingConfig, servingConfigForm)
    case "postgres":
      return [...formed("vectorDb.url", db.url, secretForm), ...formed("vectorDb.schema", db.schema, schemaNameForm)]
    case "qdrant":
      return [
        ...formed("vectorDb.url", db.url, httpUrlForm),
        ...formed("vectorDb.collection", db.collection, textForm),
        ...formed("vectorDb.apiKey", db.apiKey, secretForm)
      ]
    case "lanceDb":
      return formed("vectorDb.uri", db.uri, folderOrBucketForm)
  }
}

const optionsBroken = ({ encryptionKey, hybrid, search }: CorpusOptions = {}, db: VectorDb): Found => [
  ...formed("options.encryptionKey", encryptionKey, encryptionKeyForm),
  ...(search === undefined || db._tag === "managed"
    ? []
    : breaks("options.search", { rule: "is for the managed database only", fix: "leave it out" })),
  ...(search?._tag !== "ann" ? [] : [
    ...whole("options.search.treeDepth", search.treeDepth, 2, 3),
    ...whole("options.search.leafCount", search.leafCount)
  ]),
  ...within("options.hybrid.bm25.k1", hybrid?.bm25?.k1, 1.2, 3),
  ...within("options.hybrid.bm25.b", hybrid?.bm25?.b, 0, 1)
]

interface VectorSearchNames {
  readonly index?: string
  readonly indexEndpoint?: string
}

const isEndpoint = (name: string | undefined): boolean => name?.includes("/indexEndpoints/") ?? false

/** Whether two names, in either order, are of an index and of an index endpoint. */
export const isOneOfEach = ({ index, indexEndpoint }: VectorSearchNames): boolean =>
  index === undefined || indexEndpoint === undefined || isEndpoint(index) !== isEndpoint(indexEndpoint)

/**
 * The service's documentation has the forms of the two names swapped, so either field accepts either, and each is put
 * where it belongs.
 */
export const vectorSearchInPlace = ({ index, indexEndpoint }: VectorSearchNames): VectorSearchNames => {
  const names = [index, indexEndpoint].filter((name) => name !== undefined)
  const endpoint = names.find(isEndpoint)
  const other = names.find((name) => !isEndpoint(name))
  return defined({ index: other, indexEndpoint: endpoint })
}

/** Puts the names of any database in place; see {@link vectorSearchInPlace}. */
export const vectorDbInPlace = (db: VectorDb): VectorDb =>
  db._tag === "vectorSearch" && isOneOfEach(db) ? { _tag: db._tag, ...vectorSearchInPlace(db) } : db

/** Broken rules of how contexts are selected. */
export const configBroken = ({ filter, hybrid, topK }: Pick<RetrievalRequest, "filter" | "hybrid" | "topK">): Found => [
  ...whole("topK", topK),
  ...(hybrid?.alpha === undefined || (hybrid.alpha >= 0 && hybrid.alpha <= 1) ? [] : breaks("hybrid.alpha", alphaRule)),
  ...(filter?.maxDistance === undefined || (Number.isFinite(filter.maxDistance) && filter.maxDistance >= 0)
    ? []
    : breaks("filter.maxDistance", distanceRule)),
  ...(filter?.minSimilarity === undefined || Number.isFinite(filter.minSimilarity)
    ? []
    : breaks("filter.minSimilarity", { rule: "must be a number" })),
  ...(filter?.maxDistance !== undefined && filter.minSimilarity !== undefined ? breaks("filter", thresholdsRule) : [])
]

/** Broken rules of a retrieval, without the question, in the fields of a {@link RetrievalRequest}. */
export const selectionBroken = ({ also = [], corpus, files, ...config }: Omit<RetrievalRequest, "query">): Found => [
  ...configBroken(config),
  ...askerBroken("principal", config.principal),
  ...searchedBroken("files", { corpus, files }),
  ...also.flatMap((other, i) => searchedBroken(`also[${i}].files`, other)),
  ...(also.length >= corporaLimit ? breaks("also", { rule: `at most ${corporaLimit} corpora can be searched at a time` }) : [])
]

/**
 * Broken rules of who asks, which a program without types may give as anything. An empty list is right: it finds only public files and
 * files without permissions. An empty text in a list is not: it is the group of someone whose group was not found.
 */
export const askerBroken = (field: string, asker: unknown): Found =>
  asker === undefined || typeof asker === "string"
    ? []
    : !Array.isArray(asker)
    ? breaks(field, principalRule)
    : Array.from(asker as ReadonlyArray<unknown>).flatMap((principal, at) =>
      typeof principal === "string" && textForm.pattern.test(principal) ? [] : breaks(`${field}[${at}]`, principalInListRule)
    )

const principalInListRule: Wording = {
  rule: "must be a text, and not empty",
  fix: "leave what is not known out of the list"
}

/** The rule of a principal. */
export const principalRule: Wording = {
  rule: "must be a text, such as user:ann@acme.com, or a list of them",
  fix: "leave the field out only where everything may be found, as by the owner"
}

/** Most corpora of one retrieval. The limit is ours: the service states none. */
const corporaLimit = 25

const searchedBroken = (field: string, { corpus, files }: SearchedCorpus): Found => [
  ...(files === undefined ? [] : files.length === 0 ? breaks(field, filesGivenRule) : []),
  ...(files?.every((file) => file.startsWith(`${corpus}/ragFiles/`)) === false
    ? breaks(field, files.every(isFileName) ? oneCorpusRule : fileNamesRule)
    : [])
]

/** Broken rules of a retrieval, in the fields of a {@link RetrievalRequest}. */
export const retrievalBroken = (request: RetrievalRequest): Found => [...required("query", request.query), ...selectionBroken(request)]

/** The service searches by words in only one kind of database. */
export const hybridBroken = (db: VectorDb["_tag"]): Found => db === "weaviate" ? [] : breaks("hybrid", hybridRule)

export const chunkingBroken = ({ overlap, size }: Chunking): Found => [
  ...whole("chunking.size", size, ...chunkSizeLimits),
  ...whole("chunking.overlap", overlap, 0, chunkSizeLimits[1] - 1),
  ...(overlap < size ? [] : breaks("chunking.overlap", overlapRule(size)))
]

export const parsingBroken = (parsing: Parsing | undefined): Found =>
  parsing === undefined || parsing._tag === "default" ? [] : [
    ...(parsing._tag === "layout"
      ? required("parsing.processor", parsing.processor, processorForm)
      : required("parsing.model", parsing.model)),
    ...whole("parsing.maxRequestsPerMinute", parsing.maxRequestsPerMinute),
    ...whole("parsing.globalMaxRequestsPerMinute", parsing.globalMaxRequestsPerMinute)
  ]

/** Broken rules of an import, in the fields of an {@link ImportRequest}; only the service can check `source`. */
export const importBroken = (request: ImportRequest): Found => [
  ...sourceBroken(request.source),
  ...chunkingBroken(request.chunking),
  ...parsingBroken(request.parsing),
  ...whole("maxEmbeddingRequestsPerMinute", request.maxEmbeddingRequestsPerMinute),
  ...whole("globalMaxEmbeddingRequestsPerMinute", request.globalMaxEmbeddingRequestsPerMinute),
  ...formed("resultSink", request.resultSink, resultSinkForm)
]

const sourceBroken = (source: ImportSource): Found => {
  switch (source._tag) {
    case "storage":
      return some("source.uris", source.uris)
    case "googleDrive":
      return [
        ...some("source.resources", source.resources),
        ...source.resources.flatMap(({ id }, at) => required(`source.resources[${at}].id`, id, driveIdForm))
      ]
    case "slack":
      return [
        ...some("source.workspaces", source.workspaces),
        ...source.workspaces.flatMap((each, at) => slackBroken(`source.workspaces[${at}]`, each))
      ]
    case "jira":
      return [
        ...some("source.accounts", source.accounts),
        ...source.accounts.flatMap((each, at) => jiraBroken(`source.accounts[${at}]`, each))
      ]
    case "sharePoint":
      return [
        ...some("source.libraries", source.libraries),
        ...source.libraries.flatMap((each, at) => libraryBroken(`source.libraries[${at}]`, each))
      ]
  }
}

/** The service itself only reads addresses of Cloud Storage. */
export const serviceSourceBroken = (source: ImportSource): Found =>
  source._tag === "storage" ? source.uris.flatMap((uri, at) => formed(`source.uris[${at}]`, uri, bucketUriForm)) : []

const slackBroken = (field: string, { channels, token }: SlackWorkspace): Found => [
  ...some(`${field}.channels`, channels),
  ...channels.flatMap(({ end, id, start }, at) => [
    ...required(`${field}.channels[${at}].id`, id, channelIdForm),
    ...formed(`${field}.channels[${at}].start`, start, instantForm),
    ...formed(`${field}.channels[${at}].end`, end, instantForm),
    ...(start !== undefined && end !== undefined && Date.parse(start) >= Date.parse(end)
      ? breaks(`${field}.channels[${at}].end`, endTimeRule)
      : [])
  ]),
  ...required(`${field}.token`, token, secretForm)
]

const jiraBroken = (field: string, { email, projects, queries, server, token }: JiraAccount): Found => [
  ...required(`${field}.server`, server, jiraServerForm),
  ...required(`${field}.email`, email, emailForm),
  ...(projects.length + queries.length > 0 ? [] : breaks(field, { rule: "needs at least one of projects or queries" })),
  ...required(`${field}.token`, token, secretForm)
]

const libraryBroken = (field: string, { clientId, clientSecret, drive, folder, site, tenantId }: SharePointLibrary): Found => [
  ...required(`${field}.site`, site),
  ...("name" in drive ? required(`${field}.drive`, drive.name) : required(`${field}.drive`, drive.id)),
  ...(folder === undefined ? [] : "path" in folder ? required(`${field}.folder`, folder.path) : required(`${field}.folder`, folder.id)),
  ...required(`${field}.clientId`, clientId),
  ...required(`${field}.tenantId`, tenantId),
  ...required(`${field}.clientSecret`, clientSecret, secretForm)
]
