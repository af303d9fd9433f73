import { Effect } from "effect"
import type protobuf from "protobufjs"
import { lookupMethod } from "../wire/protos/Load.ts"
import { validate } from "../wire/protos/Validate.ts"
import { fakeServer, sendGoogleError, sendJson } from "./Http.ts"

interface Restriction {
  readonly namespace: string
  readonly allowList?: ReadonlyArray<string>
}
interface Datapoint {
  readonly datapointId: string
  readonly featureVector: ReadonlyArray<number>
  readonly sparseEmbedding?: { readonly values: ReadonlyArray<number>; readonly dimensions: ReadonlyArray<string> }
  readonly restricts?: ReadonlyArray<Restriction>
  readonly crowdingTag?: { readonly crowdingAttribute: string }
  readonly embeddingMetadata?: Readonly<Record<string, unknown>>
}
interface Query {
  readonly datapoint: Datapoint
  readonly neighborCount: number
  readonly perCrowdingAttributeNeighborCount?: number
  readonly rrf?: { readonly alpha: number }
}

export interface FakeVectorSearchOptions {
  readonly dimensions: number
  readonly distance?: string
  readonly method?: string
  /** Queries after a change that do not see it yet. Default 2. */
  readonly lag?: number
  readonly deployed?: boolean
  readonly domain?: string
}

export const vectorSearchNames = {
  index: "projects/acme/locations/us-central1/indexes/17",
  indexEndpoint: "projects/acme/locations/us-central1/indexEndpoints/23"
}

/**
 * Vertex AI Vector Search: an index of streamed updates, deployed. Both of its services are on one port. Every body that
 * comes and goes is held to the service's own protos; what was changed is found only some queries later.
 */
export const fakeVectorSearch = (
  {
    deployed = true,
    dimensions,
    distance = "DOT_PRODUCT_DISTANCE",
    domain = "23.us-central1.vdb.vertexai.goog",
    lag = 2,
    method = "STREAM_UPDATE"
  }: FakeVectorSearchOptions
) =>
  Effect.gen(function*() {
    const datapoints = new Map<string, Datapoint>()
    let shown: ReadonlyMap<string, Datapoint> = new Map()
    let behind = 0
    const server = yield* fakeServer((request, response) => {
      const { pathname } = request.url
      const [, resource = "", action = ""] = /^\/v1\/([^:]+)(?::(\w+))?$/.exec(pathname) ?? []
      const rpc = methods[action === "" ? resource.split("/").at(-2) ?? "" : action]
      if (rpc === undefined) return sendGoogleError(response, 404, `no route ${pathname}`, { status: "NOT_FOUND" })
      const called = lookupMethod("v1", rpc)
      called?.resolve()
      const body = request.body.length === 0 ? {} : JSON.parse(request.body.toString())
      const problems = request.body.length === 0
        ? []
        : validate(called?.resolvedRequestType as protobuf.Type, body, {
          version: "v1",
          request: { inPath: ["index", "indexEndpoint", "name"], partial: false }
        })
      if (problems.length > 0) return sendGoogleError(response, 400, problems.join("; "), { status: "INVALID_ARGUMENT" })
      const answer = (json: object) => {
        const wrong = validate(called?.resolvedResponseType as protobuf.Type, json, { version: "v1" })
        if (wrong.length > 0) throw new Error(`the fake answers otherwise than the service: ${wrong.join("; ")}`)
        sendJson(response, 200, json)
      }
      const known = resource === vectorSearchNames.index || resource === vectorSearchNames.indexEndpoint
      if (!known) return sendGoogleError(response, 404, `${resource} is not found`, { status: "NOT_FOUND" })
      const changed = () => void (behind = lag)
      switch (rpc) {
        case "IndexService.GetIndex":
          return answer({
            name: resource,
            displayName: "docs",
            metadata: { config: { dimensions, distanceMeasureType: distance, algorithmConfig: { treeAhConfig: {} } } },
            indexUpdateMethod: method,
            indexStats: { vectorsCount: String(datapoints.size || 1), shardsCount: 1 }
          })
        case "IndexEndpointService.GetIndexEndpoint":
          return answer({
            name: resource,
            displayName: "endpoint",
            ...(domain === "" ? {} : { publicEndpointEnabled: true, publicEndpointDomainName: domain }),
            ...(deployed ? { deployedIndexes: [{ id: "docs_1", index: vectorSearchNames.index }] } : {})
          })
        case "IndexService.UpsertDatapoints":
          for (const datapoint of body.datapoints as ReadonlyArray<Datapoint>) {
            if (datapoint.featureVector.length !== dimensions) {
              return sendGoogleError(response, 400, `dimension mismatch: ${datapoint.featureVector.length}`, { status: "INVALID_ARGUMENT" })
            }
            datapoints.set(datapoint.datapointId, datapoint)
          }
          changed()
          return answer({})
        case "IndexService.RemoveDatapoints":
          for (const id of body.datapointIds) datapoints.delete(id)
          changed()
          return answer({})
      }
      if (body.deployedIndexId !== "docs_1") return sendGoogleError(response, 404, "no such deployed index", { status: "NOT_FOUND" })
      if (behind > 0) behind--
      else shown = new Map(datapoints)
      if (rpc === "MatchService.ReadIndexDatapoints") {
        if (body.ids.length > 1_000) return sendGoogleError(response, 400, "at most 1000 ids", { status: "INVALID_ARGUMENT" })
        const found = (body.ids as ReadonlyArray<string>).flatMap((id) => shown.get(id) ?? [])
        return answer(found.length === 0 ? {} : { datapoints: found })
      }
      answer({
        nearestNeighbors: (body.queries as ReadonlyArray<Query>).map((query) => {
          const neighbors = ranked([...shown.values()], query, distance === "COSINE_DISTANCE").map(({ datapoint, ...distances }) => ({
            ...Object.fromEntries(Object.entries(distances).filter(([, value]) => value !== 0 && value !== undefined)),
            datapoint: body.returnFullDatapoint === true
              ? datapoint
              : {
                datapointId: datapoint.datapointId,
                ...(datapoint.crowdingTag === undefined ? {} : { crowdingTag: datapoint.crowdingTag })
              }
          }))
          return { id: query.datapoint.datapointId, ...(neighbors.length === 0 ? {} : { neighbors }) }
        })
      })
    })
    return { ...server, datapoints }
  })

const methods: Readonly<Record<string, string>> = {
  indexes: "IndexService.GetIndex",
  indexEndpoints: "IndexEndpointService.GetIndexEndpoint",
  upsertDatapoints: "IndexService.UpsertDatapoints",
  removeDatapoints: "IndexService.RemoveDatapoints",
  findNeighbors: "MatchService.FindNeighbors",
  readIndexDatapoints: "MatchService.ReadIndexDatapoints"
}

interface Ranked {
  readonly datapoint: Datapoint
  readonly distance?: number
  readonly sparseDistance?: number
}

const ranked = (all: ReadonlyArray<Datapoint>, query: Query, cosine: boolean): ReadonlyArray<Ranked> => {
  const { datapoint, neighborCount, perCrowdingAttributeNeighborCount: each = Infinity, rrf } = query
  const passing = all.filter(({ restricts = [] }) =>
    (datapoint.restricts ?? []).every(({ allowList, namespace }) =>
      restricts.some((own) => own.namespace === namespace && own.allowList?.some((value) => allowList?.includes(value)))
    )
  )
  const dense = passing
    .map((other): Ranked => {
      const product = dot(other.featureVector, datapoint.featureVector)
      return { datapoint: other, distance: cosine ? 1 - product : product }
    })
    .sort((a, b) => (cosine ? 1 : -1) * ((a.distance ?? 0) - (b.distance ?? 0)))
  const asked = new Map((datapoint.sparseEmbedding?.dimensions ?? []).map((at, i) => [at, datapoint.sparseEmbedding?.values[i] ?? 0]))
  const sparse = passing
    .map((other): Ranked => ({
      datapoint: other,
      sparseDistance: (other.sparseEmbedding?.dimensions ?? []).reduce(
        (sum, at, i) => sum + (asked.get(at) ?? 0) * (other.sparseEmbedding?.values[i] ?? 0),
        0
      )
    }))
    .filter(({ sparseDistance = 0 }) => sparseDistance > 0)
    .sort((a, b) => (b.sparseDistance ?? 0) - (a.sparseDistance ?? 0))
  const found = rrf === undefined ? dense : fused(dense, sparse, rrf.alpha)
  const crowd = new Map<string, number>()
  return found.filter(({ datapoint: { crowdingTag } }) => {
    if (crowdingTag === undefined) return true
    const before = crowd.get(crowdingTag.crowdingAttribute) ?? 0
    crowd.set(crowdingTag.crowdingAttribute, before + 1)
    return before < each
  }).slice(0, neighborCount)
}

/** Reciprocal ranks, weighed; an arm of no weight brings nothing. */
const fused = (dense: ReadonlyArray<Ranked>, sparse: ReadonlyArray<Ranked>, alpha: number): ReadonlyArray<Ranked> => {
  const found = new Map<Datapoint, Ranked & { readonly score: number }>()
  for (const [arm, weight] of [[dense, alpha], [sparse, 1 - alpha]] as const) {
    if (weight === 0) continue
    arm.forEach((ranked, at) => {
      const before = found.get(ranked.datapoint)
      found.set(ranked.datapoint, { ...before, ...ranked, score: (before?.score ?? 0) + weight / (60 + at) })
    })
  }
  return [...found.values()].sort((a, b) => b.score - a.score).map(({ score: _, ...ranked }) => ranked)
}

const dot = (a: ReadonlyArray<number>, b: ReadonlyArray<number>): number => a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)
