import { Effect, Layer, Option, Schema, Stream } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import type { JsonRecord } from "../../../domain/Chat.ts"
import { parseTable, type TableName, tableUri } from "../../../domain/batch/BatchPrediction.ts"
import { ServiceError } from "../../../domain/Errors.ts"
import { parseExactly } from "../../../domain/Json.ts"
import { call, type Caller, callJson, jsonOf, malformed } from "../../../net/Call.ts"
import { discard } from "../../../net/Download.ts"
import { deniedFix, loginFix } from "../../../net/GoogleErrors.ts"
import { GoogleAuth } from "../../../net/GoogleAuth.ts"
import { blockTimeoutMs, sendBlocks, startSession } from "../../../net/ResumableUpload.ts"
import type { RetryOptions } from "../../../net/Retry.ts"
import { type Column, TableStore } from "../../../ports/TableStore.ts"

export interface BigQueryOptions {
  /** Address of an emulator, which gets no credentials. Default: `BIGQUERY_EMULATOR_HOST`, or else Google's address. */
  readonly endpoint?: string
  readonly retry?: RetryOptions
}

/** Rows per page; the service sends fewer where they are large. */
const pageSize = 5_000
/** Most looks at a load job, which together take some 40 minutes. */
const mostLooks = 250
/** Most milliseconds between two looks; up to this, each pause is half as long again as the one before. */
const longestWaitMs = 10_000
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

const Job = Schema.Struct({
  jobReference: Schema.Struct({ projectId: Schema.String, jobId: Schema.String, location: Schema.optional(Schema.String) }),
  status: Schema.Struct({
    state: Schema.String,
    errorResult: Schema.optional(Schema.Struct({ reason: Schema.optional(Schema.String), message: Schema.optional(Schema.String) }))
  })
})
const decodeJob = Schema.decodeUnknownEffect(Job)

/** Codes by the reason of a failed job; other reasons are faults of the service. */
const codes: Readonly<Record<string, ServiceError["code"]>> = {
  accessDenied: "PERMISSION_DENIED",
  duplicate: "ALREADY_EXISTS",
  invalid: "INVALID_ARGUMENT",
  invalidQuery: "INVALID_ARGUMENT",
  notFound: "NOT_FOUND",
  quotaExceeded: "RESOURCE_EXHAUSTED",
  rateLimitExceeded: "RESOURCE_EXHAUSTED",
  stopped: "CANCELLED"
}

/**
 * Tables of BigQuery, over its REST API. Rows are read from the stored table without a query, and written by a load job:
 * afterwards the table has all of them, or is as it was.
 */
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

  const loaded = Effect.fnUntraced(function*(
    uri: string,
    name: TableName,
    columns: ReadonlyArray<Column>,
    rows: Stream.Stream<ReadonlyArray<JsonRecord>, ServiceError>,
    replace: boolean
  ): Effect.fn.Return<void, ServiceError> {
    const what = `the load of ${uri}`
    const uploading = { ...caller, timeoutMs: blockTimeoutMs }
    const begin = startSession(uploading, {
      what,
      url: `${base}/upload/bigquery/v2/projects/${encodeURIComponent(name.project)}/jobs?uploadType=resumable`,
      contentType: "application/octet-stream",
      about: {
        configuration: {
          load: {
            destinationTable: { projectId: name.project, datasetId: name.dataset, tableId: name.table },
            schema: {
              fields: columns.map(({ name, repeated, type }) => ({ name, type, mode: repeated === true ? "REPEATED" : "NULLABLE" }))
            },
            sourceFormat: "NEWLINE_DELIMITED_JSON",
            createDisposition: "CREATE_IF_NEEDED",
            writeDisposition: replace ? "WRITE_TRUNCATE" : "WRITE_EMPTY"
          }
        }
      },
      decode: (what, response) =>
        Effect.flatMap(jsonOf(what, response), (json) => Effect.mapError(decodeJob(json), () => malformed(what, "not a job's resource")))
    })
    const lines = Stream.map(rows, (group) => group.map((row) => `${JSON.stringify(written(columns, row))}\n`).join(""))
    const { last, sent, session } = yield* sendBlocks(Stream.encodeText(lines), begin)
    let job: typeof Job.Type = yield* (session ?? (yield* begin)).finish(last, sent)
    const { jobId, location, projectId } = job.jobReference
    const jobUrl = `${base}/bigquery/v2/projects/${encodeURIComponent(projectId)}/jobs/${encodeURIComponent(jobId)}${
      location === undefined ? "" : `?location=${encodeURIComponent(location)}`
    }`
    for (let at = 0; job.status.state !== "DONE"; at++) {
      if (at === mostLooks) return yield* new ServiceError({ code: "DEADLINE_EXCEEDED", message: `${what} (job ${jobId}) is not done yet` })
      yield* Effect.sleep(Math.min(longestWaitMs, (options.retry?.baseMs ?? 500) * 1.5 ** at))
      job = yield* callJson(caller, what, HttpClientRequest.get(jobUrl), Job)
    }
    const { errorResult } = job.status
    if (errorResult === undefined) return
    const { message = "no reason given", reason } = errorResult
    return yield* new ServiceError({ code: codes[reason ?? ""] ?? "INTERNAL", message: `${what} failed: ${message}`, reason })
  })

  return TableStore.of({
    idOf: (uri) => {
      const name = parseTable(uri)
      return name === undefined ? undefined : tableUri(name)
    },
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
      if (!replace) {
        // A load job would fill an existing empty table.
        const there = yield* find(uri, name).pipe(
          Effect.as(true),
          Effect.catchIf(({ code }) => code === "NOT_FOUND", () => Effect.succeed(false))
        )
        if (there) return yield* isThere(uri)
      }
      yield* Effect.mapError(
        loaded(uri, name, columns, rows, replace),
        explained(uri, "roles/bigquery.dataEditor and roles/bigquery.jobUser")
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

/** The older names of types by their standard names: the API answers with either. */
const types: Readonly<Record<string, Column["type"]>> = { INT64: "INTEGER", FLOAT64: "FLOAT", BOOL: "BOOLEAN" }

type Cells = ReadonlyArray<typeof Cell.Type>

const recordOf = (fields: ReadonlyArray<Field>, cells: Cells): JsonRecord =>
  Object.fromEntries(fields.map((field, at) => [field.name, valueOf(field, cells[at]?.v ?? null)]))

/** The value of a cell, which is a text, a list of cells, or a record of cells. */
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

/** A row to be written. Integers are written as text, since a double may not hold them exactly. */
const written = (columns: ReadonlyArray<Column>, row: JsonRecord): JsonRecord =>
  Object.fromEntries(columns.flatMap(({ name, type }) => {
    const value = row[name]
    return value === undefined || value === null ? [] : [[name, type === "INTEGER" ? JSON.stringify(value) : value]]
  }))

const isThere = (uri: string): ServiceError =>
  new ServiceError({ code: "ALREADY_EXISTS", message: `table ${uri} is there already`, fix: "name another, or delete it" })

/** A refusal by BigQuery with its meaning and a fix. `role` is the role that the call needs. */
const explained = (uri: string, role: string) => (error: ServiceError): ServiceError => {
  switch (error.code) {
    case "UNAUTHENTICATED":
      return error.status === 401 ? error.with({ fix: loginFix }) : error
    case "PERMISSION_DENIED":
      return error.with({ fix: deniedFix(error.reason, "bigquery.googleapis.com", `Give the account ${role} on the dataset of ${uri}.`) })
    case "NOT_FOUND":
      return error.with({ message: `table ${uri} was not found`, fix: "correct its project, dataset and name" })
    case "ABORTED":
    case "ALREADY_EXISTS":
      return isThere(uri)
    default:
      return error
  }
}
