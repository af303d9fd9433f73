import { Effect, Schema } from "effect"
import { ServiceError } from "../../../domain/Errors.ts"
import { type Fields, jsonIn, needed, unfit } from "../../Chunks.ts"
import { awaited, orMissing, rest } from "../../Rest.ts"
import { decoderOf, type GoogleStoreOptions } from "../Service.ts"

export interface AgentSearchOptions extends GoogleStoreOptions {
  /**
   * `projects/{p}/locations/{l}/collections/{c}/dataStores/{d}/servingConfigs/{s}`, or `…/engines/{e}/servingConfigs/{s}` of an
   * engine with one data store.
   */
  readonly servingConfig: string | undefined
}

const field = "agentSearch.servingConfig"
const fields: Fields = { address: field, key: field, part: field }

/** Most dimensions of custom embeddings that the service takes. */
const mostDimensions = 768
/** Looks at whether an import is done or its documents are found, which takes minutes each. */
const looks = 400

const DataStore = Schema.Struct({
  industryVertical: Schema.optionalKey(Schema.String),
  contentConfig: Schema.optionalKey(Schema.String),
  defaultSchemaId: Schema.optionalKey(Schema.String)
})
const Engine = Schema.Struct({ dataStoreIds: Schema.optionalKey(Schema.Array(Schema.String)) })
const Described = Schema.Struct({
  structSchema: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
  jsonSchema: Schema.optionalKey(Schema.String)
})
const Properties = Schema.Struct({
  properties: Schema.optionalKey(Schema.Record(Schema.String, Schema.Record(Schema.String, Schema.Unknown)))
})
const Status = Schema.Struct({ message: Schema.optionalKey(Schema.String) })
const Operation = Schema.Struct({
  name: Schema.String,
  done: Schema.optionalKey(Schema.Boolean),
  error: Schema.optionalKey(Status),
  response: Schema.optionalKey(Schema.Struct({ errorSamples: Schema.optionalKey(Schema.Array(Status)) }))
})
const shown = { type: "string", retrievable: true }
const filtered = { ...shown, indexable: true }
/** The properties that Sluice adds to the schema. All of them are named: the service makes unnamed ones searchable by default. */
const propertiesFor = (dimensions: number): Readonly<Record<string, Readonly<Record<string, unknown>>>> => ({
  corpusId: filtered,
  fileId: filtered,
  chunkId: filtered,
  chunkTerms: { ...shown, searchable: true },
  chunkVector: {
    type: "array",
    keyPropertyMapping: "embedding_vector",
    dimension: dimensions,
    items: { type: "number", retrievable: true }
  },
  chunkOrdinal: { type: "integer", retrievable: true },
  chunkCount: { type: "integer", retrievable: true },
  chunkDataType: shown,
  chunkData: shown,
  chunkRecord: shown,
  chunkHeadings: { type: "array", items: shown },
  chunkByteStart: { type: "integer", retrievable: true },
  chunkByteEnd: { type: "integer", retrievable: true },
  chunkFirstPage: { type: "integer", retrievable: true },
  chunkLastPage: { type: "integer", retrievable: true },
  fileOriginalUri: shown,
  fileDisplayName: shown,
  fileMetadata: shown,
  filePermissions: shown
})

/** Attributes of a property that have to be as Sluice needs them. Others may differ: further searchable or shown properties do no harm. */
const deciding = ["type", "indexable", "searchable", "keyPropertyMapping", "dimension"]

/** The data store of the corpus's documents. */
export interface Fitted {
  readonly dataStore: string
  readonly branch: string
  readonly schema: string
  /** The whole schema as it has to become; undefined where it fits already. */
  readonly wanted: object | undefined
}

/** One data store, used for one corpus. */
export interface Connection {
  readonly corpus: string
  readonly dimensions: number
  /** Resource name of the serving config that searches use. */
  readonly servingConfig: string
  /** The data store or engine, for messages. */
  readonly place: string
  readonly call: ReturnType<typeof rest>
  readonly decoded: ReturnType<typeof decoderOf>
  /** Options of waiting for imports, which take minutes. */
  readonly patience: { readonly looks: number; readonly firstMs: number | undefined }
  /** Looks up the data store, and checks that it fits the corpus. */
  readonly fitted: Effect.Effect<Fitted, ServiceError>
  /** The branch of documents, looked up once. */
  readonly branch: Effect.Effect<string, ServiceError>
  /** Remembers a result of {@link fitted}. */
  readonly keep: (found: Fitted) => void
  /** Waits for a long-running operation; fails with the first error that the service reports. */
  readonly finished: (doing: string, json: unknown) => Effect.Effect<void, ServiceError>
}

/** Checks the settings and describes the connection. Calls nothing yet. */
export const connect = Effect.fnUntraced(function*(options: AgentSearchOptions): Effect.fn.Return<Connection, ServiceError> {
  const { space: { corpus, dimensions } } = options
  const servingConfig = yield* needed(field, options.servingConfig)
  const [, collection = "", location = "", kind, id = ""] =
    /^(projects\/[^/]+\/locations\/([^/]+)\/collections\/[^/]+)\/(engines|dataStores)\/([^/]+)\//.exec(servingConfig) ?? []
  const place = `${kind === "engines" ? "engine" : "data store"} ${id} of Agent Search`
  const host = location === "global" ? "discoveryengine.googleapis.com" : `${location}-discoveryengine.googleapis.com`
  const call = rest({
    http: options.http,
    // Only v1beta searches by custom embeddings.
    baseUrl: `${options.endpoint ?? `https://${host}`}/v1beta`,
    what: place,
    fields,
    secrets: options.secrets,
    auth: options.auth,
    retry: options.retry
  })
  const decoded = decoderOf(field, place)
  const patience = { looks, firstMs: options.retry?.baseMs }

  const dataStoreOf = Effect.gen(function*() {
    if (kind !== "engines") return `${collection}/dataStores/${id}`
    const { json, status } = yield* call("looking", `/${collection}/engines/${id}`, { accept: orMissing })
    if (status === 404) return yield* unfit(field, `there is no ${place} for these credentials`, "make one, or correct its name")
    const { dataStoreIds: [first, ...others] = [] } = yield* decoded(Engine, json)
    if (first === undefined || others.length > 0) {
      return yield* unfit(
        field,
        `${place} has ${first === undefined ? "no" : 1 + others.length} data stores, and documents go into one`,
        "name the serving config of the data store itself: …/dataStores/{id}/servingConfigs/default_search"
      )
    }
    return `${collection}/dataStores/${first}`
  })

  const fitted = Effect.gen(function*(): Effect.fn.Return<Fitted, ServiceError> {
    if (dimensions > mostDimensions) {
      return yield* unfit(
        field,
        `${place} takes vectors of ${mostDimensions} dimensions at most, and the embedder gives ${dimensions}`,
        "use an embedding model of fewer dimensions, such as a local one (embedding.local)"
      )
    }
    const dataStore = yield* dataStoreOf
    const { json, status } = yield* call("looking", `/${dataStore}`, { accept: orMissing })
    if (status === 404) {
      return yield* unfit(field, `there is no data store ${dataStore} for these credentials`, "make one for structured documents")
    }
    const { contentConfig = "NO_CONTENT", defaultSchemaId = "default_schema", industryVertical = "GENERIC" } = yield* decoded(
      DataStore,
      json
    )
    if (contentConfig !== "NO_CONTENT" || industryVertical !== "GENERIC") {
      return yield* unfit(
        field,
        `${place} is one of ${industryVertical} and ${contentConfig}, and takes no structured documents with vectors`,
        "use a data store of GENERIC and NO_CONTENT"
      )
    }
    const schema = `${dataStore}/schemas/${defaultSchemaId}`
    const described = yield* call("looking at the schema", `/${schema}`, { accept: orMissing })
    const { jsonSchema, structSchema } = described.status === 404 ? {} : yield* decoded(Described, described.json)
    const whole = structSchema ?? jsonIn<Record<string, unknown>>(jsonSchema)?.value ?? {}
    const { properties = {} } = yield* decoded(Properties, whole)
    const has = properties["chunkVector"]?.["dimension"]
    if (has !== undefined && has !== dimensions) {
      return yield* unfit(
        field,
        `${place} holds vectors of ${String(has)} dimensions, and the embedder gives ${dimensions}`,
        "use another data store, or the embedding model that filled it"
      )
    }
    const ours = propertiesFor(dimensions)
    const isSo = ([name, ours]: readonly [string, Readonly<Record<string, unknown>>]): boolean =>
      deciding.every((key) => ours[key] === undefined || properties[name]?.[key] === ours[key])
    const wanted = Object.entries(ours).every(isSo)
      ? undefined
      : { $schema: "https://json-schema.org/draft/2020-12/schema", type: "object", ...whole, properties: { ...properties, ...ours } }
    return { dataStore, branch: `${dataStore}/branches/default_branch`, schema, wanted }
  })
  let known: Fitted | undefined
  const branch = Effect.suspend(() =>
    known === undefined ? Effect.tap(fitted, (found) => Effect.sync(() => void (known = found))) : Effect.succeed(known)
  ).pipe(Effect.map(({ branch }) => branch))

  const finished = Effect.fnUntraced(function*(doing: string, json: unknown) {
    let begun: unknown = json
    const { error, response } = yield* awaited(
      Effect.gen(function*() {
        const operation = yield* decoded(Operation, begun)
        if (operation.done === true) return operation
        begun = (yield* call(doing, `/${operation.name}`)).json
        return undefined
      }),
      { late: `${doing} in ${place} has not finished in time`, ...patience }
    )
    const wrong = error ?? response?.errorSamples?.[0]
    if (wrong !== undefined) {
      return yield* new ServiceError({
        code: "INTERNAL",
        message: `${doing} in ${place}: ${wrong.message ?? "failed, and no reason is given"}`
      })
    }
  })

  return {
    corpus,
    dimensions,
    servingConfig,
    place,
    call,
    decoded,
    patience,
    fitted,
    branch,
    keep: (found) => {
      known = found
    },
    finished
  }
})
