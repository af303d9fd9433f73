import { Result } from "effect"
import { isEmpty } from "../../domain/Defined.ts"
import { CorpusName } from "../../domain/Corpus.ts"
import { ServiceError } from "../../domain/Errors.ts"
import { isSamePlace } from "../../domain/Locations.ts"
import { configBroken, oneCorpusRule } from "../../domain/rag/RagRules.ts"
import { refusalOf } from "../../domain/Rule.ts"
import { RagFileName } from "../../domain/RagFile.ts"
import type { Context, Ranking, RetrievalRequest, SearchedCorpus } from "../../domain/Retrieval.ts"
import { metadataFilterFromWire, metadataFilterToWire } from "./MetadataFilter.ts"
import type { AskContextsRequest } from "../messages/AskContexts.ts"
import type {
  RagChunk,
  RagRetrievalConfig,
  RetrieveContextsRequest,
  RetrieveContextsResponse,
  VertexRagStore
} from "../messages/Retrieval.ts"
import { count, defined, required, text, unserved } from "../Optional.ts"

/** Where and how a request retrieves contexts, without its query. */
export type Selection = Omit<RetrievalRequest, "query">

/** The body of `retrieveContexts`. Fails for settings that the service does not support, rather than dropping them. */
export const retrieveRequestToWire = (request: RetrievalRequest): Result.Result<RetrieveContextsRequest, ServiceError> =>
  Result.map(storeToWire(request), ({ ragResources, ragRetrievalConfig }) => ({
    vertexRagStore: defined({ ragResources }),
    query: defined({ text: request.query, ragRetrievalConfig })
  }))

/** Decodes a request of `retrieveContexts`. `parent` is the location of bare corpus ids. The newer of two spellings wins. */
export const retrieveRequestFromWire = (
  parent: string,
  wire: RetrieveContextsRequest
): Result.Result<RetrievalRequest, ServiceError> =>
  Result.gen(function*() {
    const { query, vertexRagStore } = wire
    const store = {
      ...vertexRagStore,
      ...defined({ similarityTopK: query?.similarityTopK, ragRetrievalConfig: query?.ragRetrievalConfig })
    }
    const selection = yield* storeFromWire(parent, store, "vertex_rag_store", "query")
    return {
      ...rankedBefore(query),
      ...selection,
      query: yield* required(query?.text, "query.text")
    }
  })

/** The store of a generation tool and of `augmentPrompt`. */
export const storeToWire = (request: Selection): Result.Result<VertexRagStore, ServiceError> =>
  Result.gen(function*() {
    if (request.principal !== undefined) {
      // Dropping it would show a person what only others may read.
      return yield* Result.fail(
        new ServiceError({
          code: "UNIMPLEMENTED",
          message: "the service does not store the readers of files, so it cannot retrieve for a principal",
          fix: "use a corpus per audience, or the embedded engine"
        })
      )
    }
    const ragRetrievalConfig = yield* configToWire(request)
    return defined({
      ragResources: [request, ...request.also ?? []].map(({ corpus, files }) =>
        defined({
          ragCorpus: corpus as string,
          ragFileIds: files?.map(lastSegment)
        })
      ),
      ragRetrievalConfig: isEmpty(ragRetrievalConfig) ? undefined : ragRetrievalConfig
    })
  })

/**
 * Decodes a store: corpora, or files of corpora. Several resources of one corpus are merged. `field` is the path of the store
 * in the request, and `configField` that of the retrieval configuration's parent, where it is not the store.
 */
export const storeFromWire = (
  parent: string,
  store: VertexRagStore,
  field: string,
  configField = field
): Result.Result<Selection, ServiceError> =>
  Result.gen(function*() {
    const resources = store.ragResources ?? store.ragCorpora?.map((ragCorpus) => ({ ragCorpus, ragFileIds: [] })) ?? []
    const at = `${field}.rag_resources`
    yield* unserved(store.storeContext, `${field}.store_context`)
    const searched = new Map<CorpusName, Array<RagFileName>>()
    for (const [i, { ragCorpus = "", ragFileIds = [] }] of (resources.length === 0 ? [{}] : resources).entries()) {
      const corpus = corpusName(parent, yield* required(text(ragCorpus) ?? corpusOfFiles(ragFileIds), `${at}[${i}].rag_corpus`))
      const foreign = ragFileIds.findIndex((id) => !isFileOf(corpus, id))
      if (foreign !== -1) {
        return yield* Result.fail(ServiceError.invalid(`${at}[${i}].rag_file_ids[${foreign}]`, oneCorpusRule.rule, oneCorpusRule.fix))
      }
      searched.set(corpus, [...searched.get(corpus) ?? [], ...ragFileIds.map((id) => fileName(corpus, id))])
    }
    const [own, ...also] = [...searched].map(([corpus, files]): SearchedCorpus => files.length === 0 ? { corpus } : { corpus, files })
    if (own === undefined) return yield* Result.fail(ServiceError.invalid(at, "Required field is not set."))
    return defined({
      ...own,
      also: also.length === 0 ? undefined : also,
      ...(yield* configFromWire(store, `${configField}.rag_retrieval_config`))
    })
  })

/** Contexts ordered by `score`, which is their distance. */
export const contextsToWire = (contexts: ReadonlyArray<Context>): RetrieveContextsResponse => toWire(contexts, ({ distance }) => distance)

/**
 * Contexts in the order that a request demands. Without hybrid search or a ranker they are ordered by distance. With either,
 * `score` is the score of the ranking, inverted so that smaller is better, and `distance` (v1beta1) the distance.
 */
export const orderedContextsToWire = (
  contexts: ReadonlyArray<Context>,
  { hybrid, rank }: Pick<RetrievalRequest, "hybrid" | "rank">
): RetrieveContextsResponse => {
  if (hybrid === undefined && rank === undefined) {
    return contextsToWire(contexts.toSorted((a, b) => (a.distance ?? Infinity) - (b.distance ?? Infinity) || 0))
  }
  const best = Math.max(1, ...contexts.map(({ score }) => score))
  return toWire(contexts, ({ score }) => 1 - score / best, ({ distance }) => distance)
}

const toWire = (
  contexts: ReadonlyArray<Context>,
  score: (context: Context) => number | undefined,
  distance: (context: Context) => number | undefined = () => undefined
): RetrieveContextsResponse => ({
  contexts: {
    contexts: contexts.map((context) =>
      defined({
        sourceUri: context.sourceUri,
        sourceDisplayName: context.sourceDisplayName,
        text: context.text,
        distance: distance(context),
        score: score(context),
        chunk: chunkToWire(context)
      })
    )
  }
})

/**
 * Decodes contexts in the service's order. Its `score` is a distance; the `score` of a context here is `1 - distance`, the
 * cosine similarity. Responses of v1 name neither file nor chunk: the file is then `{corpus}/ragFiles/-`.
 */
export const contextsFromWire = (corpus: CorpusName, wire: RetrieveContextsResponse): ReadonlyArray<Context> =>
  (wire.contexts?.contexts ?? []).map((context) => {
    const distance = context.distance ?? context.score
    const order = context.score ?? distance
    const { sourceDisplayName = "", sourceUri = sourceDisplayName, text: content = context.chunk?.text ?? "" } = context
    return defined({
      ...chunkFromWire(corpus, context.chunk, sourceUri, content),
      sourceUri,
      sourceDisplayName,
      text: content,
      headings: [],
      score: order === undefined ? 0 : 1 - order,
      distance
    })
  })

/** The chunk of a context or a citation, with its place in the file. */
export const chunkToWire = (chunk: {
  readonly text?: string
  readonly quote?: string
  readonly file: RagFileName
  readonly chunkId?: string
  readonly firstPage?: number
  readonly lastPage?: number
}): RagChunk =>
  defined({
    text: chunk.text ?? chunk.quote,
    pageSpan: chunk.firstPage === undefined
      ? undefined
      : { firstPage: chunk.firstPage, lastPage: chunk.lastPage ?? chunk.firstPage },
    fileId: lastSegment(chunk.file),
    chunkId: chunk.chunkId
  })

export const chunkFromWire = (corpus: CorpusName, chunk: RagChunk | undefined, sourceUri: string, content: string) =>
  defined({
    file: fileName(corpus, text(chunk?.fileId) ?? "-"),
    // Where the service names no chunk, the id is made of source and text, so that it is stable across responses.
    chunkId: text(chunk?.chunkId) ?? `${hash(sourceUri)}${hash(content)}`,
    firstPage: count(chunk?.pageSpan?.firstPage),
    lastPage: count(chunk?.pageSpan?.lastPage) ?? count(chunk?.pageSpan?.firstPage)
  })

const configToWire = (request: Selection): Result.Result<RagRetrievalConfig, ServiceError> =>
  Result.gen(function*() {
    const { filter, hybrid, rank, topK } = request
    if (filter?.maxDistance !== undefined && filter.minSimilarity !== undefined) {
      return yield* Result.fail(ServiceError.invalid("filter", "maxDistance and minSimilarity exclude each other"))
    }
    return defined({
      topK,
      hybridSearch: hybrid === undefined ? undefined : defined({ alpha: hybrid.alpha }),
      filter: filter === undefined || isEmpty(filter) ? undefined : defined({
        vectorDistanceThreshold: filter.maxDistance,
        vectorSimilarityThreshold: filter.minSimilarity,
        metadataFilter: yield* metadataFilterToWire(filter)
      }),
      ranking: rank === undefined ? undefined : yield* rankingToWire(rank)
    })
  })

const rankingToWire = (rank: Ranking): Result.Result<NonNullable<RagRetrievalConfig["ranking"]>, ServiceError> => {
  switch (rank._tag) {
    case "rankService":
      return Result.succeed({ rankService: defined({ modelName: rank.model }) })
    case "llmRanker":
      return Result.succeed({ llmRanker: defined({ modelName: rank.model }) })
    case "lexical":
    case "crossEncoder":
      return Result.fail(ServiceError.invalid("rank", `${rank._tag} is no ranker of the service's`, "use rankService or llmRanker"))
  }
}

const configFromWire = (store: VertexRagStore, field: string): Result.Result<Omit<Selection, "corpus" | "files">, ServiceError> =>
  Result.gen(function*() {
    const config = store.ragRetrievalConfig ?? {}
    const threshold = config.filter?.vectorSimilarityThreshold === undefined
      ? config.filter?.vectorDistanceThreshold ?? store.vectorDistanceThreshold
      : undefined
    const filter = defined({
      maxDistance: threshold,
      minSimilarity: config.filter?.vectorSimilarityThreshold,
      ...yield* metadataFilterFromWire(config.filter?.metadataFilter, `${field}.filter.metadata_filter`)
    })
    const topK = count(config.topK) ?? count(store.similarityTopK)
    const selection = defined({
      topK,
      hybrid: config.hybridSearch === undefined ? undefined : defined({ alpha: config.hybridSearch.alpha }),
      filter: isEmpty(filter) ? undefined : filter,
      rank: rankingFromWire(config.ranking)
    })
    const refused = refusalOf(
      configBroken(selection).map((broken) => ({ ...broken, field: `${field}.${configFields[broken.field] ?? broken.field}` }))
    )
    return refused === undefined ? selection : yield* Result.fail(refused)
  })

const configFields: Readonly<Record<string, string>> = {
  topK: "top_k",
  "hybrid.alpha": "hybrid_search.alpha",
  "filter.maxDistance": "filter.vector_distance_threshold",
  "filter.minSimilarity": "filter.vector_similarity_threshold"
}

const rankingFromWire = (ranking: RagRetrievalConfig["ranking"]): Ranking | undefined => {
  if (ranking?.rankService !== undefined) return defined({ _tag: "rankService" as const, model: text(ranking.rankService.modelName) })
  if (ranking?.llmRanker !== undefined) return defined({ _tag: "llmRanker" as const, model: text(ranking.llmRanker.modelName) })
  return undefined
}

export const lastSegment = (name: string): string => name.slice(name.lastIndexOf("/") + 1)

const corpusName = (parent: string, name: string): CorpusName => CorpusName.make(name.includes("/") ? name : `${parent}/ragCorpora/${name}`)

/** The corpus in the names of files, where a request names no corpus. */
const corpusOfFiles = (files: ReadonlyArray<string>): string | undefined =>
  files.flatMap((name) => /^(.+)\/ragFiles\/[^/]+$/.exec(name)?.slice(1, 2) ?? [])[0]

/** Whether a file belongs to a corpus by its name. A bare id always does; the engine checks it later. */
const isFileOf = (corpus: string, file: string): boolean => {
  const named = /^(.+)\/ragCorpora\/([^/]+)\/ragFiles\/[^/]+$/.exec(file)
  if (named === null) return !file.includes("/")
  const [place, id] = corpus.split("/ragCorpora/")
  return named[2] === id && isSamePlace(named[1] ?? "", place ?? "")
}

/** Name of a file, from its id or a full name as early documentation showed it. */
const fileName = (corpus: CorpusName, id: string): RagFileName => RagFileName.make(`${corpus}/ragFiles/${lastSegment(id)}`)

/** FNV-1a hash of a text, 32 bits in hex. It identifies the text; it is not cryptographic. */
const hash = (content: string): string => {
  let h = 0x811c9dc5
  for (let i = 0; i < content.length; i++) h = Math.imul(h ^ content.charCodeAt(i), 0x01000193)
  return (h >>> 0).toString(16).padStart(8, "0")
}

/** Decodes a query with tools, of `askContexts` and `asyncRetrieveContexts`. The query's configuration overrides the store's. */
export const askRequestFromWire = (
  parent: string,
  { query, tools = [] }: AskContextsRequest
): Result.Result<RetrievalRequest, ServiceError> =>
  Result.gen(function*() {
    const found = tools.flatMap(({ retrieval }, i) =>
      retrieval?.vertexRagStore === undefined ? [] : [{ store: retrieval.vertexRagStore, at: `tools[${i}].retrieval.vertex_rag_store` }]
    )
    const [only] = found
    if (only === undefined || found.length > 1) {
      return yield* Result.fail(ServiceError.invalid("tools", "exactly one vertex_rag_store is needed"))
    }
    for (const [i, { retrieval, ...others }] of tools.entries()) {
      // An empty message counts: `googleSearch: {}` requests a search.
      const [other] = Object.keys(defined(others))
      if (other !== undefined) yield* unservedTool(`tools[${i}].${inSnakeCase(other)}`)
      if (retrieval?.vertexAiSearch !== undefined) yield* unservedTool(`tools[${i}].retrieval.vertex_ai_search`)
      yield* unserved(retrieval?.disableAttribution, `tools[${i}].retrieval.disable_attribution`)
    }
    const store = { ...only.store, ...defined({ similarityTopK: query?.similarityTopK, ragRetrievalConfig: query?.ragRetrievalConfig }) }
    return {
      ...rankedBefore(query),
      ...yield* storeFromWire(parent, store, only.at, query?.ragRetrievalConfig === undefined ? only.at : "query"),
      query: yield* required(query?.text, "query.text")
    }
  })

const unservedTool = (field: string): Result.Result<never, ServiceError> =>
  Result.fail(ServiceError.invalid(field, "contexts can only come from files of corpora", "leave it out"))

/** The deprecated weight of vectors against words, which a newer configuration overrides. */
const rankedBefore = (query: RetrieveContextsRequest["query"]): Pick<RetrievalRequest, "hybrid"> => {
  const alpha = query?.ranking?.alpha
  return alpha === undefined ? {} : { hybrid: { alpha } }
}

const inSnakeCase = (key: string): string => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
