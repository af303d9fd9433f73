import { Result } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { CorpusName } from "../../src/domain/Corpus.ts"
import type { ServiceError } from "../../src/domain/Errors.ts"
import { type AnyMessage, type Field, fullName, type Kind } from "../../src/wire/Message.ts"
import { uploadRequestFromWire } from "../../src/wire/rag/Files.ts"
import { importRequestFromWire } from "../../src/wire/rag/Imports.ts"
import { ragRoutes } from "../../src/wire/routes/Rag.ts"
import { behaviorsOf } from "../wire/protos/Load.ts"
import { leave, parent, startServer, type TestServer, travel } from "./support/TestServer.ts"

/**
 * Every field of every request about corpora, files and contexts, as the tables have them, which a test of `wire` holds to
 * the real protos. Each is sent by itself beside a request that is well without it: then the answer is another one, tells the
 * value back, or refuses the field by its name. What does none of the three is accepted and ignored, and fails here, unless
 * `others` says what else holds it. A field that a new proto brings is in no list, and so has to be decided.
 */
type RouteKey = keyof typeof ragRoutes

interface Leaf {
  readonly route: RouteKey
  readonly in: "body" | "query"
  readonly path: ReadonlyArray<Step>
  readonly kind: Kind
}

interface Step {
  readonly key: string
  readonly field: Field
  readonly of: AnyMessage
}

/** Messages that are looked into elsewhere, or that hold themselves. */
const whole = new Set(["Content", "FunctionDeclaration", "OpenApiSchema", "RagMetadataSchemaDetails.ListConfig", "MetadataList"])

const plain = (kind: Kind): Kind => kind.kind === "list" || kind.kind === "map" ? plain(kind.of) : kind

const leavesOf = (route: RouteKey, place: Leaf["in"], message: AnyMessage, before: ReadonlyArray<Step> = []): ReadonlyArray<Leaf> =>
  Object.entries(message.fields).flatMap(([key, field]) => {
    const path = [...before, { key, field, of: message }]
    const kind = plain(field.kind)
    if (kind.kind !== "message") return [{ route, in: place, path, kind }]
    const inner = kind.message()
    const name = fullName(inner, "v1beta1").replace("google.cloud.aiplatform.v1beta1.", "")
    return whole.has(name) || Object.keys(inner.fields).length === 0
      ? [{ route, in: place, path, kind }]
      : leavesOf(route, place, inner, path)
  })

const leaves = (Object.entries(ragRoutes) as ReadonlyArray<[RouteKey, (typeof ragRoutes)[RouteKey]]>).flatMap(([key, route]) => [
  ...("body" in route && route.body !== undefined ? leavesOf(key, "body", route.body) : []),
  ...(route.query === undefined ? [] : leavesOf(key, "query", route.query))
])

const textOf = ({ in: place, path, route }: Leaf): string =>
  `${route}${place === "query" ? "?" : "."}${path.map(({ key }) => key).join(".")}`

/** Fields that a request does not set: the service writes them, or they name what the path names already. */
const isOutputOnly = ({ path }: Leaf): boolean =>
  path.some(({ key, of }) => {
    const behaviors = behaviorsOf("v1beta1", fullName(of, "v1beta1"), key)
    return behaviors.has("OUTPUT_ONLY") || behaviors.has("IDENTIFIER")
  })

/** Values by the last key of a path; others by their type. */
const samples: Readonly<Record<string, unknown>> = {
  httpEndpoint: "https://weaviate.example.com",
  collectionName: "Docs",
  indexName: "docs",
  featureViewResourceName: "projects/p1/locations/us-central1/featureOnlineStores/s/featureViews/v",
  indexEndpoint: "projects/p1/locations/us-central1/indexEndpoints/1",
  index: "projects/p1/locations/us-central1/indexes/1",
  servingConfig: "projects/p1/locations/us-central1/collections/c/engines/e/servingConfigs/s",
  apiKeySecretVersion: "projects/p1/secrets/s/versions/1",
  endpoint: "projects/p1/locations/us-central1/publishers/google/models/text-multilingual-embedding-002",
  kmsKeyName: "projects/p1/locations/us-central1/keyRings/r/cryptoKeys/k",
  uris: "gs://docs/other.md",
  outputUriPrefix: "gs://docs/results",
  outputUri: "bq://p1.d.t",
  serverUri: "acme.atlassian.net",
  email: "bot@example.com",
  channelId: "C012AB3CD",
  metadataFilter: "author == \"nobody\"",
  vectorDistanceThreshold: 1e-9,
  vectorSimilarityThreshold: 0.999999,
  similarityTopK: 1,
  topK: 1,
  alpha: 0,
  title: "hotel limit secret",
  text: "hotel limit secret",
  citationThreshold: 1,
  chunkSize: 512,
  chunkOverlap: 64,
  modelName: "projects/p1/locations/us-central1/publishers/google/models/gemini-2.5-flash",
  processorName: "projects/p1/locations/us/processors/x",
  datetimeValue: "2026-01-02T03:04:05Z"
}

const sampleOf = ({ kind, path }: Leaf): unknown => {
  const { field, key } = path.at(-1)!
  const one = ((): unknown => {
    if (key in samples) return samples[key]
    switch (kind.kind) {
      case "int32":
      case "double":
      case "float":
        return 7
      case "int64":
        return "7"
      case "bool":
        return true
      case "enum":
        return Object.entries(kind.numbers).find(([, number]) => number === 2)?.[0] ?? Object.keys(kind.numbers).at(-1)
      case "timestamp":
        return "2026-01-02T03:04:05Z"
      case "message":
        return {}
      default:
        return `a-${key.toLowerCase()}`
    }
  })()
  return field.kind.kind === "list" ? [one] : one
}

type Json = Record<string, unknown>

/** A request with one more field; other members of one-ofs on the way go. */
const withField = (base: object, [step, ...rest]: ReadonlyArray<Step>, value: unknown): Json => {
  if (step === undefined) return base as Json
  const { field, key, of } = step
  const others = Object.entries(of.fields).flatMap(([name, other]) =>
    other.oneof !== undefined && other.oneof === field.oneof && name !== key ? [name] : []
  )
  const kept = Object.fromEntries(Object.entries(base).filter(([name]) => !others.includes(name)))
  const before = kept[key]
  if (rest.length === 0) return { ...kept, [key]: value }
  const inner = withField((Array.isArray(before) ? before[0] : before) ?? {}, rest, value)
  return { ...kept, [key]: field.kind.kind === "list" ? [inner] : inner }
}

/** What a call came to: an answer, or what was refused, with all that it names. */
type Outcome = { readonly refused: string } | { readonly answer: string }

const snake = (key: string): string => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** The name that stands for another: a deprecated twin, and the other member of the one-of that a corpus's database is. */
const newer: Readonly<Record<string, string>> = { ragVectorDbConfig: "vectorDbConfig", vertexAiSearchConfig: "vectorDbConfig" }

/** Whether a refusal names a field by its own name or that of what it is in, or says that what it names is not there. */
const names = (refused: string, path: ReadonlyArray<Step>, value: unknown): boolean =>
  path.some(({ key }) => refused.includes(snake(newer[key] ?? key))) || (refused.includes("NOT_FOUND") && refused.includes(String(value)))

/** The same answer has the same text: what is made anew each time is left out. */
const settled = (value: unknown): string =>
  JSON.stringify(
    value,
    (key, inner: unknown) =>
      ["createTime", "updateTime", "name", "expireTime"].includes(key) && typeof inner === "string" ? undefined : inner
  )

interface Probe {
  /** A request that is well, and in which nothing stands that goes before the field. */
  readonly base: (leaf?: Leaf) => object
  readonly send: (body: object) => Promise<Outcome>
}

/** Fields that neither change an answer, are told back nor are refused, and why that is not ignoring them. */
const described = "says where a fact is from, as augmentPrompt answers it: the claim is held against its text"
const unchanged = "the corpus has no other strategy; one that has is not given it, which test/server/Rest.test.ts sees"
const others: Readonly<Record<string, string>> = {
  "augmentPrompt.vertexRagStore.ragRetrievalConfig.ranking.rankService.modelName":
    "orders contexts as in retrieveContexts, whose scores show it",
  "corroborateContent.facts.query": described,
  "corroborateContent.facts.uri": described,
  "corroborateContent.facts.vectorDistance": described,
  "corroborateContent.facts.score": described,
  "corroborateContent.facts.chunk.pageSpan.firstPage": described,
  "corroborateContent.facts.chunk.pageSpan.lastPage": described,
  "corroborateContent.facts.chunk.fileId": described,
  "corroborateContent.facts.chunk.chunkId": described,
  "updateRagCorpus.vectorDbConfig.ragManagedDb.knn": unchanged,
  "updateRagCorpus.ragVectorDbConfig.ragManagedDb.knn": unchanged
}

describe("every field of a request", () => {
  let server: TestServer
  let corpus = ""
  let file = ""
  let made = 0
  let metadata = ""
  beforeAll(async () => {
    server = await startServer()
    corpus = await server.corpus("fields")
    for (const [name, text] of [["leave.md", leave], ["travel.md", travel]] as const) {
      file = (await server.upload(corpus, name, text)).body.ragFile.name
    }
    for (const [key, type] of Object.entries({ dept: "STRING", team: "STRING" })) {
      await server.call("POST", `/v1beta1/${corpus}/ragDataSchemas`, { key, schemaDetails: { type } })
    }
    metadata = (await server.call("POST", `/v1beta1/${file}/ragMetadata`, written("dept"))).body.name
  })
  afterAll(() => server.stop())

  const written = (key: string) => ({ userSpecifiedMetadata: { key, value: { strValue: "x" } } })
  const call = async (method: string, path: string, body?: object): Promise<Outcome> => {
    const { body: answer, status } = await server.call(method, `/v1beta1/${path}`, body)
    return status === 200 && answer.error === undefined ? { answer: settled(answer) } : { refused: JSON.stringify(answer) }
  }
  const read = (result: Result.Result<unknown, ServiceError>): Outcome =>
    Result.isSuccess(result) ? { answer: settled(result.success) } : { refused: JSON.stringify(result.failure) }
  const question = { text: "days of leave, and the hotel limit" }
  const has = (leaf: Leaf | undefined, key: string) => leaf?.path.some((step) => step.key === key) === true
  /** What the deprecated list names is looked for only where there is no newer one. */
  const store = (leaf?: Leaf) => has(leaf, "ragCorpora") ? { ragCorpora: [corpus] } : { ragResources: [{ ragCorpus: corpus }] }
  const of = (path: string, base: Probe["base"], method = "POST"): Probe => ({ base, send: (body) => call(method, path, body) })
  const at = (path: () => string, base: Probe["base"], method = "POST"): Probe => ({ base, send: (body) => call(method, path(), body) })

  const probes: Partial<Record<RouteKey, Probe>> = {
    createRagCorpus: of(`${parent}/ragCorpora`, () => ({ displayName: "one" })),
    updateRagCorpus: at(() => corpus, () => ({ description: "same" }), "PATCH"),
    uploadRagFile: {
      base: () => ({ ragFile: { displayName: "a.md" } }),
      send: async (body) => read(uploadRequestFromWire(CorpusName.make(corpus), body, { content: new Uint8Array(1) }))
    },
    importRagFiles: {
      base: () => ({ importRagFilesConfig: { gcsSource: { uris: ["gs://docs/a.md"] } } }),
      send: async (body) => read(importRequestFromWire(CorpusName.make(corpus), body))
    },
    createRagDataSchema: at(() => `${corpus}/ragDataSchemas`, () => ({ key: `key${++made}`, schemaDetails: { type: "STRING" } })),
    batchCreateRagDataSchemas: at(() => `${corpus}/ragDataSchemas:batchCreate`, () => ({
      requests: [{ ragDataSchema: { key: `key${++made}`, schemaDetails: { type: "STRING" } } }]
    })),
    createRagMetadata: {
      base: () => written("team"),
      send: async (body) => {
        const outcome = await call("POST", `${file}/ragMetadata?ragMetadataId=id${++made}`, body)
        await server.call("POST", `/v1beta1/${file}/ragMetadata:batchDelete`, { names: [`${file}/ragMetadata/id${made}`] })
        return outcome
      }
    },
    batchCreateRagMetadata: {
      base: () => ({ requests: [{ ragMetadata: written("team"), ragMetadataId: `id${++made}` }] }),
      send: async (body) => {
        const outcome = await call("POST", `${file}/ragMetadata:batchCreate`, body)
        await server.call("POST", `/v1beta1/${file}/ragMetadata:batchDelete`, { names: [`${file}/ragMetadata/id${made}`] })
        return outcome
      }
    },
    updateRagMetadata: at(() => metadata, () => written("dept"), "PATCH"),
    retrieveContexts: of(`${parent}:retrieveContexts`, (leaf) => ({ vertexRagStore: store(leaf), query: question })),
    asyncRetrieveContexts: of(
      `${parent}:asyncRetrieveContexts`,
      (leaf) => ({ query: question, tools: [{ retrieval: { vertexRagStore: store(leaf) } }] })
    ),
    askContexts: of(`${parent}:askContexts`, (leaf) => ({ query: question, tools: [{ retrieval: { vertexRagStore: store(leaf) } }] })),
    augmentPrompt: of(`${parent}:augmentPrompt`, (leaf) => ({
      vertexRagStore: store(leaf),
      contents: [{ role: "user", parts: [{ text: question.text }] }]
    })),
    corroborateContent: of(`${parent}:corroborateContent`, (leaf) => ({
      content: { role: "model", parts: [{ text: "Unused days of leave carry over until March. The hotel limit is a secret." }] },
      facts: [has(leaf, "chunk") ? {} : { summary: "Unused days of leave carry over." }]
    })),
    updateRagEngineConfig: of(`${parent}/ragEngineConfig`, (leaf) => {
      const tier = has(leaf, "basic") ? { scaled: {} } : { basic: {} }
      return { ragManagedDbConfig: has(leaf, "spanner") ? { spanner: tier } : tier }
    }, "PATCH")
  }

  /** Each with a test of its own below. */
  const tested = new Set([
    ...["listRagCorpora", "listRagFiles", "listRagDataSchemas", "listRagMetadata"].flatMap((
      list
    ) => [`${list}?pageSize`, `${list}?pageToken`]),
    "createRagDataSchema?ragDataSchemaId",
    "createRagMetadata?ragMetadataId",
    "batchCreateRagDataSchemas.requests.ragDataSchemaId",
    "batchCreateRagMetadata.requests.ragMetadataId",
    "batchDeleteRagDataSchemas.names",
    "batchDeleteRagMetadata.names",
    "deleteRagCorpus?force",
    "deleteRagCorpus?forceDelete",
    "deleteRagFile?forceDelete"
  ])

  it("is looked at", () => {
    const unknown = leaves.filter((leaf) => !isOutputOnly(leaf) && !(leaf.in === "body" && leaf.route in probes)).map(textOf)
    assert.deepStrictEqual(unknown.filter((name) => !tested.has(name)), [])
    for (const name of [...Object.keys(others), ...tested]) assert.include(leaves.map(textOf), name)
  })

  for (const [route, probe] of Object.entries(probes) as ReadonlyArray<[RouteKey, Probe]>) {
    it(`of ${route} is obeyed, told back, or refused by its name`, async () => {
      const ignored: Array<string> = []
      for (const leaf of leaves.filter((each) => each.route === route && each.in === "body")) {
        const name = textOf(leaf)
        if (isOutputOnly(leaf) || name in others || tested.has(name)) continue
        const value = sampleOf(leaf)
        const plainly = await probe.send(probe.base(leaf))
        assert.property(plainly, "answer", `${name}: ${JSON.stringify(plainly)}`)
        const outcome = await probe.send(withField(probe.base(leaf), leaf.path, value))
        if ("refused" in outcome) {
          if (!names(outcome.refused, leaf.path, value)) ignored.push(`${name}: refused without its name: ${outcome.refused.slice(0, 200)}`)
        } else if ("answer" in plainly && outcome.answer === plainly.answer) ignored.push(`${name}: ignored`)
      }
      assert.deepStrictEqual(ignored, [])
    })
  }

  it("of a list says how much of it, and from where", async () => {
    await server.corpus("another")
    await server.call("POST", `/v1beta1/${file}/ragMetadata`, written("team"))
    const lists = [[`${parent}/ragCorpora`, "ragCorpora"], [`${corpus}/ragFiles`, "ragFiles"], [
      `${corpus}/ragDataSchemas`,
      "ragDataSchemas"
    ], [
      `${file}/ragMetadata`,
      "ragMetadata"
    ]] as const
    for (const [path, items] of lists) {
      const first = await server.call("GET", `/v1beta1/${path}?pageSize=1`)
      assert.lengthOf(first.body[items], 1, path)
      const second = await server.call("GET", `/v1beta1/${path}?pageSize=1&pageToken=${encodeURIComponent(first.body.nextPageToken)}`)
      assert.lengthOf(second.body[items], 1, path)
      assert.notStrictEqual(second.body[items][0].name, first.body[items][0].name)
    }
  })

  it("of a creation names what is made, and of a deletion what goes", async () => {
    const schemas = `/v1beta1/${corpus}/ragDataSchemas`
    const values = `/v1beta1/${file}/ragMetadata`
    const spec = (key: string) => ({ key, schemaDetails: { type: "STRING" } })
    assert.match((await server.call("POST", `${schemas}?ragDataSchemaId=mine`, spec("mine"))).body.name, /ragDataSchemas\/mine$/)
    assert.match((await server.call("POST", `${values}?ragMetadataId=own`, written("mine"))).body.name, /ragMetadata\/own$/)
    const many = await server.call("POST", `${schemas}:batchCreate`, {
      requests: [{ ragDataSchema: spec("yours"), ragDataSchemaId: "yours" }]
    })
    assert.match(JSON.stringify(many.body), /ragDataSchemas\/yours"/)
    const more = await server.call("POST", `${values}:batchCreate`, {
      requests: [{ ragMetadata: written("yours"), ragMetadataId: "theirs" }]
    })
    assert.match(JSON.stringify(more.body), /ragMetadata\/theirs"/)
    await server.call("POST", `${values}:batchDelete`, { names: [`${file}/ragMetadata/own`] })
    assert.strictEqual((await server.call("GET", `${values}/own`)).status, 404)
    assert.strictEqual((await server.call("GET", `${values}/theirs`)).status, 200)
    await server.call("POST", `${schemas}:batchDelete`, { names: [`${corpus}/ragDataSchemas/mine`] })
    assert.strictEqual((await server.call("GET", `${schemas}/mine`)).status, 404)
  })

  it("of a corpus's deletion spares one that has files; a file's goes without its database", async () => {
    for (const force of ["force", "forceDelete"]) {
      const full = await server.corpus("full")
      const { ragFile } = (await server.upload(full, "a.md", leave)).body
      assert.strictEqual((await server.call("DELETE", `/v1beta1/${full}?${force}=false`)).status, 400)
      // Nothing waits for the database of a file's vectors, which is told later what it cannot be told now: forced or not.
      if (force === "force") assert.strictEqual((await server.call("DELETE", `/v1beta1/${ragFile.name}?forceDelete=true`)).status, 200)
      assert.strictEqual((await server.call("DELETE", `/v1beta1/${full}?${force}=true`)).status, 200)
    }
  })
})
