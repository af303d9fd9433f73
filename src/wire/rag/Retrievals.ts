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

/** How a request asks for contexts, without the question. */
export type Selection = Omit<RetrievalRequest, "query">

/** The body of `retrieveContexts`. Refuses what the service cannot do rather than leave it out. */
export const retrieveRequestToWire = (request: RetrievalRequest): Result.Result<RetrieveContextsRequest, ServiceError> =>
  Result.map(storeToWire(request), ({ ragResources, ragRetrievalConfig }) => ({
    vertexRagStore: defined({ ragResources }),
    query: defined({ text: request.query, ragRetrievalConfig })
  }))

/** `parent`: what bare corpus ids belong to. The newer spelling wins where both are set. */
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
      // Leaving it out would show one person what another may read.
      return yield* Result.fail(
        new ServiceError({
          code: "UNIMPLEMENTED",
          message: "the service does not know who may read which file, so that it cannot retrieve for a principal",
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
 * Corpora, or files of corpora; several resources of one corpus are one. `field` is where the store stands in the request, and
 * `configField` what its retrieval configuration is in, where that is not the store.
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

/** Contexts in the order of their `score`, which is their distance. */
export const contextsToWire = (contexts: ReadonlyArray<Context>): RetrieveContextsResponse => toWire(contexts, ({ distance }) => distance)

/**
 * Contexts as a request orders them. Plain ones come nearest first; where words have a say, or a ranker, `score` is what
 * the order is by, turned so that smaller is better, and `distance` (v1beta1) the distance.
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
 * The service's `score` is a distance: `score` of ours, which grows, is `1 - distance` (the cosine similarity). Its order is kept.
 * Answers of v1 name neither file nor chunk: the file is then `{corpus}/ragFiles/-`.
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

/** A chunk's place, of a context or a citation. */
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
    // Where the service names none: the same for the same text of the same source, in every answer.
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

/** The corpus that files are named with, where a request names none itself. */
const corpusOfFiles = (files: ReadonlyArray<string>): string | undefined =>
  files.flatMap((name) => /^(.+)\/ragFiles\/[^/]+$/.exec(name)?.slice(1, 2) ?? [])[0]

/** A bare id is taken for one of the corpus: whether it is, the engine knows. */
const isFileOf = (corpus: string, file: string): boolean => {
  const named = /^(.+)\/ragCorpora\/([^/]+)\/ragFiles\/[^/]+$/.exec(file)
  if (named === null) return !file.includes("/")
  const [place, id] = corpus.split("/ragCorpora/")
  return named[2] === id && isSamePlace(named[1] ?? "", place ?? "")
}

/** Ids, or full names as the first documentation showed them. */
const fileName = (corpus: CorpusName, id: string): RagFileName => RagFileName.make(`${corpus}/ragFiles/${lastSegment(id)}`)

/** FNV-1a, 32 bits in hex: names a text, protects nothing. */
const hash = (content: string): string => {
  let h = 0x811c9dc5
  for (let i = 0; i < content.length; i++) h = Math.imul(h ^ content.charCodeAt(i), 0x01000193)
  return (h >>> 0).toString(16).padStart(8, "0")
}

/** A query with the tools of `askContexts` and `asyncRetrieveContexts`: its own configuration goes before the store's. */
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
      return yield* Result.fail(ServiceError.invalid("tools", "one vertex_rag_store is needed, and no more"))
    }
    for (const [i, { retrieval, ...others }] of tools.entries()) {
      // An empty one says something: `googleSearch: {}` asks for a search.
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
  Result.fail(ServiceError.invalid(field, "contexts come from the files of corpora alone", "leave it out"))

/** The deprecated weight of meaning against words, which a newer configuration goes before. */
const rankedBefore = (query: RetrieveContextsRequest["query"]): Pick<RetrievalRequest, "hybrid"> => {
  const alpha = query?.ranking?.alpha
  return alpha === undefined ? {} : { hybrid: { alpha } }
}

const inSnakeCase = (key: string): string => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
