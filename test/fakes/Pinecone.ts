import { Effect } from "effect"
import { fakeServer, sendJson } from "./Http.ts"

interface Sparse {
  readonly indices: ReadonlyArray<number>
  readonly values: ReadonlyArray<number>
}

interface PineconeRecord {
  readonly id: string
  readonly values: ReadonlyArray<number>
  readonly sparseValues?: Sparse | undefined
  readonly metadata: Record<string, unknown>
  /** The write that brought it. */
  readonly lsn: number
}

export interface FakePineconeOptions {
  readonly key?: string
  readonly dimension: number
  readonly metric?: string
  /** Whether a query may have both a dense and a sparse vector, where the metric is the dot product. Default true. */
  readonly together?: boolean
  /** Queries after a write that do not see it yet. Default 2. */
  readonly lag?: number
  /** Whether answers say how far the index is. Default true. */
  readonly tellsLsn?: boolean
  /** Records of one upsert that are taken, and no more. Default: all. */
  readonly takes?: number
}

/**
 * Pinecone's control and data plane on one port, of API version 2026-07: what is written is found only some queries later,
 * lists are in pages of 100, a request has 2 MB at most, a record's metadata is held to its forms and its 40 kB, its sparse
 * vector to 1,000 values.
 */
export const fakePinecone = (
  { dimension, key = "pc-key", lag = 2, metric = "cosine", takes = Infinity, tellsLsn = true, together = true }: FakePineconeOptions
) =>
  Effect.gen(function*() {
    const namespaces = new Map<string, Map<string, PineconeRecord>>()
    let lsn = 0
    let indexed = 0
    let behind = 0
    const server = yield* fakeServer((request, response) => {
      const refuse = (status: number, code: string, message: string) => sendJson(response, status, { error: { code, message }, status })
      if (request.headers["api-key"] !== key) return refuse(401, "UNAUTHENTICATED", "Invalid API key")
      const { pathname, searchParams } = request.url
      const body = request.body.length === 0 ? {} : JSON.parse(request.body.toString())
      const namespace: string = body.namespace ?? searchParams.get("namespace") ?? "__default__"
      const records = namespaces.get(namespace)
      const answer = (json: unknown, headers: Record<string, string> = {}) => sendJson(response, 200, json, tellsLsn ? headers : {})
      const seen = (record: PineconeRecord) => record.lsn <= indexed
      if (pathname.startsWith("/indexes/")) {
        if (pathname !== "/indexes/docs") return refuse(404, "NOT_FOUND", "Resource not found")
        return answer({
          name: "docs",
          host: server.origin,
          status: { ready: true, state: "Ready" },
          deployment: { deployment_type: "managed", environment: "aws-us-east-1", cloud: "aws", region: "us-east-1" },
          schema: {
            fields: {
              _values: { type: "dense_vector", dimension, metric },
              _sparse_values: { type: "sparse_vector", metric: "dotproduct" }
            }
          },
          deletion_protection: "disabled"
        })
      }
      switch (pathname) {
        case "/describe_index_stats":
          return answer({
            dimension,
            metric,
            namespaces: Object.fromEntries([...namespaces].map(([name, records]) => [name, { vectorCount: records.size }]))
          })
        case "/vectors/upsert": {
          const made = records ?? new Map<string, PineconeRecord>()
          lsn++
          behind = lag
          if (request.body.length > 2_097_152) return refuse(400, "INVALID_ARGUMENT", "Request size exceeds the maximum of 2MB")
          for (const { id, metadata = {}, sparseValues, values } of body.vectors.slice(0, takes)) {
            if (sparseValues !== undefined && !isSparse(sparseValues)) {
              return refuse(400, "INVALID_ARGUMENT", "Sparse vector must have 1 to 1000 values, each with an index of its own")
            }
            if (values.length !== dimension) {
              return refuse(
                400,
                "INVALID_ARGUMENT",
                `Vector dimension ${values.length} does not match the dimension of the index ${dimension}`
              )
            }
            if (values.every((value: number) => value === 0)) {
              return refuse(400, "INVALID_ARGUMENT", "Dense vectors must contain at least one non-zero value")
            }
            if (!Object.values(metadata).every(isMetadata)) {
              return refuse(400, "INVALID_ARGUMENT", "Metadata value must be a string, number, boolean or list of strings")
            }
            if (Buffer.byteLength(JSON.stringify(metadata)) > 40_960) {
              return refuse(400, "INVALID_ARGUMENT", "Metadata size exceeds the limit of 40960 bytes per vector")
            }
            made.set(id, { id, values, sparseValues, metadata, lsn })
          }
          namespaces.set(namespace, made)
          return answer({ upsertedCount: Math.min(takes, body.vectors.length) }, { "x-pinecone-request-lsn": String(lsn) })
        }
        case "/query": {
          if (behind > 0) behind--
          else indexed = lsn
          const { sparseVector } = body
          if (sparseVector !== undefined && metric !== "dotproduct") {
            return refuse(
              400,
              "INVALID_ARGUMENT",
              "Index configuration does not support sparse values - only indexes that are sparse or using dotproduct are supported"
            )
          }
          if (sparseVector !== undefined && !together) return refuse(400, "INVALID_ARGUMENT", "Query may have one vector only")
          if (body.vector.every((value: number) => value === 0)) {
            return refuse(400, "INVALID_ARGUMENT", "Dense vectors must contain at least one non-zero value")
          }
          const matches = [...records?.values() ?? []]
            .filter((record) => seen(record) && passes(record, body.filter))
            .map((record) => ({
              record,
              score: metric === "dotproduct"
                ? dot(record.values, body.vector) + sparseDot(record.sparseValues, sparseVector)
                : dot(record.values, body.vector) / (Math.sqrt(dot(record.values, record.values) * dot(body.vector, body.vector)) || 1)
            }))
            .sort((a, b) => b.score - a.score)
            .slice(0, body.topK)
            .map(({ record, score }) => ({
              id: record.id,
              score,
              ...(body.includeValues === true ? { values: record.values } : {}),
              ...(body.includeMetadata === true ? { metadata: record.metadata } : {})
            }))
          return answer({ matches, namespace, usage: { readUnits: 1 } }, { "x-pinecone-max-indexed-lsn": String(indexed) })
        }
        case "/vectors/fetch": {
          const ids = searchParams.getAll("ids")
          return answer({
            namespace,
            vectors: Object.fromEntries(
              [...records?.values() ?? []].filter(({ id }) => ids.includes(id)).map((
                { id, metadata, sparseValues, values }
              ) => [id, { id, values, metadata, ...(sparseValues === undefined ? {} : { sparseValues }) }])
            )
          })
        }
        case "/vectors/list": {
          const after = searchParams.get("paginationToken") ?? ""
          const ids = [...records?.keys() ?? []].filter((id) => id > after && id.startsWith(searchParams.get("prefix") ?? "")).toSorted()
          const page = ids.slice(0, 100)
          return answer({
            namespace,
            vectors: page.map((id) => ({ id })),
            ...(ids.length > 100 ? { pagination: { next: page.at(-1) } } : {})
          })
        }
        case "/vectors/delete":
          if (records === undefined) return refuse(404, "NOT_FOUND", "Namespace not found")
          if (body.deleteAll === true) namespaces.delete(namespace)
          for (const id of body.ids ?? []) records.delete(id)
          return answer({})
      }
      return refuse(404, "NOT_FOUND", `no route ${pathname}`)
    })
    return { ...server, namespaces }
  })

const isMetadata = (value: unknown): boolean =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean" ||
  (Array.isArray(value) && value.every((item) => typeof item === "string"))

const isSparse = ({ indices, values }: Sparse): boolean =>
  values.length >= 1 && values.length <= 1_000 && indices.length === values.length && new Set(indices).size === indices.length &&
  indices.every((index) => Number.isInteger(index) && index >= 0 && index < 2 ** 32) && !values.includes(0)

const sparseDot = (a: Sparse | undefined, b: Sparse | undefined): number => {
  const of = new Map((a?.indices ?? []).map((index, i) => [index, a?.values[i] ?? 0]))
  return (b?.indices ?? []).reduce((sum, index, i) => sum + (of.get(index) ?? 0) * (b?.values[i] ?? 0), 0)
}

const passes = (
  { metadata }: PineconeRecord,
  filter: Record<string, { readonly $eq?: unknown; readonly $in?: ReadonlyArray<unknown> }> | undefined
): boolean =>
  Object.entries(filter ?? {}).every(([name, { $eq, $in }]) => $in === undefined ? metadata[name] === $eq : $in.includes(metadata[name]))

const dot = (a: ReadonlyArray<number>, b: ReadonlyArray<number>): number => a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)
