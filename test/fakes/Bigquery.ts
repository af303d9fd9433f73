import { Effect, type Scope } from "effect"
import type { ServerResponse } from "node:http"
import { parseExactly } from "../../src/domain/Json.ts"
import { type Asked, fakeServer, type FakeServer, sendGoogleError, sendJson } from "./Http.ts"

interface FakeField {
  readonly name: string
  readonly type: string
  readonly mode?: string
  readonly fields?: ReadonlyArray<FakeField>
}

interface Load {
  readonly destinationTable: { readonly projectId: string; readonly datasetId: string; readonly tableId: string }
  readonly schema: { readonly fields: ReadonlyArray<FakeField> }
  readonly sourceFormat: string
  readonly createDisposition: string
  readonly writeDisposition: string
}
const loadFields = new Set(["destinationTable", "schema", "sourceFormat", "createDisposition", "writeDisposition"])

interface Job {
  readonly failed?: { readonly reason: string; readonly message: string }
  looks: number
}

export interface FakeTable {
  readonly fields: ReadonlyArray<FakeField>
  readonly location: string
  /** Values as JSON; those of JSON columns too. */
  readonly rows: Array<Readonly<Record<string, unknown>>>
}

export interface FakeBigQuery extends FakeServer {
  /** By `project.dataset.table`. */
  readonly tables: Map<string, FakeTable>
  readonly put: (
    name: string,
    fields: ReadonlyArray<FakeField>,
    rows: ReadonlyArray<Readonly<Record<string, unknown>>>,
    location?: string
  ) => void
}

/** BigQuery's REST API in memory, as far as tables go that are read, and loaded by resumable uploads of JSON lines. */
export const fakeBigQuery = (pageSize = 1_000): Effect.Effect<FakeBigQuery, never, Scope.Scope> => {
  const tables = new Map<string, FakeTable>()
  const sessions = new Map<string, { readonly load: Load; data: Buffer; job?: number }>()
  const jobs: Array<Job> = []

  const cell = (field: FakeField, value: unknown): { readonly v: unknown } => {
    if (value === null || value === undefined) return { v: null }
    if (field.mode === "REPEATED") return { v: (value as ReadonlyArray<unknown>).map((item) => cell({ ...field, mode: "NULLABLE" }, item)) }
    if (field.type === "RECORD") {
      return { v: { f: (field.fields ?? []).map((inner) => cell(inner, (value as Record<string, unknown>)[inner.name])) } }
    }
    return { v: field.type === "JSON" ? JSON.stringify(value) : String(value) }
  }

  /** A load that is uploaded whole is done with the second look at its job. */
  const upload = ({ body, headers, url }: Asked, response: ServerResponse): void => {
    const session = sessions.get(url.searchParams.get("upload_id") ?? "")
    if (session === undefined) {
      const { configuration: { load, ...otherwise } } = JSON.parse(String(body)) as { configuration: { load: Load } }
      const strange = [...Object.keys(otherwise), ...Object.keys(load).filter((key) => !loadFields.has(key))]
      if (strange.length > 0) return sendGoogleError(response, 400, `Unknown name ${strange.join()}`, { status: "INVALID_ARGUMENT" })
      const id = `upload_${sessions.size}`
      sessions.set(id, { load, data: Buffer.alloc(0) })
      return void response.writeHead(200, { location: `${url.pathname}?uploadType=resumable&upload_id=${id}` }).end()
    }
    const range = /^bytes (?:(\d+)-\d+|\*)\/(\d+|\*)$/.exec(String(headers["content-range"]))
    if (range?.[1] !== undefined && Number(range[1]) === session.data.length) session.data = Buffer.concat([session.data, body])
    if (range?.[2] !== String(session.data.length)) {
      return void response.writeHead(308, session.data.length === 0 ? {} : { range: `bytes=0-${session.data.length - 1}` }).end()
    }
    session.job ??= jobs.push({ looks: 0, ...loaded(session.load, String(session.data)) }) - 1
    sendJob(session.job, response)
  }

  const loaded = ({ destinationTable, schema, writeDisposition }: Load, text: string): Pick<Job, "failed"> => {
    const { datasetId, projectId, tableId } = destinationTable
    const name = `${projectId}.${datasetId}.${tableId}`
    if (datasetId === "none") return { failed: { reason: "notFound", message: `Not found: Dataset ${projectId}:none` } }
    if (writeDisposition === "WRITE_EMPTY" && (tables.get(name)?.rows.length ?? 0) > 0) {
      return { failed: { reason: "duplicate", message: `Already Exists: Table ${name}` } }
    }
    const given = text.split("\n").filter((line) => line !== "").map((line) => parseExactly(line) as Record<string, unknown>)
    const strange = given.flatMap((row) => Object.keys(row)).find((key) => !schema.fields.some((field) => field.name === key))
    if (strange !== undefined) return { failed: { reason: "invalid", message: `JSON parsing error: No such field: ${strange}.` } }
    const rows = given.map((row) => Object.fromEntries(schema.fields.map(({ name }) => [name, row[name] ?? null])))
    tables.set(name, { fields: schema.fields, location: "us-central1", rows })
    return {}
  }

  const sendJob = (id: number, response: ServerResponse): void => {
    const { failed, looks } = jobs[id]!
    const done = looks > 1
    sendJson(response, 200, {
      kind: "bigquery#job",
      jobReference: { projectId: "p", jobId: `job_${id}`, location: "us-central1" },
      status: { state: done ? "DONE" : "RUNNING", ...(done && failed !== undefined ? { errorResult: failed, errors: [failed] } : {}) }
    })
  }

  const answer = (asked: Asked, response: ServerResponse): void => {
    const { method, url } = asked
    if (/^\/upload\/bigquery\/v2\/projects\/[^/]+\/jobs$/.test(url.pathname)) return upload(asked, response)
    const [, job] = /\/jobs\/job_(\d+)$/.exec(url.pathname) ?? []
    if (job !== undefined) {
      if (jobs[Number(job)] === undefined || url.searchParams.get("location") !== "us-central1") {
        return sendGoogleError(response, 404, `Not found: Job ${job}`, { status: "NOT_FOUND" })
      }
      jobs[Number(job)]!.looks++
      return sendJob(Number(job), response)
    }
    const [, project = "", dataset = "", table, action] =
      /^\/bigquery\/v2\/projects\/([^/]+)\/datasets\/([^/]+)\/tables(?:\/([^/]+)(?:\/(data))?)?$/.exec(url.pathname) ?? []
    const key = (name: string): string => `${decodeURIComponent(project)}.${dataset}.${decodeURIComponent(name)}`
    if (table === undefined) return sendGoogleError(response, 404, `no route ${url.pathname}`, { status: "NOT_FOUND" })
    const found = tables.get(key(table))
    if (found === undefined) return sendGoogleError(response, 404, `Not found: Table ${key(table)}`, { status: "NOT_FOUND" })
    if (method === "DELETE") {
      tables.delete(key(table))
      return void response.writeHead(204).end()
    }
    if (action === "data") {
      const from = Number(url.searchParams.get("pageToken") ?? 0)
      const page = found.rows.slice(from, from + Math.min(pageSize, Number(url.searchParams.get("maxResults"))))
      const next = from + page.length
      return sendJson(response, 200, {
        kind: "bigquery#tableDataList",
        totalRows: String(found.rows.length),
        ...(next < found.rows.length ? { pageToken: String(next) } : {}),
        ...(page.length === 0 ? {} : { rows: page.map((row) => ({ f: found.fields.map((field) => cell(field, row[field.name])) })) })
      })
    }
    sendJson(response, 200, {
      kind: "bigquery#table",
      schema: { fields: found.fields },
      location: found.location,
      numRows: String(found.rows.length)
    })
  }

  return Effect.map(fakeServer(answer), (server) => ({
    ...server,
    tables,
    put: (name, fields, rows, location = "us-central1") => void tables.set(name, { fields, location, rows: [...rows] })
  }))
}
