import { Duration, Effect, Layer, Option, Schedule, Schema, Stream } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import type { JsonRecord } from "../../../domain/Chat.ts"
import { parseTable, type TableName } from "../../../domain/batch/BatchPrediction.ts"
import { ServiceError } from "../../../domain/Errors.ts"
import { parseExactly } from "../../../domain/Json.ts"
import { call, type Caller, callJson } from "../../../net/Call.ts"
import { discard } from "../../../net/Download.ts"
import { deniedFix, loginFix } from "../../../net/GoogleErrors.ts"
import { GoogleAuth } from "../../../net/GoogleAuth.ts"
import type { RetryOptions } from "../../../net/Retry.ts"
import { type Column, TableStore } from "../../../ports/TableStore.ts"

export interface BigQueryOptions {
  /** In the place of Google's own: an emulator, which is sent no credentials. Default: `BIGQUERY_EMULATOR_HOST`, else Google's. */
  readonly endpoint?: string
  readonly retry?: RetryOptions
}

/** Rows of one page, of which the service sends fewer where they are large. */
const pageSize = 5_000
/** Rows of one insertion, and their UTF-16 units: the service takes 50,000 rows and 10 MB, and advises 500. */
const insertSize = 500
const insertLength = 3_000_000

interface Field {
  readonly name: string
  readonly type: string
  readonly mode?: string
  readonly fields?: ReadonlyArray<Field>
}
const Field: Schema.Codec<Field> = Schema.Struct({
  name: Schema.String,
  type: Schema.String,
  mode: Schema.optional(Schema.String),
  fields: Schema.optional(Schema.Array(Schema.suspend(() => Field)))
})

const Table = Schema.Struct({
  schema: Schema.optional(Schema.Struct({ fields: Schema.optional(Schema.Array(Field)) })),
  location: Schema.optional(Schema.String),
  numRows: Schema.optional(Schema.String)
})

const Cell = Schema.Struct({ v: Schema.optional(Schema.Unknown) })
const Page = Schema.Struct({
  rows: Schema.optional(Schema.Array(Schema.Struct({ f: Schema.Array(Cell) }))),
  pageToken: Schema.optional(Schema.String)
})

const Inserted = Schema.Struct({
  insertErrors: Schema.optional(Schema.Array(Schema.Struct({
    index: Schema.optional(Schema.Int),
    errors: Schema.optional(
      Schema.Array(Schema.Struct({ reason: Schema.optional(Schema.String), message: Schema.optional(Schema.String) }))
    )
  })))
})

/** Tables of BigQuery, over its REST API. Rows are read from the table as it is stored, without a query. */
export const make = Effect.fnUntraced(function*(options: BigQueryOptions = {}) {
  const emulator = options.endpoint ?? emulatorOf(process.env["BIGQUERY_EMULATOR_HOST"])
  const base = (emulator ?? "https://bigquery.googleapis.com").replace(/\/+$/, "")
  const caller: Caller = {
    http: yield* HttpClient.HttpClient,
    auth: emulator === undefined ? yield* GoogleAuth : GoogleAuth.anonymous,
    timeoutMs: 60_000,
    retry: options.retry
  }
  const tablesUrl = ({ dataset, project }: TableName) =>
    `${base}/bigquery/v2/projects/${encodeURIComponent(project)}/datasets/${encodeURIComponent(dataset)}/tables`
  const tableUrl = (name: TableName) => `${tablesUrl(name)}/${encodeURIComponent(name.table)}`

  const find = (uri: string, name: TableName) =>
    callJson(caller, uri, HttpClientRequest.get(tableUrl(name)), Table).pipe(Effect.mapError(explained(uri, "roles/bigquery.dataViewer")))

  const remove = (uri: string, name: TableName) =>
    call(caller, `the deletion of ${uri}`, HttpClientRequest.delete(tableUrl(name)), (status) => status < 300 || status === 404).pipe(
      Effect.flatMap(discard),
      Effect.mapError(explained(uri, "roles/bigquery.dataEditor"))
    )

  const create = (uri: string, name: TableName, columns: ReadonlyArray<Column>) =>
    callJson(
      caller,
      uri,
      HttpClientRequest.post(tablesUrl(name)).pipe(HttpClientRequest.bodyJsonUnsafe({
        tableReference: { projectId: name.project, datasetId: name.dataset, tableId: name.table },
        schema: { fields: columns.map(({ name, repeated, type }) => ({ name, type, mode: repeated === true ? "REPEATED" : "NULLABLE" })) }
      })),
      Table
    ).pipe(Effect.mapError(explained(uri, "roles/bigquery.dataEditor")))

  /** `from` makes the ids by which the service knows rows it is sent twice. */
  const insert = (uri: string, name: TableName, rows: ReadonlyArray<JsonRecord>, from: number) =>
    callJson(
      caller,
      uri,
      HttpClientRequest.post(`${tableUrl(name)}/insertAll`).pipe(HttpClientRequest.bodyJsonUnsafe({
        rows: rows.map((json, at) => ({ insertId: String(from + at), json }))
      })),
      Inserted
    ).pipe(
      // A table that was just made is not at once there for rows.
      Effect.retry({ while: ({ code }) => code === "NOT_FOUND", schedule: newTable }),
      Effect.mapError(explained(uri, "roles/bigquery.dataEditor")),
      Effect.flatMap(({ insertErrors = [] }) => {
        const [first] = insertErrors
        return first === undefined ? Effect.void : new ServiceError({
          code: "INVALID_ARGUMENT",
          message: `${uri} did not take ${insertErrors.length} rows, the first for: ${
            first.errors?.[0]?.message ?? first.errors?.[0]?.reason ?? "no reason given"
          }`
        })
      })
    )

  const newTable = Schedule.exponential(Duration.millis(options.retry?.baseMs ?? 1_000)).pipe(Schedule.upTo({ times: 6 }))

  return TableStore.of({
    head: Effect.fn("TableStore.head")(function*(uri) {
      const { location, numRows, schema } = yield* find(uri, yield* nameOf(uri))
      return {
        columns: (schema?.fields ?? []).map(({ mode, name, type }) => ({
          name,
          type: types[type] ?? type,
          repeated: mode === "REPEATED" ? true : undefined
        })),
        location,
        rows: numRows === undefined ? undefined : Number(numRows)
      }
    }),
    read: (uri) =>
      Stream.unwrap(Effect.gen(function*() {
        const name = yield* nameOf(uri)
        const fields = (yield* find(uri, name)).schema?.fields ?? []
        return Stream.paginate("", (token: string) => {
          const query = `maxResults=${pageSize}${token === "" ? "" : `&pageToken=${encodeURIComponent(token)}`}`
          return callJson(caller, uri, HttpClientRequest.get(`${tableUrl(name)}/data?${query}`), Page).pipe(
            Effect.mapError(explained(uri, "roles/bigquery.dataViewer")),
            Effect.map(({ pageToken = "", rows = [] }) =>
              [
                rows.length === 0 ? [] : [rows.map(({ f }) => recordOf(fields, f))],
                pageToken === "" ? Option.none() : Option.some(pageToken)
              ] as const
            )
          )
        })
      })),
    put: Effect.fn("TableStore.put")(function*(uri, columns, rows, { replace = false } = {}) {
      const name = yield* nameOf(uri)
      if (replace) yield* remove(uri, name)
      yield* create(uri, name, columns)
      let sent = 0
      yield* rows.pipe(
        Stream.map((group) => group.map((row) => written(columns, row))),
        Stream.flatMap((group) => Stream.fromIterable(portions(group))),
        Stream.runForEach((portion) => {
          const from = sent
          sent += portion.length
          return insert(uri, name, portion, from)
        }),
        Effect.onError(() => Effect.ignore(remove(uri, name)))
      )
    }),
    delete: Effect.fn("TableStore.delete")(function*(uri) {
      yield* remove(uri, yield* nameOf(uri))
    })
  })
})

export const layer = (options: BigQueryOptions = {}): Layer.Layer<TableStore, never, HttpClient.HttpClient | GoogleAuth> =>
  Layer.effect(TableStore, make(options))

const emulatorOf = (host: string | undefined): string | undefined =>
  host === undefined || host.trim() === "" ? undefined : /^https?:\/\//.test(host) ? host.trim() : `http://${host.trim()}`

const nameOf = (uri: string): Effect.Effect<TableName, ServiceError> => {
  const name = parseTable(uri)
  return name === undefined
    ? Effect.fail(ServiceError.invalid("uri", `${uri} is not bq://<project>.<dataset>.<table>`))
    : Effect.succeed(name)
}

/** The standard names of types, for the older ones that the API answers with either way. */
const types: Readonly<Record<string, Column["type"]>> = { INT64: "INTEGER", FLOAT64: "FLOAT", BOOL: "BOOLEAN" }

type Cells = ReadonlyArray<typeof Cell.Type>

const recordOf = (fields: ReadonlyArray<Field>, cells: Cells): JsonRecord =>
  Object.fromEntries(fields.map((field, at) => [field.name, valueOf(field, cells[at]?.v ?? null)]))

/** Cells are texts, lists of cells, or records of cells. */
const valueOf = (field: Field, value: unknown): unknown => {
  if (value === null) return null
  if (field.mode === "REPEATED") {
    return (value as Cells).map(({ v = null }) => valueOf({ ...field, mode: "NULLABLE" }, v)) // what the mode says
  }
  if (field.type === "RECORD" || field.type === "STRUCT") {
    return recordOf(field.fields ?? [], (value as { readonly f: Cells }).f) // what the type says
  }
  if (typeof value !== "string") return value
  switch (types[field.type] ?? field.type) {
    case "JSON":
      return jsonOr(value)
    case "INTEGER":
      return jsonOr(value)
    case "FLOAT":
      return Number.isFinite(Number(value)) ? Number(value) : value
    case "BOOLEAN":
      return value === "true"
    default:
      return value
  }
}

const jsonOr = (text: string): unknown => {
  try {
    return parseExactly(text)
  } catch {
    return text
  }
}

/** JSON columns are written as text, and so are integers, which may be longer than a double holds. */
const written = (columns: ReadonlyArray<Column>, row: JsonRecord): JsonRecord =>
  Object.fromEntries(columns.flatMap(({ name, type }) => {
    const value = row[name]
    return value === undefined || value === null ? [] : [[name, type === "JSON" || type === "INTEGER" ? JSON.stringify(value) : value]]
  }))

const portions = (rows: ReadonlyArray<JsonRecord>): ReadonlyArray<ReadonlyArray<JsonRecord>> => {
  const made: Array<Array<JsonRecord>> = []
  let length = Infinity
  for (const row of rows) {
    const size = JSON.stringify(row).length
    const last = made.at(-1)
    if (last === undefined || last.length === insertSize || length + size > insertLength) {
      made.push([row])
      length = size
    } else {
      last.push(row)
      length += size
    }
  }
  return made
}

/** What a refusal by BigQuery means, and what mends it. `role` is what the call needs. */
const explained = (uri: string, role: string) => (error: ServiceError): ServiceError => {
  switch (error.code) {
    case "UNAUTHENTICATED":
      return error.status === 401 ? error.with({ fix: loginFix }) : error
    case "PERMISSION_DENIED":
      return error.with({ fix: deniedFix(error.reason, "bigquery.googleapis.com", `Give the account ${role} on the dataset of ${uri}.`) })
    case "NOT_FOUND":
      return error.with({ message: `table ${uri} was not found`, fix: "Correct its project, dataset and name." })
    case "ABORTED":
    case "ALREADY_EXISTS":
      return error.with({ code: "ALREADY_EXISTS", message: `table ${uri} is there already`, fix: "Name another, or delete it." })
    default:
      return error
  }
}
