import { Effect } from "effect"
import { readFileSync } from "node:fs"
import protobuf from "protobufjs"
import { validate } from "../wire/protos/Validate.ts"
import { fakeServer, sendGoogleError, sendJson } from "./Http.ts"

const root = protobuf.Root.fromJSON(JSON.parse(readFileSync(new URL("protos/discoveryengine.json", import.meta.url), "utf8")))
const service = "google.cloud.discoveryengine.v1beta"

type StructData = Readonly<Record<string, unknown>>
interface Property {
  readonly type?: string
  readonly indexable?: boolean
  readonly searchable?: boolean
  readonly retrievable?: boolean
  readonly keyPropertyMapping?: string
  readonly dimension?: number
  readonly items?: { readonly retrievable?: boolean }
}

export interface FakeDiscoveryEngineOptions {
  /** Searches after a change that do not see it yet. Default 2. */
  readonly lag?: number
  readonly contentConfig?: string
  /** Of the engine. Default one. */
  readonly dataStores?: ReadonlyArray<string>
}

const collection = "projects/acme/locations/global/collections/default_collection"
export const discoveryEngineNames = {
  dataStore: `${collection}/dataStores/docs`,
  servingConfig: `${collection}/dataStores/docs/servingConfigs/default_search`,
  engineServingConfig: `${collection}/engines/app/servingConfigs/default_search`
}

/**
 * A data store of Discovery Engine for structured documents, and an engine over it. Every body that comes and goes is held
 * to the service's own protos; imports and schemas are operations, and what was changed is found only some searches later.
 * A filter is over indexable properties only, words over searchable ones, and results show retrievable ones.
 */
export const fakeDiscoveryEngine = (
  { contentConfig = "NO_CONTENT", dataStores = ["docs"], lag = 2 }: FakeDiscoveryEngineOptions = {}
) =>
  Effect.gen(function*() {
    const documents = new Map<string, StructData>()
    let shown: ReadonlyMap<string, StructData> = new Map()
    let behind = 0
    let properties: Readonly<Record<string, Property>> = {}
    let schema: object | undefined
    const operations = new Map<string, object>()
    const server = yield* fakeServer((request, response) => {
      const { pathname, searchParams } = request.url
      const [, resource = "", action = ""] = /^\/v1beta\/([^:]+)(?::(\w+))?$/.exec(pathname) ?? []
      const refuse = (status: number, code: string, message: string) => sendGoogleError(response, status, message, { status: code })
      const [kind = "", id = ""] = resource.split("/").slice(-2)
      const rpc = rpcOf(request.method, action, resource)
      if (rpc === undefined) return refuse(404, "NOT_FOUND", `no route ${request.method} ${pathname}`)
      const body = request.body.length === 0 ? {} : JSON.parse(request.body.toString())
      const send = (type: string, json: object) => {
        const wrong = validate(root.lookupType(type), json, { version: "v1beta1", lookup: (name) => root.lookup(name) })
        if (wrong.length > 0) throw new Error(`the fake answers otherwise than the service: ${wrong.join("; ")}`)
        sendJson(response, 200, json)
      }
      if (rpc === "operation") {
        const found = operations.get(resource)
        return found === undefined ? refuse(404, "NOT_FOUND", `no operation ${resource}`) : send("google.longrunning.Operation", found)
      }
      const [requestType = "", responseType = ""] = typesOf(rpc)
      const [bodyType, inPath] = rpc === "SchemaService.UpdateSchema"
        ? [`${service}.Schema`, []]
        : [requestType, ["parent", "servingConfig"]]
      const problems = request.body.length === 0
        ? []
        : validate(root.lookupType(bodyType), body, { version: "v1beta1", request: { inPath, partial: false } })
      if (problems.length > 0) return refuse(400, "INVALID_ARGUMENT", problems.join("; "))
      const answer = (json: object) => send(responseType, json)
      const begin = (what: string, metadata: string, done: object) => {
        const name = `${discoveryEngineNames.dataStore}/operations/${what}-${operations.size + 1}`
        operations.set(name, { name, done: true, metadata: { "@type": `type.googleapis.com/${metadata}` }, response: done })
        answer({ name })
      }
      const changed = () => void (behind = lag)
      if (rpc === "EngineService.GetEngine") {
        return id === "app" ? answer({ name: resource, dataStoreIds: dataStores }) : refuse(404, "NOT_FOUND", `engine ${id}`)
      }
      if (kind !== "servingConfigs" && !`${resource}/`.startsWith(`${discoveryEngineNames.dataStore}/`)) {
        return refuse(404, "NOT_FOUND", resource)
      }
      switch (rpc) {
        case "DataStoreService.GetDataStore":
          return answer({
            name: resource,
            displayName: "docs",
            industryVertical: "GENERIC",
            contentConfig,
            defaultSchemaId: "default_schema"
          })
        case "SchemaService.GetSchema":
          return schema === undefined ? refuse(404, "NOT_FOUND", "no schema") : answer({ name: resource, structSchema: schema })
        case "SchemaService.UpdateSchema":
          schema = body.structSchema
          properties = body.structSchema.properties
          return begin("update-schema", `${service}.UpdateSchemaMetadata`, {
            "@type": `type.googleapis.com/${service}.Schema`,
            name: resource
          })
        case "DocumentService.GetDocument": {
          const found = documents.get(id)
          return found === undefined ? refuse(404, "NOT_FOUND", `document ${id}`) : answer({ name: resource, id, structData: found })
        }
        case "DocumentService.DeleteDocument":
          if (!documents.delete(id)) {
            return refuse(404, "NOT_FOUND", `document ${id}`)
          }
          changed()
          return answer({})
        case "DocumentService.ListDocuments": {
          const from = Number(searchParams.get("pageToken") ?? 0)
          const to = from + Math.min(1_000, Number(searchParams.get("pageSize")))
          const page = [...documents].slice(from, to).map(([id, structData]) => ({ id, structData }))
          return answer({
            ...(page.length === 0 ? {} : { documents: page }),
            ...(to < documents.size ? { nextPageToken: String(to) } : {})
          })
        }
        case "DocumentService.ImportDocuments": {
          const { documents: given } = body.inlineSource as {
            readonly documents: ReadonlyArray<{ readonly id: string; readonly structData: StructData }>
          }
          if (given.length > 100) return refuse(400, "INVALID_ARGUMENT", "at most 100 documents")
          const isWrong = ({ structData }: { readonly structData: StructData }) =>
            Array.isArray(structData["chunkVector"]) && structData["chunkVector"].length !== properties["chunkVector"]?.dimension
          for (const { id, structData } of given.filter((document) => !isWrong(document))) documents.set(id, structData)
          changed()
          const errorSamples = given.filter(isWrong).map(() => ({ code: 3, message: "embedding of another dimension" }))
          return begin("import-documents", `${service}.ImportDocumentsMetadata`, {
            "@type": `type.googleapis.com/${service}.ImportDocumentsResponse`,
            ...(errorSamples.length === 0 ? {} : { errorSamples })
          })
        }
      }
      if (behind > 0) behind--
      else shown = new Map(documents)
      const conditions = conditionsOf(body.filter ?? "")
      const strange = conditions?.find(({ name }) => properties[name]?.indexable !== true)
      if (conditions === undefined || strange !== undefined) {
        return refuse(400, "INVALID_ARGUMENT", `unsupported filter: ${strange?.name ?? body.filter}`)
      }
      const passing = [...shown].filter(([, data]) => conditions.every(({ name, values }) => values.has(String(data[name]))))
      const found = ranked(passing, body, properties)
      if (typeof found === "string") return refuse(400, "INVALID_ARGUMENT", found)
      const from = Number(body.pageToken ?? body.offset ?? 0)
      const to = from + Math.min(100, body.pageSize ?? 10)
      const results = found.slice(from, to).map(({ data, id, keywords }) => ({
        id,
        document: { name: `${discoveryEngineNames.dataStore}/branches/0/documents/${id}`, id, structData: retrievable(data, properties) },
        ...(keywords === undefined ? {} : { rankSignals: { keywordSimilarityScore: keywords } })
      }))
      answer({
        ...(results.length === 0 ? {} : { results }),
        ...(found.length === 0 ? {} : { totalSize: found.length }),
        ...(to < found.length ? { nextPageToken: String(to) } : {})
      })
    })
    return { ...server, documents }
  })

const rpcOf = (method: string, action: string, resource: string): string | undefined => {
  const [kind = ""] = resource.split("/").slice(-2)
  switch (`${method} ${action}`) {
    case "POST search":
      return "SearchService.Search"
    case "POST import":
      return "DocumentService.ImportDocuments"
    case "PATCH ":
      return kind === "schemas" ? "SchemaService.UpdateSchema" : undefined
    case "DELETE ":
      return kind === "documents" ? "DocumentService.DeleteDocument" : undefined
    case "GET ":
      return resource.endsWith("/documents") ? "DocumentService.ListDocuments" : reads[kind]
  }
}
const reads: Readonly<Record<string, string>> = {
  documents: "DocumentService.GetDocument",
  schemas: "SchemaService.GetSchema",
  dataStores: "DataStoreService.GetDataStore",
  engines: "EngineService.GetEngine",
  operations: "operation"
}

const typesOf = (rpc: string): ReadonlyArray<string> => {
  const [name = "", method = ""] = rpc.split(".")
  const { requestType = "", responseType = "" } = root.lookupService(`${service}.${name}`).methods[method] ?? {}
  return [requestType, responseType]
}

/** `name: ANY("a", "b") AND …`; undefined where it is not that. */
const conditionsOf = (filter: string) => {
  const condition = /(\w+): ANY\(("(?:[^"\\]|\\.)*"(?:, "(?:[^"\\]|\\.)*")*)\)/g
  const found = [...filter.matchAll(condition)].map(([, name = "", values = ""]) => ({
    name,
    values: new Set(JSON.parse(`[${values}]`) as ReadonlyArray<string>)
  }))
  return /^(?: AND )*$/.test(filter.replace(condition, "")) ? found : undefined
}

interface Ranked {
  readonly id: string
  readonly data: StructData
  readonly keywords?: number
}

/** In the order that is asked for, or what is wrong. The service finds by meaning too: some are there that no word is in. */
const ranked = (
  passing: ReadonlyArray<readonly [string, StructData]>,
  body: {
    readonly query?: string
    readonly rankingExpression?: string
    readonly rankingExpressionBackend?: string
    readonly embeddingSpec?: {
      readonly embeddingVectors: ReadonlyArray<{ readonly fieldPath: string; readonly vector: ReadonlyArray<number> }>
    }
  },
  properties: Readonly<Record<string, Property>>
): ReadonlyArray<Ranked> | string => {
  const all = passing.map(([id, data]): Ranked => ({ id, data }))
  const [embedding] = body.embeddingSpec?.embeddingVectors ?? []
  if (embedding !== undefined) {
    const { fieldPath, vector } = embedding
    const property = properties[fieldPath]
    if (property?.keyPropertyMapping !== "embedding_vector") return `${fieldPath} is no embedding`
    if (property.dimension !== vector.length) return `${fieldPath} has ${property.dimension} dimensions`
    if (body.rankingExpression !== `1.0 * dotProduct(${fieldPath})`) return "unknown ranking expression"
    const product = ({ data }: Ranked) => (data[fieldPath] as ReadonlyArray<number>).reduce((sum, value, i) => sum + value * vector[i]!, 0)
    return all.filter(({ data }) => data[fieldPath] !== undefined).toSorted((a, b) => product(b) - product(a))
  }
  if (body.query === undefined) return all
  if (body.rankingExpressionBackend !== "RANK_BY_FORMULA" || body.rankingExpression !== "fill_nan(keyword_similarity_score, 0)") {
    return "unknown ranking expression"
  }
  const searched = Object.keys(properties).filter((name) => properties[name]?.searchable === true)
  const wordsOf = (data: StructData) => searched.flatMap((name) => String(data[name] ?? "").split(" "))
  const asked = [...new Set(body.query.split(" "))]
  const rarity = new Map(asked.map((word) => {
    const having = all.filter(({ data }) => wordsOf(data).includes(word)).length
    return [word, Math.log(1 + (all.length - having + 0.5) / (having + 0.5))]
  }))
  const scored = all.map((document): Ranked => {
    const words = wordsOf(document.data)
    const score = asked.reduce((sum, word) => {
      const times = words.filter((other) => other === word).length
      return sum + rarity.get(word)! * times / (times + 1)
    }, 0)
    return score === 0 ? document : { ...document, keywords: score }
  })
  const said = scored.filter(({ keywords }) => keywords !== undefined).toSorted((a, b) => b.keywords! - a.keywords!)
  return [...said, ...scored.filter(({ keywords }) => keywords === undefined).slice(0, 2)]
}

const retrievable = (data: StructData, properties: Readonly<Record<string, Property>>): StructData =>
  Object.fromEntries(
    Object.entries(data).filter(([name]) => (properties[name]?.items ?? properties[name])?.retrievable === true)
  )
