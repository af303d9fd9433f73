/** OpenAI's vector stores, each a corpus: their list, and the search of one. */
import { Result, Schema, Struct } from "effect"
import type { Corpus } from "../../domain/Corpus.ts"
import { ServiceError } from "../../domain/Errors.ts"
import { lastSegment } from "../../domain/ResourceNames.ts"
import type { Context } from "../../domain/Retrieval.ts"
import { bodyReader, optional } from "../JsonBody.ts"

/** How vector stores are searched. */
export interface SearchOptions {
  /** Most results, 1 to 50. */
  readonly limit: number
  /** An expression over metadata that files have to pass. */
  readonly where: string | undefined
  /** Least score of a result. */
  readonly least: number
}

/** A search of a vector store. */
export interface StoreSearch extends SearchOptions {
  /** One query, or several whose results are fused. */
  readonly queries: ReadonlyArray<string>
}

/** The tool `file_search` of a response: what its answer is made from. */
export interface FileSearch extends SearchOptions {
  /** Names or ids of corpora, whose results are fused. */
  readonly stores: ReadonlyArray<string>
  /** Whether the response shows the results. */
  readonly shown: boolean
  /** The tool as it was given. */
  readonly tool: FileSearchTool
}

const mostResults = 50
const usual = { results: 10, resultsOfTool: 20 }

const Value = Schema.Union([Schema.String, Schema.Finite, Schema.Boolean])

/** `and` and `or` have `filters`; comparisons have `key` and `value`. */
interface Filter {
  readonly type: "and" | "or" | keyof typeof comparisons
  readonly filters?: ReadonlyArray<Filter>
  readonly key?: string
  readonly value?: string | number | boolean | ReadonlyArray<string | number | boolean>
}

const comparisons = { eq: "==", ne: "!=", gt: ">", gte: ">=", lt: "<", lte: "<=", in: "in", nin: "in" } as const

// One struct for both, not a union, whose errors would name what the other kind wants.
const Filter: Schema.Codec<Filter> = Schema.Struct({
  type: Schema.Literals(["and", "or", ...Struct.keys(comparisons)]),
  filters: Schema.optionalKey(Schema.Array(Schema.suspend((): Schema.Codec<Filter> => Filter))),
  key: Schema.optionalKey(Schema.NonEmptyString),
  value: Schema.optionalKey(Schema.Union([Value, Schema.Array(Value)]))
})

const options = {
  max_num_results: optional(Schema.Int),
  filters: optional(Filter),
  ranking_options: optional(Schema.Struct({ score_threshold: optional(Schema.Finite) }))
}

const Request = Schema.Struct({
  query: Schema.Union([Schema.NonEmptyString, Schema.NonEmptyArray(Schema.NonEmptyString)]),
  ...options
})
type Options = Omit<typeof Request.Type, "query">

export const FileSearchTool = Schema.Struct({
  type: Schema.Literal("file_search"),
  vector_store_ids: Schema.NonEmptyArray(Schema.NonEmptyString),
  ...options
})
export type FileSearchTool = typeof FileSearchTool.Type

const readRequest = bodyReader(Request)

/** Most levels of filters in filters. */
const deepest = 8

/** Decodes a search. Hints on how to rank or to rewrite the query are ignored: the corpus's own search is used. */
export const storeSearchFromWire = (body: Uint8Array): Result.Result<StoreSearch, ServiceError> =>
  Result.gen(function*() {
    const { query, ...asked } = yield* readRequest(body)
    return { queries: typeof query === "string" ? [query] : query, ...(yield* optionsOf(asked, "", usual.results)) }
  })

/** What a tool asks for; `at` is its place in the request. */
export const fileSearchOf = (tool: FileSearchTool, at: string, shown: boolean): Result.Result<FileSearch, ServiceError> =>
  Result.map(optionsOf(tool, `${at}.`, usual.resultsOfTool), (asked) => ({ stores: tool.vector_store_ids, shown, tool, ...asked }))

const optionsOf = (asked: Options, at: string, usualResults: number): Result.Result<SearchOptions, ServiceError> =>
  Result.gen(function*() {
    const { filters, max_num_results: limit, ranking_options: ranking } = asked
    if (limit !== undefined && limit !== null && (limit < 1 || limit > mostResults)) {
      return yield* Result.fail(ServiceError.invalid(`${at}max_num_results`, `must be from 1 to ${mostResults}`))
    }
    return {
      limit: limit ?? usualResults,
      where: filters === undefined || filters === null ? undefined : yield* expressionOf(filters, `${at}filters`, 1),
      least: ranking?.score_threshold ?? 0
    }
  })

/** A filter as an expression over metadata. */
const expressionOf = (filter: Filter, field: string, depth: number): Result.Result<string, ServiceError> =>
  Result.gen(function*() {
    if (depth > deepest) return yield* Result.fail(ServiceError.invalid(field, `are nested deeper than ${deepest}`))
    const { filters = [], key, type, value } = filter
    if (type === "and" || type === "or") {
      if (filters.length === 0) return yield* Result.fail(ServiceError.invalid(field, "has a list without filters"))
      const parts: Array<string> = []
      for (const one of filters) parts.push(`(${yield* expressionOf(one, field, depth + 1)})`)
      return parts.join(type === "and" ? " && " : " || ")
    }
    if (key === undefined || value === undefined) {
      return yield* Result.fail(ServiceError.invalid(field, `${type} needs a key and a value`))
    }
    if (!/^[\w.-]+$/.test(key)) {
      return yield* Result.fail(ServiceError.invalid(field, `key ${JSON.stringify(key)} is no name of metadata`))
    }
    const isList = type === "in" || type === "nin"
    if (isList !== Array.isArray(value)) {
      return yield* Result.fail(ServiceError.invalid(field, `${type} takes ${isList ? "a list of values" : "one value"}`))
    }
    const compared = `${key} ${comparisons[type]} ${JSON.stringify(value)}`
    return type === "nin" ? `!(${compared})` : compared
  })

/** The page of results. A search has no further pages. */
export const storeResultsToWire = ({ queries }: StoreSearch, contexts: ReadonlyArray<Context>): object => ({
  object: "vector_store.search_results.page",
  search_query: queries,
  data: contexts.map((context) => ({ ...resultOf(context), content: [{ type: "text", text: context.text }] })),
  has_more: false,
  next_page: null
})

const resultOf = ({ file, metadata = {}, score, sourceDisplayName }: Context) => ({
  file_id: lastSegment(file),
  filename: sourceDisplayName,
  score,
  attributes: metadata
})

/** What the tool `file_search` found for a question. */
export interface FoundFiles {
  readonly search: FileSearch
  readonly question: string
  readonly contexts: ReadonlyArray<Context>
}

/** The call of the tool, an item of a response's output. */
export const fileSearchCallToWire = (id: string, { contexts, question, search }: FoundFiles) => ({
  id: `fs_${id}`,
  type: "file_search_call",
  status: "completed",
  queries: [question],
  results: search.shown ? contexts.map((context) => ({ ...resultOf(context), text: context.text })) : null
})

export const storesToWire = (corpora: ReadonlyArray<Corpus>): object => ({
  object: "list",
  data: corpora.map(storeToWire),
  first_id: corpora[0] === undefined ? null : lastSegment(corpora[0].name),
  last_id: corpora.length === 0 ? null : lastSegment(corpora.at(-1)!.name),
  has_more: false
})

export const storeToWire = ({ createTime, displayName, filesCount, name, updateTime }: Corpus): object => ({
  id: lastSegment(name),
  object: "vector_store",
  created_at: Math.floor(Date.parse(createTime) / 1000),
  last_active_at: Math.floor(Date.parse(updateTime) / 1000),
  name: displayName,
  status: "completed",
  file_counts: { in_progress: 0, completed: filesCount ?? 0, failed: 0, cancelled: 0, total: filesCount ?? 0 },
  metadata: {}
})
