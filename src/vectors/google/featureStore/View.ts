import { Effect, Schema } from "effect"
import { parseTable, type TableName } from "../../../domain/batch/BatchPrediction.ts"
import type { ServiceError } from "../../../domain/Errors.ts"
import { type Fields, needed, unfit } from "../../Chunks.ts"
import { orMissing, rest } from "../../Rest.ts"
import { queries, quoted } from "../BigQuery.ts"
import { decoderOf, type GoogleStoreOptions } from "../Service.ts"
import { columnsWith, key } from "./Columns.ts"

export interface FeatureStoreOptions extends GoogleStoreOptions {
  /** `projects/{p}/locations/{l}/featureOnlineStores/{s}/featureViews/{v}`. */
  readonly featureView: string | undefined
  /** Base URL that replaces BigQuery's own address. */
  readonly bigQuery?: string | undefined
}

const field = "featureStore.featureView"
const fields: Fields = { address: field, key: field, part: field }

const DistanceMeasure = Schema.optionalKey(Schema.String)
const FeatureView = Schema.Struct({
  bigQuerySource: Schema.optionalKey(Schema.Struct({
    uri: Schema.String,
    entityIdColumns: Schema.optionalKey(Schema.Array(Schema.String))
  })),
  vertexRagSource: Schema.optionalKey(Schema.Struct({ uri: Schema.String })),
  syncConfig: Schema.optionalKey(Schema.Struct({ continuous: Schema.optionalKey(Schema.Boolean) })),
  indexConfig: Schema.optionalKey(Schema.Struct({
    embeddingColumn: Schema.optionalKey(Schema.String),
    filterColumns: Schema.optionalKey(Schema.Array(Schema.String)),
    embeddingDimension: Schema.optionalKey(Schema.Int),
    distanceMeasureType: DistanceMeasure
  }))
})
const OnlineStore = Schema.Struct({
  dedicatedServingEndpoint: Schema.optionalKey(Schema.Struct({ publicEndpointDomainName: Schema.optionalKey(Schema.String) }))
})
const TableField = Schema.Struct({ name: Schema.String, type: Schema.String, mode: Schema.optionalKey(Schema.String) })
/** A table's description. Its existing columns are kept undecoded, to be sent back unchanged beside added ones. */
const Table = Schema.Struct({
  schema: Schema.optionalKey(Schema.Struct({ fields: Schema.optionalKey(Schema.Array(Schema.Unknown)) }))
})

/** Current names of types, by the legacy names that the service returns. */
const typesByLegacyName: Readonly<Record<string, string>> = { INTEGER: "INT64", FLOAT: "FLOAT64" }

const shown = (type: string, repeated: boolean): string => repeated ? `ARRAY<${type}>` : type

/** The feature view, and the table that it is filled from. */
export interface Fitted {
  /** Calls the online store at its own address. */
  readonly find: ReturnType<typeof rest>
  readonly table: TableName
  readonly vector: string
  readonly cosine: boolean
  /** Whether the service syncs the view continuously as rows come. */
  readonly continuous: boolean
  /** Every column that the table has to have, as the service describes columns; undefined where it has them all. */
  readonly wanted: ReadonlyArray<unknown> | undefined
}

/** One feature view, used for one corpus. The other files of this folder share it. */
export interface View {
  readonly corpus: string
  readonly dimensions: number
  /** Resource name of the view. */
  readonly view: string
  /** The view, for messages. */
  readonly place: string
  /** Calls the API of Vertex AI. */
  readonly call: ReturnType<typeof rest>
  /** Calls the API of BigQuery. */
  readonly bigQuery: ReturnType<typeof rest>
  /** Runs a statement of GoogleSQL. */
  readonly query: ReturnType<typeof queries>
  readonly decoded: ReturnType<typeof decoderOf>
  /** Milliseconds between the first two looks at a change. */
  readonly firstMs: number | undefined
  /** Looks up the view and its table, and checks that they fit the corpus. */
  readonly fitted: Effect.Effect<Fitted, ServiceError>
  /** The result of {@link fitted}, remembered once the table is complete. */
  readonly set: Effect.Effect<Fitted, ServiceError>
  /** Remembers a result of {@link fitted}, if the table is complete. */
  readonly keep: (found: Fitted) => void
  /** Path of a table in BigQuery's API. */
  readonly tablePath: (table: TableName) => string
}

/** Checks the settings and describes the view. Calls nothing yet. */
export const connect = Effect.fnUntraced(function*(options: FeatureStoreOptions): Effect.fn.Return<View, ServiceError> {
  const { space: { corpus, dimensions } } = options
  const view = yield* needed(field, options.featureView)
  const [, project = "", , location = "", , store = "", , id = ""] = view.split("/")
  const place = `feature view ${id} of ${store} of Feature Store`
  const restOf = (baseUrl: string) =>
    rest({ http: options.http, baseUrl, what: place, fields, secrets: options.secrets, auth: options.auth, retry: options.retry })
  const call = restOf(`${options.endpoint ?? `https://${location}-aiplatform.googleapis.com`}/v1`)
  const bigQuery = restOf(`${options.bigQuery ?? "https://bigquery.googleapis.com"}/bigquery/v2`)
  const firstMs = options.retry?.baseMs
  const query = queries(bigQuery, project, firstMs)
  const decoded = decoderOf(field, place)
  const tablePath = ({ dataset, project, table }: TableName): string =>
    `/projects/${encodeURIComponent(project)}/datasets/${encodeURIComponent(dataset)}/tables/${encodeURIComponent(table)}`

  const fitted = Effect.gen(function*(): Effect.fn.Return<Fitted, ServiceError> {
    const { json, status } = yield* call("looking", `/${view}`, { accept: orMissing })
    if (status === 404) {
      return yield* unfit(field, `there is no ${place} for these credentials`, "make one over a BigQuery table, or correct its name")
    }
    const { bigQuerySource, indexConfig = {}, syncConfig, vertexRagSource } = yield* decoded(FeatureView, json)
    const { distanceMeasureType = "DOT_PRODUCT_DISTANCE", embeddingColumn, embeddingDimension, filterColumns = [] } = indexConfig
    const uri = bigQuerySource?.uri ?? vertexRagSource?.uri
    const table = uri === undefined ? undefined : parseTable(uri)
    if (table === undefined) {
      return yield* unfit(field, `${place} is filled from no BigQuery table`, "use one whose source is a table of its own")
    }
    if (bigQuerySource !== undefined && (bigQuerySource.entityIdColumns ?? []).join() !== key) {
      return yield* unfit(field, `${place} names its entities by other columns than ${key}`, `make one whose entityIdColumns are [${key}]`)
    }
    if (embeddingColumn === undefined) {
      return yield* unfit(field, `${place} has no index, and is not searched by vectors`, "make one with an indexConfig")
    }
    if (embeddingDimension !== dimensions) {
      return yield* unfit(
        field,
        `${place} has ${embeddingDimension ?? "no"} dimensions, and the embedder gives ${dimensions}`,
        `make one of ${dimensions} dimensions, or use another embedding model`
      )
    }
    // Vectors have length 1: their dot product is the cosine.
    if (distanceMeasureType !== "DOT_PRODUCT_DISTANCE" && distanceMeasureType !== "COSINE_DISTANCE") {
      return yield* unfit(
        field,
        `${place} compares vectors by ${distanceMeasureType}, and the corpus by cosine`,
        "make one of DOT_PRODUCT_DISTANCE"
      )
    }
    const unfiltered = ["corpus_id", "file_id"].filter((name) => !filterColumns.includes(name))
    if (unfiltered.length > 0) {
      return yield* unfit(
        field,
        `${place} does not filter by ${unfiltered.join(" and ")}`,
        "make one whose filterColumns have corpus_id and file_id"
      )
    }
    const online = yield* Effect.flatMap(
      call("looking", `/${view.split("/").slice(0, 6).join("/")}`),
      ({ json }) => decoded(OnlineStore, json)
    )
    const domain = online.dedicatedServingEndpoint?.publicEndpointDomainName ?? ""
    if (domain === "") {
      return yield* unfit(
        field,
        `${place} has no public address, and is reached within its own network only`,
        "use an online store with one"
      )
    }
    const found = yield* bigQuery("looking at the table", tablePath(table), { accept: orMissing })
    if (found.status === 404) {
      return yield* unfit(
        field,
        `the table ${uri} of ${place} is not there`,
        `make it, with ${key}, corpus_id, file_id and ${embeddingColumn}`
      )
    }
    const { schema } = yield* decoded(Table, found.json)
    const there = schema?.fields ?? []
    const known = new Map(there.filter(Schema.is(TableField)).map((column) => [column.name, column]))
    const missing: Array<unknown> = []
    for (const { name, repeated = false, type } of columnsWith(embeddingColumn)) {
      const column = known.get(name)
      if (column === undefined) missing.push({ name, type, mode: repeated ? "REPEATED" : "NULLABLE" })
      else if ((typesByLegacyName[column.type] ?? column.type) !== type || (column.mode === "REPEATED") !== repeated) {
        return yield* unfit(
          field,
          `the table ${uri} of ${place} is somebody else's: its column ${name} is ${shown(column.type, column.mode === "REPEATED")}, not ${
            shown(type, repeated)
          }`,
          "use a table of its own"
        )
      }
    }
    return {
      find: restOf(`${options.endpoint ?? `https://${domain}`}/v1`),
      table,
      vector: embeddingColumn,
      cosine: distanceMeasureType === "COSINE_DISTANCE",
      continuous: syncConfig?.continuous === true,
      wanted: missing.length === 0 ? undefined : [...there, ...missing]
    }
  })
  let known: Fitted | undefined
  /** Remembers a view whose table is complete. Missing columns may be added by others at any time, so others are looked up again. */
  const keep = (found: Fitted): void => {
    if (found.wanted === undefined) known = found
  }
  const set = Effect.suspend(() =>
    known === undefined ? Effect.tap(fitted, (found) => Effect.sync(() => keep(found))) : Effect.succeed(known)
  )

  return { corpus, dimensions, view, place, call, bigQuery, query, decoded, firstMs, fitted, set, keep, tablePath }
})

/** The table of a view, quoted for statements. */
export const tableIn = ({ table: { dataset, project, table } }: Fitted): string => quoted(`${project}.${dataset}.${table}`)
