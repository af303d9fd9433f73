/** OpenAI's vector stores, each a corpus: their list, and the search of one. */
import { Result, Schema, Struct } from "effect"
import type { Corpus } from "../../domain/Corpus.ts"
import { defined } from "../../domain/Defined.ts"
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

/** The part of the list of vector stores that is requested. */
interface StoresPage {
  /** 1 to 100. */
  readonly limit: number
  readonly order: "asc" | "desc"
  /** Id of the store that the page comes after. */
  readonly after?: string
  /** Id of the store that the page comes before. */
  readonly before?: string
}

const mostStores = 100
const usualStores = 20

/** Decodes the query of a list of vector stores. */
export const storesPageFromWire = (query: URLSearchParams): Result.Result<StoresPage, ServiceError> => {
  const { after, before, limit = String(usualStores), order = "desc" } = Object.fromEntries(query)
  if (!/^\d{1,3}$/.test(limit) || Number(limit) < 1 || Number(limit) > mostStores) {
    return Result.fail(ServiceError.invalid("limit", `must be a whole number from 1 to ${mostStores}`))
  }
  if (order !== "asc" && order !== "desc") return Result.fail(ServiceError.invalid("order", "must be asc or desc"))
  return Result.succeed({ limit: Number(limit), order, ...defined({ after, before }) })
}

/** A page of vector stores in the order of their creation, newest first unless `order` is `asc`. */
export const storesToWire = (
  { after, before, limit, order }: StoresPage,
  corpora: ReadonlyArray<Corpus>
): Result.Result<object, ServiceError> =>
  Result.gen(function*() {
    const oldestFirst = corpora.toSorted((a, b) =>
      a.createTime === b.createTime ? (a.name < b.name ? -1 : 1) : a.createTime < b.createTime ? -1 : 1
    )
    const all = order === "asc" ? oldestFirst : oldestFirst.toReversed()
    const placeOf = (field: "after" | "before", id: string) => {
      const place = all.findIndex(({ name }) => lastSegment(name) === id)
      return place >= 0
        ? Result.succeed(place)
        : Result.fail(ServiceError.invalid(field, `${id} is no vector store`, "take an id of the list"))
    }
    const from = after === undefined ? 0 : (yield* placeOf("after", after)) + 1
    const rest = all.slice(from, before === undefined ? undefined : yield* placeOf("before", before))
    // Before a store, the page is the one that ends there.
    const page = after === undefined && before !== undefined ? rest.slice(-limit) : rest.slice(0, limit)
    const data = page.map(storeToWire)
    return { object: "list", data, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null, has_more: page.length < rest.length }
  })

export const storeToWire = ({ createTime, displayName, filesCount, name, updateTime }: Corpus) => ({
  id: lastSegment(name),
  object: "vector_store",
  created_at: Math.floor(Date.parse(createTime) / 1000),
  last_active_at: Math.floor(Date.parse(updateTime) / 1000),
  name: displayName,
  status: "completed",
  file_counts: { in_progress: 0, completed: filesCount ?? 0, failed: 0, cancelled: 0, total: filesCount ?? 0 },
  metadata: {}
})
