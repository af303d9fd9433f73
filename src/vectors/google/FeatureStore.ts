import { Effect, Schema, Semaphore } from "effect"
import { parseTable, type TableName } from "../../domain/batch/BatchPrediction.ts"
import { ServiceError } from "../../domain/Errors.ts"
import type { VectorChunk, VectorFile, VectorHit, VectorQuery, VectorStore } from "../../ports/VectorStore.ts"
import {
  chunkBatches,
  chunkOf,
  corpusRecordOf,
  type Fields,
  filesOf,
  jsonIn,
  needed,
  parts,
  propertiesOf,
  recordsCorpus,
  unfit,
  vectorJson,
  versionsOf
} from "../Chunks.ts"
import { awaited, orMissing, rest } from "../Rest.ts"
import { decoderOf, type GoogleStoreOptions, idOf, placeIn } from "./Service.ts"
import { type Column, mergeOf, queries, type Queried, quoted } from "./BigQuery.ts"

export interface FeatureStoreOptions extends GoogleStoreOptions {
  /** `projects/{p}/locations/{l}/featureOnlineStores/{s}/featureViews/{v}`. */
  readonly featureView: string | undefined
  /** Base URL that replaces BigQuery's own address. */
  readonly bigQuery?: string | undefined
}

const field = "featureStore.featureView"
const fields: Fields = { address: field, key: field, part: field }

/** Rows of one statement: its parameters stay below the 10 MB limit of a request. */
const writtenAtOnce = 100
/** Most neighbours of one query. */
const mostHits = 1_000
/** Most values of one filter. */
const mostFiles = 500
/** Concurrent looks at whether written files are found. */
const lookedForAtOnce = 8
/** Looks at whether a sync is done, which takes minutes. */
const looks = 400

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
const Started = Schema.Struct({ featureViewSync: Schema.String })
const Sync = Schema.Struct({
  runTime: Schema.optionalKey(Schema.Struct({ endTime: Schema.optionalKey(Schema.String) })),
  finalStatus: Schema.optionalKey(Schema.Struct({ code: Schema.optionalKey(Schema.Int), message: Schema.optionalKey(Schema.String) }))
})
const Found = Schema.Struct({
  nearestNeighbors: Schema.optionalKey(Schema.Struct({
    neighbors: Schema.optionalKey(Schema.Array(Schema.Struct({
      entityId: Schema.String,
      distance: Schema.optionalKey(Schema.Finite)
    })))
  }))
})
const TableField = Schema.Struct({ name: Schema.String, type: Schema.String, mode: Schema.optionalKey(Schema.String) })
/** A table's description. Its existing columns are kept undecoded, to be sent back unchanged beside added ones. */
const Table = Schema.Struct({
  schema: Schema.optionalKey(Schema.Struct({ fields: Schema.optionalKey(Schema.Array(Schema.Unknown)) }))
})

/** The columns that the service documents and those that Sluice adds, without the column of vectors. */
const columns = {
  chunk_id: "STRING",
  corpus_id: "STRING",
  file_id: "STRING",
  chunk_data_type: "STRING",
  chunk_data: "STRING",
  file_original_uri: "STRING",
  chunk_ordinal: "INT64",
  chunk_headings: "STRINGS",
  chunk_byte_start: "INT64",
  chunk_byte_end: "INT64",
  chunk_first_page: "INT64",
  chunk_last_page: "INT64",
  chunk_record: "STRING",
  file_display_name: "STRING",
  file_metadata: "STRING",
  file_permissions: "STRING"
} as const
const names = Object.keys(columns)
const key = "chunk_id"
const columnsWith = (vector: string): ReadonlyArray<Column> => [
  ...Object.entries(columns).map(([name, type]): Column => type === "STRINGS" ? { name, type: "STRING", repeated: true } : { name, type }),
  { name: vector, type: "FLOAT64", repeated: true }
]
/** Current names of types, by the legacy names that the service returns. */
const typesByLegacyName: Readonly<Record<string, string>> = { INTEGER: "INT64", FLOAT: "FLOAT64" }

const shown = (type: string, repeated: boolean): string => repeated ? `ARRAY<${type}>` : type

const camelCase = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** The feature view, and the table that it is filled from. */
interface Fitted {
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

/**
 * A corpus in a feature view of Vertex AI Feature Store, which other corpora may share. Corpora are distinguished by
 * `corpus_id`. The rows of the view's BigQuery table are the source of truth, with the columns that the service documents and
 * further ones; a sync copies them into the view, which is searched by vectors alone. Entity ids are
 * `{corpus}/{version}/{ordinal}`.
 */
export const make = Effect.fnUntraced(function*(options: FeatureStoreOptions): Effect.fn.Return<VectorStore, ServiceError> {
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
  const tableIn = ({ table: { dataset, project, table } }: Fitted): string => quoted(`${project}.${dataset}.${table}`)

  /** Selects columns of the rows of corpus `of`, of some files or of all. */
  const select = Effect.fnUntraced(
    function*(doing: string, selected: ReadonlyArray<string>, of: string, files?: ReadonlyArray<string>) {
      const found = yield* set
      // A table without these columns has no rows written by Sluice.
      if (found.wanted !== undefined) return { rows: [], affected: 0 } satisfies Queried
      return yield* query(
        doing,
        `SELECT ${selected.join(", ")} FROM ${tableIn(found)} WHERE corpus_id = @corpus${
          files === undefined ? "" : " AND file_id IN UNNEST(@files)"
        }`,
        { corpus: of, ...(files === undefined ? {} : { files }) }
      )
    }
  )
  /** Deletes the rows of corpus `of`, of some files or of all, and returns their number. */
  const deleteRows = Effect.fnUntraced(function*(of: string, files?: ReadonlyArray<string>) {
    const { affected } = yield* query(
      "deleting chunks",
      `DELETE FROM ${tableIn(yield* set)} WHERE corpus_id = @corpus${files === undefined ? "" : " AND file_id IN UNNEST(@files)"}`,
      { corpus: of, ...(files === undefined ? {} : { files }) }
    )
    return affected
  })
  const writeRows = Effect.fnUntraced(function*(rows: ReadonlyArray<string>) {
    const found = yield* set
    const { dataset, project, table } = found.table
    yield* query("writing chunks", mergeOf(`${project}.${dataset}.${table}`, key, columnsWith(found.vector)), {
      rows: `[${rows.join(",")}]`
    })
  })

  /** Syncs run one at a time. Writers that wait while a sync runs share the next one. */
  const syncing = Semaphore.makeUnsafe(1)
  let asked = 0
  let served = 0
  const synced = Effect.gen(function*() {
    if ((yield* set).continuous) return
    const own = ++asked
    yield* syncing.withPermit(Effect.gen(function*() {
      if (served >= own) return
      const upTo = asked
      // A sync that another process or the view's schedule started may have read the rows before they were written.
      const begun = yield* awaited(
        call("filling the view", `/${view}:sync`, { method: "POST", body: {} }).pipe(
          Effect.flatMap(({ json }) => decoded(Started, json)),
          Effect.catchIf(
            ({ code, message }) =>
              code === "ALREADY_EXISTS" || code === "ABORTED" || (code === "FAILED_PRECONDITION" && /sync/i.test(message)),
            () => Effect.succeed(undefined)
          )
        ),
        { late: `${place} is being filled by others all the time`, looks, firstMs }
      )
      const { code = 0, message } = yield* awaited(
        Effect.map(
          Effect.flatMap(call("filling the view", `/${begun.featureViewSync}`), ({ json }) => decoded(Sync, json)),
          ({ finalStatus = {}, runTime }) => runTime?.endTime === undefined ? undefined : finalStatus
        ),
        { late: `${place} was not filled in time`, looks, firstMs }
      )
      if (code !== 0) return yield* new ServiceError({ code: "INTERNAL", message: `${place} was not filled: ${message ?? `code ${code}`}` })
      served = upTo
    }))
  })

  const neighbors = Effect.fnUntraced(function*(doing: string, vector: string, count: number, files?: ReadonlyArray<string>) {
    const { find } = yield* set
    const filters = [
      { name: "corpus_id", allowTokens: [corpus] },
      ...(files === undefined ? [] : [{ name: "file_id", allowTokens: files }])
    ]
    const { json } = yield* find(doing, `/${view}:searchNearestEntities`, {
      method: "POST",
      body: `{"query":{"embedding":{"value":${vector}},"neighborCount":${Math.min(mostHits, count)},"stringFilters":${
        JSON.stringify(filters)
      }}}`
    })
    return (yield* decoded(Found, json)).nearestNeighbors?.neighbors ?? []
  })
  const settled = (
    vector: string,
    files: ReadonlyArray<string> | undefined,
    holds: (found: ReadonlyArray<{ readonly entityId: string }>) => boolean
  ) =>
    awaited(
      Effect.map(neighbors("looking for what was written", vector, 100, files), (found) => holds(found) ? true : undefined),
      { late: `${place} does not show what was written`, looks, firstMs }
    )
  // A vector that is about equally near to every chunk.
  const anywhere = vectorJson(new Float32Array(dimensions).fill(1 / Math.sqrt(dimensions)))

  /** Deletes a file that does not exist, to test whether rows may be written. */
  const probe = deleteRows(corpus, ["nobody"])

  return {
    place,
    abilities: Effect.succeed({ words: false, mixes: false, rarity: false }),
    mostFiles,
    prepare: Effect.gen(function*() {
      const found = yield* fitted
      yield* probe
      if (found.wanted !== undefined) {
        yield* bigQuery("writing the columns", tablePath(found.table), { method: "PATCH", body: { schema: { fields: found.wanted } } })
      }
      keep({ ...found, wanted: undefined })
    }),
    check: Effect.gen(function*() {
      const found = yield* fitted
      yield* probe
      if (found.wanted !== undefined) {
        return yield* new ServiceError({ code: "NOT_FOUND", message: `the table of ${place} lacks columns of chunks` })
      }
      keep(found)
      const { rows: [[chunks] = []] } = yield* select("counting", ["COUNT(*)"], corpus)
      return { chunks: Number(chunks ?? 0), dimensions, version: "API v1" }
    }),
    put: Effect.fnUntraced(function*(files) {
      const { vector } = yield* set
      // A vector of zeros has no direction, and no search would find it.
      const some = files.map((file) => ({ ...file, chunks: file.chunks.filter(({ vector }) => vector.some((value) => value !== 0)) }))
      for (const batch of chunkBatches(some, writtenAtOnce)) {
        yield* writeRows(batch.map(([file, chunk]) => rowOf(corpus, file, chunk, vector)))
      }
      yield* synced
      yield* Effect.forEach(some, ({ chunks, file }) => {
        const last = chunks.at(-1)
        if (last === undefined) return Effect.void
        const id = idOf(corpus, file, last.ordinal)
        return settled(vectorJson(last.vector), [file], (found) => found.some(({ entityId }) => entityId === id))
      }, { concurrency: lookedForAtOnce, discard: true })
    }),
    delete: Effect.fnUntraced(function*(files) {
      let gone = 0
      for (const some of parts(files, mostFiles)) gone += yield* deleteRows(corpus, some)
      if (gone === 0) return
      yield* synced
      for (const some of parts(files, mostFiles)) yield* settled(anywhere, some, (found) => found.length === 0)
    }),
    drop: Effect.gen(function*() {
      if ((yield* set).wanted !== undefined) return
      const gone = yield* deleteRows(corpus)
      yield* deleteRows(recordsCorpus, [corpus])
      if (gone === 0) return
      yield* synced
      yield* settled(anywhere, undefined, (found) => found.length === 0)
    }),
    search: Effect.fnUntraced(function*({ count, files, vector }: VectorQuery) {
      if (vector === undefined || vector.every((value) => value === 0)) return { dense: [], sparse: [] }
      const { cosine } = yield* set
      const found = yield* neighbors("searching", vectorJson(vector), count, files)
      // A distance is either 1 minus the cosine, or the negative dot product.
      return { dense: found.flatMap(({ distance = 0, entityId }) => hitOf(entityId, cosine ? 1 - distance : -distance)), sparse: [] }
    }),
    corpora: Effect.map(
      select("looking for corpora", ["file_id", "chunk_data"], recordsCorpus),
      ({ rows }) => rows.flatMap(([file, record]) => corpusRecordOf(String(file), record))
    ),
    sign: Effect.fnUntraced(function*(record) {
      const { vector } = yield* set
      const row = {
        chunk_id: `${recordsCorpus}/${corpus}`,
        corpus_id: recordsCorpus,
        file_id: corpus,
        chunk_data_type: "CORPUS",
        chunk_data: JSON.stringify(record)
      }
      yield* writeRows([withVector(row, vector, anywhere)])
    }),
    versions: Effect.map(
      select("looking for files", ["file_id", "chunk_ordinal", "chunk_record"], corpus),
      ({ rows }) =>
        versionsOf(rows.map(([file, ordinal, record]) => ({
          file: String(file),
          ordinal: Number(ordinal),
          record: typeof record === "string" ? record : undefined
        })))
    ),
    read: Effect.fnUntraced(function*(files) {
      const { vector } = yield* set
      const found: Array<ReturnType<typeof chunkIn>> = []
      for (const some of parts(files, mostFiles)) {
        const { rows } = yield* select("reading chunks", [...names, quoted(vector)], corpus, some)
        found.push(...rows.map(chunkIn))
      }
      return filesOf(found.flatMap((chunk) => chunk ?? []))
    })
  }
})

const hitOf = (entityId: string, score: number): ReadonlyArray<VectorHit> => {
  const found = placeIn(entityId)
  return found === undefined ? [] : [{ ...found, score }]
}

const withVector = (row: object, column: string, vector: string): string =>
  JSON.stringify(row).replace(/^\{/, `{${JSON.stringify(column)}:${vector},`)

/** The row of a chunk, as JSON. */
const rowOf = (corpus: string, file: VectorFile, chunk: VectorChunk, column: string): string => {
  const properties = Object.entries(propertiesOf(corpus, file, chunk)).map(([name, value]) => [snakeCase(name), value])
  const row = {
    ...Object.fromEntries(properties),
    chunk_id: idOf(corpus, file.file, chunk.ordinal),
    file_metadata: JSON.stringify(file.metadata ?? null),
    file_permissions: JSON.stringify(file.permissions ?? null)
  }
  return withVector(row, column, vectorJson(chunk.vector))
}

/** The chunk of a row: its cells in the order of the columns, the vector last. */
const chunkIn = (row: Queried["rows"][number]) => {
  const properties = Object.fromEntries(names.map((name, at) => {
    const value = row[at] ?? null
    return [camelCase(name), columns[name as keyof typeof columns] === "INT64" && value !== null ? Number(value) : value]
  }))
  const vector = row[names.length]
  return chunkOf(properties, Array.isArray(vector) ? vector.map(Number) : [], {
    metadata: jsonIn<NonNullable<VectorFile["metadata"]>>(properties["fileMetadata"])?.value,
    permissions: jsonIn<NonNullable<VectorFile["permissions"]>>(properties["filePermissions"])?.value
  })
}
