import { Effect } from "effect"
import type protobuf from "protobufjs"
import { lookupMethod } from "../wire/protos/Load.ts"
import { validate } from "../wire/protos/Validate.ts"
import { fakeServer, sendGoogleError, sendJson } from "./Http.ts"

type Row = Readonly<Record<string, unknown>>
interface TableField {
  readonly name: string
  readonly type: string
  readonly mode?: string
}

export interface FakeFeatureStoreOptions {
  readonly dimensions: number
  readonly distance?: string
  readonly filterColumns?: ReadonlyArray<string>
  readonly entityIdColumns?: ReadonlyArray<string>
  readonly uri?: string
  readonly domain?: string
  /** Whether rows come into the view by themselves, some queries later. Default false: with a sync. */
  readonly continuous?: boolean
  /** Syncs that are refused because another one runs. Default 0. */
  readonly busy?: number
  /** Columns of the table besides those that the service documents. */
  readonly more?: ReadonlyArray<TableField>
}

const onlineStore = "projects/acme/locations/us-central1/featureOnlineStores/online"
export const featureStoreNames = { featureView: `${onlineStore}/featureViews/docs` }

const documented: ReadonlyArray<TableField> = [
  ...["corpus_id", "file_id", "chunk_id", "chunk_data_type", "chunk_data", "file_original_uri"].map((name) => ({
    name,
    type: "STRING",
    mode: "NULLABLE"
  })),
  { name: "embeddings", type: "FLOAT", mode: "REPEATED" }
]

/**
 * A feature view of Vertex AI Feature Store and the BigQuery table that it is filled from, on one port. Bodies that come and
 * go at Vertex AI are held to its protos; of BigQuery's statements it understands those of one table, by their grammar. A
 * statement is done with the second look, a sync with the third, and its answers come in pages of 100 rows.
 */
export const fakeFeatureStore = (
  {
    busy = 0,
    continuous = false,
    dimensions,
    distance = "DOT_PRODUCT_DISTANCE",
    domain = "23.us-central1-acme.featurestore.vertexai.goog",
    entityIdColumns = ["chunk_id"],
    filterColumns = ["corpus_id", "file_id"],
    more = [],
    uri = "bq://acme.rag.chunks"
  }: FakeFeatureStoreOptions
) =>
  Effect.gen(function*() {
    let rows: ReadonlyArray<Row> = []
    let fields = [...documented, ...more]
    let shown: ReadonlyArray<Row> = []
    let behind = 0
    let refusals = busy
    const jobs: Array<{ readonly rows: ReadonlyArray<ReadonlyArray<unknown>>; readonly affected?: number; looks: number }> = []
    const syncs: Array<{ readonly rows: ReadonlyArray<Row>; looks: number }> = []
    const server = yield* fakeServer((request, response) => {
      const { pathname, searchParams } = request.url
      const refuse = (status: number, code: string, message: string) => sendGoogleError(response, status, message, { status: code })
      const body = request.body.length === 0 ? {} : JSON.parse(request.body.toString())
      if (pathname.startsWith("/bigquery/v2/projects/acme/")) return bigQuery(request.method, pathname, searchParams, body)
      const [, resource = "", action = ""] = /^\/v1\/([^:]+)(?::(\w+))?$/.exec(pathname) ?? []
      const rpc = methods[action === "" ? resource.split("/").at(-2) ?? "" : action]
      if (rpc === undefined) return refuse(404, "NOT_FOUND", `no route ${pathname}`)
      const called = lookupMethod("v1", rpc)
      called?.resolve()
      const problems = request.body.length === 0
        ? []
        : validate(called?.resolvedRequestType as protobuf.Type, body, {
          version: "v1",
          request: { inPath: ["featureView"], partial: false }
        })
      if (problems.length > 0) return refuse(400, "INVALID_ARGUMENT", problems.join("; "))
      const answer = (json: object) => {
        const wrong = validate(called?.resolvedResponseType as protobuf.Type, json, { version: "v1" })
        if (wrong.length > 0) throw new Error(`the fake answers otherwise than the service: ${wrong.join("; ")}`)
        sendJson(response, 200, json)
      }
      if (resource !== onlineStore && !`${resource}/`.startsWith(`${featureStoreNames.featureView}/`)) {
        return refuse(404, "NOT_FOUND", `${resource} is not found`)
      }
      switch (rpc) {
        case "FeatureOnlineStoreAdminService.GetFeatureOnlineStore":
          return answer({
            name: resource,
            optimized: {},
            dedicatedServingEndpoint: domain === "" ? {} : { publicEndpointDomainName: domain }
          })
        case "FeatureOnlineStoreAdminService.GetFeatureView":
          return answer({
            name: resource,
            bigQuerySource: { uri, entityIdColumns },
            ...(continuous ? { syncConfig: { continuous } } : {}),
            indexConfig: {
              embeddingColumn: "embeddings",
              ...(filterColumns.length === 0 ? {} : { filterColumns }),
              embeddingDimension: dimensions,
              distanceMeasureType: distance,
              treeAhConfig: {}
            }
          })
        case "FeatureOnlineStoreAdminService.SyncFeatureView":
          if (refusals-- > 0) return refuse(400, "FAILED_PRECONDITION", "There is already a sync in progress for the feature view")
          syncs.push({ rows, looks: 0 })
          return answer({ featureViewSync: `${resource}/featureViewSyncs/${syncs.length - 1}` })
        case "FeatureOnlineStoreAdminService.GetFeatureViewSync": {
          const sync = syncs[Number(resource.split("/").at(-1))]!
          const done = ++sync.looks > 2
          if (done) shown = sync.rows
          const startTime = "2026-11-01T00:00:00Z"
          return answer({
            name: resource,
            createTime: startTime,
            runTime: { startTime, ...(done ? { endTime: "2026-11-01T00:05:00Z" } : {}) }
          })
        }
      }
      if (continuous && behind-- <= 0) shown = rows
      const { embedding, neighborCount, stringFilters = [] } = body.query as {
        readonly embedding: { readonly value: ReadonlyArray<number> }
        readonly neighborCount: number
        readonly stringFilters?: ReadonlyArray<{ readonly name: string; readonly allowTokens: ReadonlyArray<string> }>
      }
      const strange = stringFilters.find(({ name }) => !filterColumns.includes(name))
      if (strange !== undefined) return refuse(400, "INVALID_ARGUMENT", `${strange.name} is no filter column`)
      if (embedding.value.length !== dimensions) return refuse(400, "INVALID_ARGUMENT", `${embedding.value.length} dimensions`)
      const neighbors = shown
        .filter((row) => stringFilters.every(({ allowTokens, name }) => allowTokens.includes(String(row[name]))))
        .map((row) => {
          const product = (row["embeddings"] as ReadonlyArray<number>).reduce((sum, value, i) => sum + value * embedding.value[i]!, 0)
          return { entityId: String(row["chunk_id"]), distance: distance === "COSINE_DISTANCE" ? 1 - product : -product }
        })
        .toSorted((a, b) => a.distance - b.distance)
        .slice(0, neighborCount)
        .map(({ distance, entityId }) => ({ entityId, ...(distance === 0 ? {} : { distance }) }))
      return answer(neighbors.length === 0 ? {} : { nearestNeighbors: { neighbors } })

      function bigQuery(
        method: string,
        pathname: string,
        query: URLSearchParams,
        body: QueryRequest & { readonly schema?: { fields: Array<TableField> } }
      ) {
        if (pathname.endsWith("/tables/chunks")) {
          if (method === "PATCH") fields = body.schema!.fields
          return sendJson(response, 200, { kind: "bigquery#table", schema: { fields } })
        }
        const [, id] = /\/queries\/job_(\d+)$/.exec(pathname) ?? []
        const jobOf = (): number => {
          const { affected, changed, found } = executed(body, rows)
          if (changed !== undefined) {
            rows = changed
            behind = 2
          }
          return jobs.push({ rows: found, looks: 0, ...(affected === undefined ? {} : { affected }) }) - 1
        }
        let at: number
        try {
          at = id === undefined ? jobOf() : Number(id)
        } catch (error) {
          return refuse(400, "INVALID_ARGUMENT", String(error))
        }
        const job = jobs[at]
        if (job === undefined) return refuse(404, "NOT_FOUND", `job ${id}`)
        const jobReference = { projectId: "acme", jobId: `job_${at}`, location: "US" }
        if (id !== undefined && query.get("location") !== "US") return refuse(404, "NOT_FOUND", `no job ${id} there`)
        if (job.looks++ === 0) return sendJson(response, 200, { kind: "bigquery#queryResponse", jobComplete: false, jobReference })
        const from = Number(query.get("pageToken") ?? 0)
        const page = job.rows.slice(from, from + 100)
        sendJson(response, 200, {
          kind: "bigquery#queryResponse",
          jobComplete: true,
          jobReference,
          ...(job.affected === undefined ? {} : { numDmlAffectedRows: String(job.affected) }),
          totalRows: String(job.rows.length),
          ...(page.length === 0 ? {} : { rows: page.map((row) => ({ f: row.map(cell) })) }),
          ...(from + 100 < job.rows.length ? { pageToken: String(from + 100) } : {})
        })
      }
    })
    return { ...server, rows: () => rows, fields: () => fields }
  })

const methods: Readonly<Record<string, string>> = {
  featureOnlineStores: "FeatureOnlineStoreAdminService.GetFeatureOnlineStore",
  featureViews: "FeatureOnlineStoreAdminService.GetFeatureView",
  featureViewSyncs: "FeatureOnlineStoreAdminService.GetFeatureViewSync",
  sync: "FeatureOnlineStoreAdminService.SyncFeatureView",
  searchNearestEntities: "FeatureOnlineStoreService.SearchNearestEntities"
}

const cell = (value: unknown): { readonly v: unknown } => ({
  v: value === null || value === undefined ? null : Array.isArray(value) ? value.map(cell) : String(value)
})

interface QueryRequest {
  readonly query: string
  readonly useLegacySql: boolean
  readonly parameterMode: string
  readonly queryParameters: ReadonlyArray<{
    readonly name: string
    readonly parameterType: { readonly type: string; readonly arrayType?: { readonly type: string } }
    readonly parameterValue: { readonly value?: string; readonly arrayValues?: ReadonlyArray<{ readonly value: string }> }
  }>
}
const known = ["query", "useLegacySql", "parameterMode", "queryParameters", "timeoutMs", "maxResults", "location", "requestId"]

interface Executed {
  readonly found: ReadonlyArray<ReadonlyArray<unknown>>
  readonly changed?: ReadonlyArray<Row>
  readonly affected?: number
}

/** Throws where a statement is not one of those that it understands. */
const executed = (request: QueryRequest, rows: ReadonlyArray<Row>): Executed => {
  const strange = Object.keys(request).find((key) => !known.includes(key))
  if (strange !== undefined || request.useLegacySql || request.parameterMode !== "NAMED") throw new Error(`no query request: ${strange}`)
  const parameters = new Map(request.queryParameters.map(({ name, parameterType, parameterValue }) => [
    name,
    parameterType.type === "ARRAY" ? (parameterValue.arrayValues ?? []).map(({ value }) => value) : parameterValue.value
  ]))
  const sql = request.query.replace(/\s+/g, " ").trim()
  const conditions = (where: string) =>
    where.split(" AND ").map((condition) => {
      const [, name = "", list, parameter = ""] = /^(\w+) (?:= |(IN UNNEST\())@(\w+)\)?$/.exec(condition) ?? []
      const value = parameters.get(parameter)
      if (value === undefined || Array.isArray(value) !== (list !== undefined)) throw new Error(`no condition: ${condition}`)
      return (row: Row) => Array.isArray(value) ? value.includes(String(row[name])) : row[name] === value
    })
  const [, selected, where = ""] = /^SELECT (.+) FROM `acme\.rag\.chunks` WHERE (.+)$/.exec(sql) ?? []
  if (selected !== undefined) {
    const passing = rows.filter((row) => conditions(where).every((passes) => passes(row)))
    if (selected === "COUNT(*)") return { found: [[passing.length]] }
    const names = selected.split(", ").map((name) => name.replaceAll("`", ""))
    return { found: passing.map((row) => names.map((name) => row[name])) }
  }
  const [, deleting] = /^DELETE FROM `acme\.rag\.chunks` WHERE (.+)$/.exec(sql) ?? []
  if (deleting !== undefined) {
    const changed = rows.filter((row) => !conditions(deleting).every((passes) => passes(row)))
    return { found: [], changed, affected: rows.length - changed.length }
  }
  const [, key = ""] =
    /^MERGE `acme\.rag\.chunks` AS stored USING .+ ON stored\.`(\w+)` = given\.`\1` WHEN MATCHED THEN UPDATE SET /.exec(sql) ?? []
  const [, inserted] = / WHEN NOT MATCHED THEN INSERT \((.+?)\) VALUES /.exec(sql) ?? []
  if (inserted === undefined) throw new Error(`no statement of those that are understood: ${sql.slice(0, 80)}`)
  const given = JSON.parse(String(parameters.get("rows"))) as ReadonlyArray<Row>
  const put = given.map((row) =>
    Object.fromEntries(
      inserted.split(", ").map((name) => {
        const column = name.replaceAll("`", "")
        const isList = new RegExp(`JSON_VALUE_ARRAY\\(line, '\\$\\.${column}'\\)`).test(sql)
        return [column, row[column] ?? (isList ? [] : null)]
      })
    )
  )
  const keys = new Set(put.map((row) => row[key]))
  return { found: [], changed: [...rows.filter((row) => !keys.has(row[key])), ...put], affected: put.length }
}
