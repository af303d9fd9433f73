import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { leave, parent, startServer, type TestServer, travel } from "./support/TestServer.ts"

const place = (project: string, location: string) => `projects/${project}/locations/${location}`

describe("corpora on a server", () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer()
  })
  afterAll(() => server.stop())

  const create = async (at: string, displayName: string): Promise<string> => {
    const { body } = await server.call("POST", `/v1/${at}/ragCorpora`, { displayName })
    return body.response.name
  }
  const names = async (at: string): Promise<ReadonlyArray<string>> => {
    const { body } = await server.call("GET", `/v1/${at}/ragCorpora?pageSize=100`)
    return (body.ragCorpora ?? []).map(({ displayName }: { displayName: string }) => displayName).toSorted()
  }
  const ask = (at: string, ragResources: ReadonlyArray<object>) =>
    server.call("POST", `/v1/${at}:retrieveContexts`, { vertexRagStore: { ragResources }, query: { text: "annual leave" } })

  it("live in the project and region they were made in", async () => {
    const [here, region, project] = [place("acme", "us-central1"), place("acme", "europe-west3"), place("other", "us-central1")]
    const corpus = await create(here, "here")
    await create(region, "region")
    await create(project, "project")
    assert.deepStrictEqual(await names(here), ["here"])
    assert.deepStrictEqual(await names(region), ["region"])
    assert.deepStrictEqual(await names(project), ["project"])
    for (const at of [region, project]) {
      const foreign = corpus.replace(here, at)
      const calls: ReadonlyArray<readonly [string, string, object?]> = [
        ["GET", foreign],
        ["PATCH", foreign, { description: "x" }],
        ["DELETE", foreign],
        ["GET", `${foreign}/ragFiles`],
        ["POST", `${foreign}/ragFiles:import`, { importRagFilesConfig: { gcsSource: { uris: ["gs://docs/"] } } }]
      ]
      for (const [method, path, body] of calls) {
        const answer = await server.call(method, `/v1/${path}`, body)
        assert.deepStrictEqual([answer.status, answer.body.error.status], [404, "NOT_FOUND"], `${method} ${path}`)
        assert.include(answer.body.error.message, foreign)
      }
      assert.strictEqual((await ask(at, [{ ragCorpus: foreign }])).status, 404)
      assert.strictEqual((await server.upload(foreign, "a.md", leave)).status, 404)
    }
    assert.strictEqual((await server.call("GET", `/v1/${corpus}`)).status, 200)
  })

  it("are one project's, whether it is written by id or by number", async () => {
    const corpus = await create(place("numbered", "us-central1"), "numbered")
    const byNumber = corpus.replace("projects/numbered/", "projects/123456/")
    assert.strictEqual((await server.call("GET", `/v1/${byNumber}`)).body.name, byNumber)
  })

  it("are nowhere in a location that there is not", async () => {
    for (const location of ["us-central9", "nowhere", "mars-east1"]) {
      const { body, status } = await server.call("POST", `/v1/${place("acme", location)}/ragCorpora`, { displayName: "d" })
      assert.deepStrictEqual([status, body.error.status], [400, "INVALID_ARGUMENT"], location)
      assert.include(body.error.message, `${location} is not a location of Vertex AI`)
    }
    const { body } = await server.call("GET", "/v1/projects/acme/locations")
    const ids = body.locations.map(({ locationId }: { locationId: string }) => locationId)
    assert.includeMembers(ids, ["us-central1", "europe-west3", "global"])
  })
})

describe("files that a retrieval names", () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer()
  })
  afterAll(() => server.stop())

  it("are of the corpus it searches, or name it, and of no other", async () => {
    const [mine, other] = [await server.corpus("mine"), await server.corpus("other")]
    const file = (await server.upload(mine, "leave.md", leave)).body.ragFile.name
    const foreign = (await server.upload(other, "travel.md", travel)).body.ragFile.name
    const id = (name: string): string => name.slice(name.lastIndexOf("/") + 1)
    const ask = (ragResources: ReadonlyArray<object>) =>
      server.call("POST", `/v1/${parent}:retrieveContexts`, { vertexRagStore: { ragResources }, query: { text: "annual leave" } })

    for (const resource of [{ ragCorpus: mine, ragFileIds: [id(file)] }, { ragCorpus: mine, ragFileIds: [file] }, { ragFileIds: [file] }]) {
      const { body, status } = await ask([resource])
      assert.strictEqual(status, 200, JSON.stringify(body))
      assert.isNotEmpty(body.contexts.contexts)
    }
    for (const ragFileIds of [[foreign], [id(foreign)], [file, foreign], ["12345"]]) {
      const { body, status } = await ask([{ ragCorpus: mine, ragFileIds }])
      assert.deepStrictEqual([status, body.error.status], [400, "INVALID_ARGUMENT"], JSON.stringify(ragFileIds))
      assert.include(JSON.stringify(body.error.details), "must all be files of one corpus")
      assert.include(JSON.stringify(body.error.details), "rag_file_ids")
    }
    // Each resource is of one corpus; several may be searched together.
    assert.strictEqual((await ask([{ ragFileIds: [file] }, { ragFileIds: [foreign] }])).status, 200)
    assert.strictEqual((await ask([{ ragFileIds: [id(file)] }])).status, 400)
  })
})

describe("a key to a corpus's database", () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer()
  })
  afterAll(() => server.stop())
  const key = (n: number) => ({ apiAuth: { apiKeyConfig: { apiKeySecretVersion: `projects/1/secrets/w/versions/${n}` } } })

  it("may be set and replaced by itself, and only where the database takes one", async () => {
    const make = async (vectorDbConfig: object) =>
      (await server.call("POST", `/v1/${parent}/ragCorpora`, { displayName: "d", vectorDbConfig })).body.response.name
    const weaviate = await make({ weaviate: { httpEndpoint: "https://w.example", collectionName: "C" } })
    for (const n of [1, 2]) {
      assert.strictEqual((await server.call("PATCH", `/v1/${weaviate}`, { vectorDbConfig: key(n) })).status, 200)
      const { body } = await server.call("GET", `/v1beta1/${weaviate}`)
      assert.deepInclude(body.vectorDbConfig, { weaviate: { httpEndpoint: "https://w.example", collectionName: "C" }, ...key(n) })
    }
    const managed = await server.corpus()
    const vectorSearch = await make({ vertexVectorSearch: {} })
    for (const [corpus, config] of [[managed, key(1)], [managed, { ragManagedDb: {}, ...key(1) }], [vectorSearch, key(1)]] as const) {
      const { body, status } = await server.call("PATCH", `/v1/${corpus}`, { vectorDbConfig: config })
      assert.strictEqual(status, 400, JSON.stringify([config, body]))
      assert.include(JSON.stringify(body.error.details), "api_key_secret_version")
      assert.include(JSON.stringify(body.error.details), "is for Weaviate and Pinecone only")
    }
  })

  it("is not the only thing that is put right: swapped names of vector search are too", async () => {
    const [index, indexEndpoint] = [`${parent}/indexes/1`, `${parent}/indexEndpoints/2`]
    const { body } = await server.call("POST", `/v1/${parent}/ragCorpora`, {
      displayName: "d",
      vectorDbConfig: { vertexVectorSearch: { index: indexEndpoint, indexEndpoint: index } }
    })
    const { body: made } = await server.call("GET", `/v1/${body.response.name}`)
    assert.deepStrictEqual(made.vectorDbConfig.vertexVectorSearch, { index, indexEndpoint })
    const again = await server.call("PATCH", `/v1/${body.response.name}`, {
      vectorDbConfig: { vertexVectorSearch: { index: indexEndpoint, indexEndpoint: index } }
    })
    assert.strictEqual(again.status, 200, JSON.stringify(again.body))
  })
})
