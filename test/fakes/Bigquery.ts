import { Effect, type Scope } from "effect"
import { type Asked, fakeServer, type FakeServer, sendGoogleError, sendJson } from "./Http.ts"

interface FakeField {
  readonly name: string
  readonly type: string
  readonly mode?: string
  readonly fields?: ReadonlyArray<FakeField>
}

export interface FakeTable {
  readonly fields: ReadonlyArray<FakeField>
  readonly location: string
  /** Values as JSON; those of JSON columns too. */
  readonly rows: Array<Readonly<Record<string, unknown>>>
  /** Of the rows that were streamed in, which the service takes once. */
  readonly ids: Set<string>
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

/** BigQuery's REST API in memory, as far as tables go that are read and streamed into. */
export const fakeBigQuery = (pageSize = 1_000): Effect.Effect<FakeBigQuery, never, Scope.Scope> => {
  const tables = new Map<string, FakeTable>()

  const cell = (field: FakeField, value: unknown): { readonly v: unknown } => {
    if (value === null || value === undefined) return { v: null }
    if (field.mode === "REPEATED") return { v: (value as ReadonlyArray<unknown>).map((item) => cell({ ...field, mode: "NULLABLE" }, item)) }
    if (field.type === "RECORD") {
      return { v: { f: (field.fields ?? []).map((inner) => cell(inner, (value as Record<string, unknown>)[inner.name])) } }
    }
    return { v: field.type === "JSON" ? JSON.stringify(value) : String(value) }
  }

  const answer = ({ body, method, url }: Asked, response: Parameters<typeof sendJson>[0]): void => {
    const [, project = "", dataset = "", table, action] =
      /^\/bigquery\/v2\/projects\/([^/]+)\/datasets\/([^/]+)\/tables(?:\/([^/]+)(?:\/(data|insertAll))?)?$/.exec(url.pathname) ?? []
    const key = (name: string): string => `${decodeURIComponent(project)}.${dataset}.${decodeURIComponent(name)}`
    if (table === undefined) {
      const asked = JSON.parse(String(body)) as { tableReference: { tableId: string }; schema: { fields: Array<FakeField> } }
      const name = key(asked.tableReference.tableId)
      if (tables.has(name)) return sendGoogleError(response, 409, `Already Exists: Table ${name}`, { status: "ALREADY_EXISTS" })
      tables.set(name, { fields: asked.schema.fields, location: "us-central1", rows: [], ids: new Set() })
      return sendJson(response, 200, { kind: "bigquery#table", schema: asked.schema, location: "us-central1", numRows: "0" })
    }
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
    if (action === "insertAll") {
      const { rows } = JSON.parse(String(body)) as { rows: Array<{ insertId: string; json: Record<string, unknown> }> }
      const insertErrors = rows.flatMap(({ json }, index) => {
        const strange = Object.keys(json).find((name) => !found.fields.some((field) => field.name === name))
        return strange === undefined ? [] : [{ index, errors: [{ reason: "invalid", message: `no such field: ${strange}.` }] }]
      })
      for (const { insertId, json } of insertErrors.length > 0 ? [] : rows) {
        if (found.ids.has(insertId)) continue
        found.ids.add(insertId)
        found.rows.push(Object.fromEntries(found.fields.map(({ name, type }) => [
          name,
          type === "JSON" && typeof json[name] === "string" ? JSON.parse(String(json[name])) : json[name] ?? null
        ])))
      }
      return sendJson(response, 200, {
        kind: "bigquery#tableDataInsertAllResponse",
        ...(insertErrors.length === 0 ? {} : { insertErrors })
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
    put: (name, fields, rows, location = "us-central1") => void tables.set(name, { fields, location, rows: [...rows], ids: new Set() })
  }))
}
