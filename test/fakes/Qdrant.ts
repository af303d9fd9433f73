import { Effect } from "effect"
import { fakeServer, sendJson } from "./Http.ts"

interface Sparse {
  readonly indices: ReadonlyArray<number>
  readonly values: ReadonlyArray<number>
}

interface QdrantPoint {
  readonly id: string
  readonly vector: { readonly [name: string]: ReadonlyArray<number> | Sparse }
  readonly payload: Record<string, unknown>
}

interface QdrantCollection {
  readonly config: {
    readonly vectors: { readonly [name: string]: { readonly size: number; readonly distance: string } }
    readonly sparse_vectors?: { readonly [name: string]: { readonly modifier?: string } }
  }
  readonly points: Map<string, QdrantPoint>
  readonly indexed: Map<string, unknown>
}

interface Filter {
  readonly must?: ReadonlyArray<
    { readonly key: string; readonly match: { readonly value?: unknown; readonly any?: ReadonlyArray<unknown> } }
  >
}

/**
 * A Qdrant server: collections with named dense and sparse vectors, filters, batched queries. As in the strict mode of
 * Qdrant's cloud, a filter is refused by a property without an index.
 */
export const fakeQdrant = (options: { readonly key?: string; readonly version?: string } = {}) =>
  Effect.gen(function*() {
    const collections = new Map<string, QdrantCollection>()
    /** How updates end: `wait_timeout` where the server stops waiting for them. */
    const updates = { status: "completed" }
    const server = yield* fakeServer((request, response) => {
      const answer = (result: unknown) => sendJson(response, 200, { result, status: "ok", time: 0.001 })
      const refuse = (status: number, error: string) => sendJson(response, status, { status: { error }, time: 0.001 })
      if (options.key !== undefined && request.headers["api-key"] !== options.key) {
        return refuse(401, "Must provide an API key or an Authorization bearer token")
      }
      if (request.url.pathname === "/") {
        return sendJson(response, 200, { title: "qdrant - vector search engine", version: options.version ?? "1.16.0" })
      }
      const [, , name = "", ...rest] = request.url.pathname.split("/").map(decodeURIComponent)
      const body = request.body.length === 0 ? {} : JSON.parse(request.body.toString())
      const known = collections.get(name)
      if (request.method === "PUT" && rest.length === 0) {
        if (known !== undefined) return refuse(409, `Wrong input: Collection \`${name}\` already exists!`)
        collections.set(name, { config: body, points: new Map(), indexed: new Map() })
        return answer(true)
      }
      if (known === undefined) return refuse(404, `Not found: Collection \`${name}\` doesn't exist!`)
      const unindexed = [body, ...body.searches ?? []]
        .flatMap(({ filter }: { readonly filter?: Filter }) => filter?.must ?? []).find(({ key }) => !known.indexed.has(key))
      if (unindexed !== undefined) {
        return refuse(400, `Bad request: Index required but not found for "${unindexed.key}" of one of the following types: [keyword]`)
      }
      const matching = (filter?: Filter) => [...known.points.values()].filter((point) => passes(point, filter))
      switch (`${request.method} ${rest.join("/")}`) {
        case "GET ":
          return answer({
            status: "green",
            points_count: known.points.size,
            config: { params: { vectors: known.config.vectors, sparse_vectors: known.config.sparse_vectors } },
            payload_schema: Object.fromEntries([...known.indexed.keys()].map((field) => [field, { data_type: "keyword", points: 0 }]))
          })
        case "PUT index":
          known.indexed.set(body.field_name, body.field_schema)
          return answer({ operation_id: 1, status: updates.status })
        case "PUT points":
          for (const point of body.points) {
            for (const [vector, { size }] of Object.entries(known.config.vectors)) {
              // A point may lack a vector, and a search by that does not find it.
              if (point.vector[vector] !== undefined && point.vector[vector].length !== size) {
                return refuse(400, `Wrong input: Vector dimension error: expected dim: ${size}, got ${point.vector[vector]?.length}`)
              }
            }
            if (!/^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/.test(point.id)) {
              return refuse(400, `Format error in JSON body: ${point.id} is not a valid point ID`)
            }
            known.points.set(point.id, point)
          }
          return answer({ operation_id: 1, status: updates.status })
        case "POST points/delete":
          for (const { id } of body.points === undefined ? matching(body.filter) : body.points.map((id: string) => ({ id }))) {
            known.points.delete(id)
          }
          return answer({ operation_id: 1, status: updates.status })
        case "POST points/count":
          return answer({ count: matching(body.filter).length })
        case "POST points/scroll":
          return answer(scrolled(matching(body.filter), body))
        case "POST points/query/batch":
          return answer(body.searches.map((search: Search) => ({ points: searched(known, matching(search.filter), search) })))
        case "POST points/query":
          return answer({ points: searched(known, matching(body.filter), body) })
      }
      return refuse(404, `no route ${request.url.pathname}`)
    })
    return { ...server, collections, updates }
  })

const scrolled = (
  points: ReadonlyArray<QdrantPoint>,
  { limit = 10, offset = "", with_payload, with_vector = false }: {
    readonly limit?: number
    readonly offset?: string
    readonly with_payload: true | ReadonlyArray<string>
    readonly with_vector?: false | ReadonlyArray<string>
  }
) => {
  const rest = points.filter(({ id }) => id >= offset).toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const only = (of: object, names: ReadonlyArray<string>) => Object.fromEntries(Object.entries(of).filter(([name]) => names.includes(name)))
  return {
    points: rest.slice(0, limit).map(({ id, payload, vector }) => ({
      id,
      payload: with_payload === true ? payload : only(payload, with_payload),
      ...(with_vector === false ? {} : { vector: only(vector, with_vector) })
    })),
    next_page_offset: rest[limit]?.id ?? null
  }
}

interface Search {
  readonly query: ReadonlyArray<number> | Sparse
  readonly using: string
  readonly filter?: Filter
  readonly limit: number
}

const searched = (collection: QdrantCollection, points: ReadonlyArray<QdrantPoint>, { limit, query, using }: Search) => {
  const sparse = (point: QdrantPoint): Sparse => (point.vector[using] ?? { indices: [], values: [] }) as Sparse
  const all = [...collection.points.values()]
  const idf = (index: number): number => {
    const n = all.filter((point) => sparse(point).indices.includes(index)).length
    return Math.log(1 + (all.length - n + 0.5) / (n + 0.5))
  }
  const scoreOf = (point: QdrantPoint): number =>
    "indices" in query
      ? query.indices.reduce((sum, index, i) => {
        const at = sparse(point).indices.indexOf(index)
        return at < 0 ? sum : sum + (query.values[i] ?? 0) * idf(index) * (sparse(point).values[at] ?? 0)
      }, 0)
      : cosine(point.vector[using] as ReadonlyArray<number>, query)
  return points
    .filter(({ vector }) => vector[using] !== undefined)
    .map(({ id, payload, vector }) => ({ id, version: 1, score: scoreOf({ id, payload, vector }), payload }))
    .filter(({ score }) => !("indices" in query) || score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
}

const passes = ({ payload }: QdrantPoint, filter: Filter | undefined): boolean =>
  (filter?.must ?? []).every(({ key, match }) => match.any === undefined ? payload[key] === match.value : match.any.includes(payload[key]))

const cosine = (a: ReadonlyArray<number>, b: ReadonlyArray<number>): number => {
  const dot = (x: ReadonlyArray<number>, y: ReadonlyArray<number>) => x.reduce((sum, value, i) => sum + value * (y[i] ?? 0), 0)
  return dot(a, b) / (Math.sqrt(dot(a, a) * dot(b, b)) || 1)
}
