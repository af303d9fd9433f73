import { Effect } from "effect"
import { fakeServer, sendJson } from "./Http.ts"

interface WeaviateObject {
  readonly id: string
  readonly tenant: string | undefined
  readonly properties: Record<string, unknown>
  /** Absent: nothing finds it by its nearness. */
  readonly vector?: ReadonlyArray<number>
}

interface WeaviateClass {
  readonly config: Record<string, unknown> & { readonly properties: Array<{ readonly name: string; readonly tokenization?: string }> }
  readonly tenants: Set<string>
  readonly objects: Map<string, WeaviateObject>
}

/** A value of a GraphQL argument, enums as their names. */
type Value = string | number | ReadonlyArray<Value> | { readonly [key: string]: Value }
interface Field {
  readonly alias: string
  readonly name: string
  readonly args: { readonly [key: string]: Value }
  readonly fields: ReadonlyArray<Field>
}

/**
 * A Weaviate server: collections with tenants, batches whose objects fail one by one, deletions by filter, `nearVector`,
 * `bm25` and `hybrid` over GraphQL. Its answers are those of a real one (1.40), which `Weaviate.test.ts` holds it against where there is one.
 */
export const fakeWeaviate = (
  options: { readonly key?: () => string; readonly version?: string; readonly mostResults?: number } = {}
) =>
  Effect.gen(function*() {
    const { mostResults = 10_000 } = options
    const classes = new Map<string, WeaviateClass>()
    const server = yield* fakeServer((request, response) => {
      const key = options.key?.()
      if (key !== undefined && request.headers["authorization"] !== `Bearer ${key}`) {
        sendJson(response, 401, {
          error: [{ message: "anonymous access not enabled. Please authenticate through one of the available methods" }]
        })
        return
      }
      const { pathname, searchParams } = request.url
      const body = request.body.length === 0 ? undefined : JSON.parse(request.body.toString())
      const [, , area = "", name = "", part = ""] = pathname.split("/")
      const known = classes.get(name)
      const refuse = (status: number, message: string) => sendJson(response, status, { error: [{ message }] })
      switch (`${request.method} ${area}${part === "" ? "" : `/${part}`}`) {
        case "GET meta":
          return sendJson(response, 200, { version: options.version ?? "1.40.0-fake", hostname: "http://[::]:8080", modules: {} })
        case "POST schema": {
          if (classes.has(body.class)) return refuse(422, `class name ${body.class} already exists`)
          classes.set(body.class, { config: { ...body, properties: body.properties ?? [] }, tenants: new Set(), objects: new Map() })
          return sendJson(response, 200, body)
        }
        case "GET schema":
          return known === undefined ? void response.writeHead(404).end() : sendJson(response, 200, known.config)
        case "POST schema/properties": {
          if (known?.config.properties.some((property) => property.name === body.name) !== false) {
            return refuse(422, `conflict for property "${body.name}"`)
          }
          known.config.properties.push(body)
          return sendJson(response, 200, body)
        }
        case "GET schema/shards":
          return sendJson(response, 200, [{ name: "shard", status: "READY", vectorQueueSize: 0 }])
        case "POST schema/tenants":
          for (const tenant of body) {
            known?.tenants.add(tenant.name)
          }
          return sendJson(response, 200, body)
        case "GET schema/tenants":
          return sendJson(response, 200, [...known?.tenants ?? []].map((tenant) => ({ name: tenant, activityStatus: "HOT" })))
        case "GET objects": {
          const target = classes.get(searchParams.get("class") ?? "")
          const after = searchParams.get("after") ?? ""
          const objects = [...target?.objects.values() ?? []]
            .filter(({ id, tenant }) => id > after && tenant === (searchParams.get("tenant") ?? undefined))
            .sort((a, b) => (a.id < b.id ? -1 : 1))
          return sendJson(response, 200, {
            deprecations: null,
            objects: objects.slice(0, Number(searchParams.get("limit"))),
            totalResults: 0
          })
        }
        case "DELETE schema/tenants":
          for (const tenant of body) {
            known?.tenants.delete(tenant)
            for (const [id, object] of known?.objects ?? []) if (object.tenant === tenant) known?.objects.delete(id)
          }
          return void response.writeHead(200).end("{}")
        case "GET nodes":
          return known === undefined
            ? refuse(404, `class ${name} not found`)
            : sendJson(response, 200, {
              nodes: [{
                name: "node1",
                status: "HEALTHY",
                shards: [{ class: name, vectorQueueLength: 0, objectCount: known.objects.size }]
              }]
            })
        case "POST graphql":
          return sendJson(response, 200, answer(body.query, classes))
      }
      if (area === "batch" && request.method === "POST") {
        return sendJson(
          response,
          200,
          body.objects.map((object: never) => putObject(classes, object))
        )
      }
      if (area === "batch" && request.method === "DELETE") {
        const { class: of, where } = body.match
        const target = classes.get(of)
        if (target === undefined) return refuse(422, `validate: failed to get class: ${of}`)
        const tenant = searchParams.get("tenant") ?? undefined
        if (isMultiTenant(target) && !target.tenants.has(tenant ?? "")) {
          return refuse(422, `batch delete objects: cannot find objects: tenant not found: "${tenant}"`)
        }
        const matches = [...target.objects.values()].filter((object) => object.tenant === tenant && passes(object, where)).slice(
          0,
          mostResults
        )
        const dryRun = body.dryRun === true
        if (!dryRun) { for (const { id, tenant } of matches) target.objects.delete(`${tenant} ${id}`) }
        return sendJson(response, 200, {
          match: body.match,
          output: "minimal",
          dryRun,
          results: { matches: matches.length, limit: mostResults, successful: matches.length, failed: 0, objects: null }
        })
      }
      return refuse(404, `no route ${request.method} ${pathname}`)
    })
    return { ...server, classes }
  })

const isMultiTenant = ({ config }: WeaviateClass): boolean => Reflect.get(Object(config["multiTenancyConfig"]), "enabled") === true

const putObject = (
  classes: Map<string, WeaviateClass>,
  object: {
    readonly class: string
    readonly id: string
    readonly tenant?: string
    readonly properties: Record<string, unknown>
    readonly vector?: ReadonlyArray<number>
  }
) => {
  const target = classes.get(object.class)
  const failed = (message: string) => ({ ...object, result: { status: "FAILED", errors: { error: [{ message }] } } })
  if (target === undefined) return failed(`class "${object.class}" not present in schema`)
  if (isMultiTenant(target) && !target.tenants.has(object.tenant ?? "")) return failed(`tenant not found: "${object.tenant}"`)
  const other = [...target.objects.values()].find(({ vector }) => vector !== undefined)?.vector
  if (other !== undefined && object.vector !== undefined && other.length !== object.vector.length) {
    return failed(`insert to vector index: ${other.length} vs ${object.vector.length}: vector lengths don't match`)
  }
  const { id, properties, tenant, vector } = object
  target.objects.set(`${tenant} ${id}`, { id, tenant, properties, vector })
  return { ...object, result: { status: "SUCCESS" } }
}

const passes = ({ properties }: WeaviateObject, where: { readonly [key: string]: Value } | undefined): boolean => {
  if (where === undefined) return true
  const { operands, operator, path, valueText, valueTextArray } = where
  if (operator === "And" && Array.isArray(operands)) {
    return operands.every((each) => passes({ properties } as WeaviateObject, each as never))
  }
  const value = properties[Array.isArray(path) ? String(path[0]) : ""]
  const wanted = valueTextArray ?? valueText
  if (operator === "NotEqual") return value !== wanted
  return operator === "Equal" ? value === wanted : Array.isArray(wanted) && wanted.includes(value as never)
}

/** What the server answers a query of the forms that we send. */
const answer = (text: string, classes: Map<string, WeaviateClass>) => {
  const [root] = parse(text)
  if (root === undefined) return { errors: [{ message: "Syntax Error" }] }
  const found: Record<string, unknown> = {}
  for (const field of root.fields) {
    const target = classes.get(field.name)
    if (target === undefined) return { errors: [{ message: `Cannot query field "${field.name}" on type "${root.name}ObjectsObj".` }] }
    const tenant = field.args["tenant"]
    if (isMultiTenant(target) && !target.tenants.has(String(tenant))) {
      return {
        data: { [root.name]: { [field.alias]: null } },
        errors: [{ message: `explorer: list class: search: tenant not found: "${String(tenant)}"` }]
      }
    }
    const objects = [...target.objects.values()].filter((object) =>
      object.tenant === tenant && passes(object, field.args["where"] as never)
    )
    const rows = root.name === "Aggregate" ? counted(objects, field) : ranked(objects, field)
    if (rows === undefined) {
      return {
        data: { [root.name]: { [field.alias]: null } },
        errors: [{ message: "vector search: knn search: distance between entrypoint and query node: vector lengths don't match" }]
      }
    }
    found[field.alias] = rows
  }
  return { data: { [root.name]: found } }
}

const counted = (objects: ReadonlyArray<WeaviateObject>, { args }: Field): ReadonlyArray<unknown> => {
  const [by] = (args["groupBy"] ?? []) as ReadonlyArray<string>
  if (by === undefined) return [{ meta: { count: objects.length } }]
  return [...Map.groupBy(objects, ({ properties }) => properties[by] ?? null)].map(([value, all]) => ({
    meta: { count: all.length },
    groupedBy: { value }
  }))
}

/** Objects that an arm of a search found, best first. */
type Ranked = ReadonlyArray<{ readonly object: WeaviateObject; readonly score: number }>

const nearest = (objects: ReadonlyArray<WeaviateObject>, near: ReadonlyArray<number>): Ranked =>
  objects.filter(({ vector }) => vector !== undefined)
    .map((object) => ({ object, score: cosine(object.vector ?? [], near) }))
    .sort((a, b) => b.score - a.score)

const byWords = (objects: ReadonlyArray<WeaviateObject>, words: string, property: string): Ranked => {
  const termsOf = (object: WeaviateObject) => String(object.properties[property] ?? "").split(/\s+/)
  const asked = [...new Set(words.split(/\s+/))].map((word) => {
    const n = objects.filter((object) => termsOf(object).includes(word)).length
    return { word, idf: Math.log(1 + (objects.length - n + 0.5) / (n + 0.5)) }
  })
  return objects
    .map((object) => {
      const times = (word: string) => termsOf(object).filter((term) => term === word).length
      return { object, score: asked.reduce((sum, { idf, word }) => sum + (idf * times(word)) / (times(word) + 1.2), 0) }
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
}

/** As the server mixes by `relativeScoreFusion`: each arm's scores between its best and its worst, by its weight. */
const mixed = (dense: Ranked, sparse: Ranked, alpha: number): Ranked => {
  const scores = new Map<WeaviateObject, number>()
  for (const [arm, weight] of [[dense, alpha], [sparse, 1 - alpha]] as const) {
    const best = arm[0]?.score ?? 0
    const worst = arm.at(-1)?.score ?? 0
    for (const { object, score } of arm) {
      scores.set(object, (scores.get(object) ?? 0) + weight * (best === worst ? 1 : (score - worst) / (best - worst)))
    }
  }
  return [...scores].map(([object, score]) => ({ object, score })).sort((a, b) => b.score - a.score)
}

const ranked = (objects: ReadonlyArray<WeaviateObject>, { args, fields }: Field): ReadonlyArray<unknown> | undefined => {
  const of = (argument: string, field: string): unknown => Reflect.get(Object(args[argument]), field)
  const near = (of("nearVector", "vector") ?? of("hybrid", "vector")) as ReadonlyArray<number> | undefined
  if (near !== undefined && objects.some(({ vector }) => vector !== undefined && vector.length !== near.length)) return undefined
  const argument = args["hybrid"] === undefined ? "bm25" : "hybrid"
  const words = of(argument, "query") as string | undefined
  const sparse = words === undefined ? [] : byWords(objects, words, String((of(argument, "properties") as ReadonlyArray<string>)[0]))
  const first = Number(args["offset"] ?? 0)
  const found: Ranked = args["hybrid"] !== undefined
    ? mixed(nearest(objects, near ?? []), sparse, Number(of("hybrid", "alpha")))
    : near !== undefined
    ? nearest(objects, near)
    : words !== undefined
    ? sparse
    : objects.map((object) => ({ object, score: 0 }))
  return found
    .slice(first, first + Number(args["limit"]))
    .map(({ object, score }) =>
      Object.fromEntries(fields.map(({ name }) => [
        name,
        name === "_additional"
          ? {
            distance: near === undefined || words !== undefined ? null : 1 - score,
            score: words === undefined ? null : String(score),
            vector: object.vector ?? []
          }
          : object.properties[name] ?? null
      ]))
    )
}

const cosine = (a: ReadonlyArray<number>, b: ReadonlyArray<number>): number => {
  const dot = (x: ReadonlyArray<number>, y: ReadonlyArray<number>) => x.reduce((sum, value, i) => sum + value * (y[i] ?? 0), 0)
  return dot(a, b) / (Math.sqrt(dot(a, a) * dot(b, b)) || 1)
}

/** Selections of a GraphQL query: names, aliases, arguments, selections within. */
const parse = (text: string): ReadonlyArray<Field> => {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:e[-+]?\d+)?|[A-Za-z_]\w*|[{}()[\]:,]/g) ?? []
  let at = 0
  const take = (token: string): boolean => tokens[at] === token && ++at > 0
  const value = (): Value => {
    if (take("[")) {
      const items: Array<Value> = []
      while (!take("]")) {
        items.push(value())
        take(",")
      }
      return items
    }
    if (take("{")) return args("}")
    const token = tokens[at++] ?? ""
    return token.startsWith("\"") ? JSON.parse(token) as string : /^[-\d]/.test(token) ? Number(token) : token
  }
  const args = (end: string): { readonly [key: string]: Value } => {
    const found: Record<string, Value> = {}
    while (!take(end)) {
      const key = tokens[at++] ?? ""
      take(":")
      found[key] = value()
      take(",")
    }
    return found
  }
  const selection = (): ReadonlyArray<Field> => {
    const fields: Array<Field> = []
    if (!take("{")) return fields
    while (!take("}")) {
      const first = tokens[at++] ?? ""
      const name = take(":") ? tokens[at++] ?? "" : first
      fields.push({ alias: first, name, args: take("(") ? args(")") : {}, fields: selection() })
    }
    return fields
  }
  return selection()
}
