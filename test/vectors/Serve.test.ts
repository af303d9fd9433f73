import { Effect, Exit, Scope } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { fakeWeaviate } from "../fakes/Weaviate.ts"
import { leave, parent, putObjects, startServer, type TestServer, travel } from "../server/support/TestServer.ts"

describe("a corpus in Weaviate, behind serve", () => {
  const scope = Scope.makeUnsafe()
  let fake: Effect.Success<ReturnType<typeof fakeWeaviate>>
  let open: TestServer
  let closed: TestServer
  beforeAll(async () => {
    fake = await Effect.runPromise(fakeWeaviate({ key: () => "the-key" }).pipe(Scope.provide(scope)))
    open = await startServer({ allowHosts: ["127.0.0.1"] })
    closed = await startServer()
    for (const { folder } of [open, closed]) {
      mkdirSync(join(folder, "data", "secrets"), { recursive: true })
      writeFileSync(join(folder, "data", "secrets", "weaviate"), "the-key\n", { mode: 0o600 })
    }
  })
  afterAll(async () => {
    await Promise.all([open.stop(), closed.stop()])
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  const corpusOf = async (server: TestServer, secret = "weaviate"): Promise<string> => {
    const { body } = await server.call("POST", `/v1beta1/${parent}/ragCorpora`, {
      displayName: "elsewhere",
      vectorDbConfig: {
        weaviate: { httpEndpoint: fake.origin, collectionName: "Handbook" },
        apiAuth: { apiKeyConfig: { apiKeySecretVersion: `projects/1/secrets/${secret}/versions/1` } }
      }
    })
    return body.response.name
  }
  const ask = (server: TestServer, corpus: string, text: string, ranking?: object) =>
    server.call("POST", `/v1beta1/${parent}:retrieveContexts`, {
      vertexRagStore: { ragResources: [{ ragCorpus: corpus }] },
      query: { text, ragRetrievalConfig: { topK: 1, ...ranking } }
    })

  /** Beside them stands what the corpus says of itself. */
  const chunksStored = () =>
    [...fake.classes.get("Handbook")?.objects.values() ?? []].filter(({ properties }) => properties["chunkDataType"] === "TEXT").length

  it("is written and searched where the operator named the host", async () => {
    const corpus = await corpusOf(open)
    assert.strictEqual((await open.upload(corpus, "leave.md", leave)).status, 200)
    const { body } = await open.upload(corpus, "travel.md", travel)
    assert.strictEqual(chunksStored(), 2)
    const { body: found } = await ask(open, corpus, "annual leave days", { hybridSearch: { alpha: 0.5 } })
    assert.strictEqual(found.contexts.contexts[0].sourceDisplayName, "leave.md")
    assert.strictEqual((await open.call("DELETE", `/v1/${body.ragFile.name}`)).status, 200)
    assert.strictEqual(chunksStored(), 1)
  })

  it("keeps hybrid settings, and refuses by name those that would be the database's", async () => {
    const endpoint = `${parent}/publishers/google/models/text-embedding-004`
    const create = (bm25: object) =>
      open.call("POST", `/v1beta1/${parent}/ragCorpora`, {
        displayName: "mixed elsewhere",
        vectorDbConfig: {
          weaviate: { httpEndpoint: fake.origin, collectionName: "Mixed" },
          ragEmbeddingModelConfig: {
            hybridSearchConfig: { sparseEmbeddingConfig: { bm25 }, denseEmbeddingModelPredictionEndpoint: { endpoint } }
          }
        }
      })
    const { body: made } = await create({ k1: 1.2, b: 0.75 })
    const { hybridSearchConfig } = made.response.vectorDbConfig.ragEmbeddingModelConfig
    assert.deepStrictEqual(hybridSearchConfig.sparseEmbeddingConfig, { bm25: { k1: 1.2, b: 0.75 } })
    const { body, status } = await create({ k1: 2 })
    assert.strictEqual(status, 501)
    assert.strictEqual(
      body.error.details[0].fieldViolations[0].field,
      "rag_corpus.vector_db_config.rag_embedding_model_config.hybrid_search_config.sparse_embedding_config.bm25"
    )
  })

  it("takes imports too", async () => {
    const corpus = await corpusOf(open)
    putObjects(open, { "weaviate/leave.md": leave })
    const before = chunksStored()
    const { body } = await open.call("POST", `/v1beta1/${corpus}/ragFiles:import`, {
      importRagFilesConfig: { gcsSource: { uris: ["gs://docs/weaviate/"] } }
    })
    const done = await open.done(body.name, "v1beta1")
    assert.strictEqual(done.body.response.importedRagFilesCount, "1", JSON.stringify(done.body))
    assert.strictEqual(chunksStored(), before + 1)
  })

  it("is refused at another port of a host, and where readers of its address differ", async () => {
    const { host, port } = new URL(fake.origin)
    const narrow = await startServer({ allowHosts: [host] })
    const before = fake.asked.length
    try {
      for (
        const httpEndpoint of [
          "http://127.0.0.1:1",
          "http://127.0.0.1",
          `http://localhost:${port}`,
          `http://[::ffff:127.0.0.1]:${port}`,
          `http://127.0.0.1.:1`,
          `http://127.0.0.2\\.${host}`,
          `http://127.0.0.2:${port}/?${host}`,
          `http://${host}.nip.io`
        ]
      ) {
        const { body: { response } } = await narrow.call("POST", `/v1beta1/${parent}/ragCorpora`, {
          displayName: "elsewhere",
          vectorDbConfig: {
            weaviate: { httpEndpoint, collectionName: "Handbook" },
            apiAuth: { apiKeyConfig: { apiKeySecretVersion: "projects/1/secrets/weaviate/versions/1" } }
          }
        })
        // Some have no form of an address at all.
        if (response === undefined) continue
        const { body, status } = await narrow.upload(response.name, "leave.md", leave)
        assert.deepStrictEqual([status, body.error.status], [403, "PERMISSION_DENIED"], httpEndpoint)
      }
      assert.strictEqual(fake.asked.length, before)
    } finally {
      await narrow.stop()
    }
  })

  it("is sent the secret that was allowed for it, and no other that a caller names", async () => {
    const { host } = new URL(fake.origin)
    const granted = await startServer({ allowHosts: [host], allowSecrets: [{ secret: "weaviate", host }] })
    try {
      mkdirSync(join(granted.folder, "data", "secrets"), { recursive: true })
      for (const name of ["weaviate", "prod-db"]) {
        writeFileSync(join(granted.folder, "data", "secrets", name), "the-key\n", { mode: 0o600 })
      }
      const corpus = await corpusOf(granted)
      assert.notProperty((await granted.upload(corpus, "leave.md", leave)).body, "error")
      const other = await corpusOf(granted, "prod-db")
      const before = fake.asked.length
      const { body, status } = await granted.upload(other, "leave.md", leave)
      assert.deepStrictEqual([status, body.error.status], [403, "PERMISSION_DENIED"])
      assert.include(JSON.stringify(body), `--allow-secret prod-db=${host}`)
      assert.include(JSON.stringify(body), "vectorDb.apiKey")
      assert.strictEqual(fake.asked.length, before)
    } finally {
      await granted.stop()
    }
  })

  it("is refused elsewhere, and nobody is called", async () => {
    const before = fake.asked.length
    const corpus = await corpusOf(closed)
    const { body, status } = await closed.upload(corpus, "leave.md", leave)
    assert.include(JSON.stringify(body), "--allow-host 127.0.0.1")
    assert.notInclude(JSON.stringify(body), "the-key")
    assert.strictEqual(status, 403)
    assert.strictEqual((await ask(closed, corpus, "annual leave")).status, 403)
    assert.strictEqual(fake.asked.length, before)
  })
})

describe("a corpus in a database that exists at Google only, behind serve", () => {
  const index = "projects/p/locations/l/indexes/1"
  const featureView = "projects/p/locations/l/featureOnlineStores/s/featureViews/v"
  const servingConfig = "projects/p/locations/global/collections/default_collection/engines/e/servingConfigs/default_search"
  let server: TestServer
  beforeAll(async () => {
    server = await startServer()
  })
  afterAll(() => server.stop())

  for (
    const [what, config, resource] of [
      [
        "Vector Search",
        { vectorDbConfig: { vertexVectorSearch: { index, indexEndpoint: "projects/p/locations/l/indexEndpoints/2" } } },
        index
      ],
      ["Feature Store", { vectorDbConfig: { vertexFeatureStore: { featureViewResourceName: featureView } } }, featureView],
      ["Agent Search", { vertexAiSearchConfig: { servingConfig } }, servingConfig]
    ] as const
  ) {
    it(`is stood in for, and says so: ${what}`, async () => {
      const { body } = await server.call("POST", `/v1beta1/${parent}/ragCorpora`, { displayName: what, ...config })
      const { name } = body.response
      assert.strictEqual((await server.upload(name, "leave.md", leave)).status, 200)
      putObjects(server, { "travel.md": travel })
      const imported = await server.call("POST", `/v1beta1/${name}/ragFiles:import`, {
        importRagFilesConfig: { gcsSource: { uris: ["gs://docs/travel.md"] } }
      })
      assert.strictEqual((await server.done(imported.body.name, "v1beta1")).body.response.importedRagFilesCount, "1")
      const { body: found } = await server.call("POST", `/v1beta1/${parent}:retrieveContexts`, {
        vertexRagStore: { ragResources: [{ ragCorpus: name }] },
        query: { text: "annual leave days", ragRetrievalConfig: { topK: 1 } }
      })
      assert.strictEqual(found.contexts.contexts[0].sourceDisplayName, "leave.md")
      const { body: corpus } = await server.call("GET", `/v1beta1/${name}`)
      assert.include(JSON.stringify(corpus), resource)
      assert.strictEqual(corpus.corpusStatus.state, "ACTIVE")
      assert.include(corpus.corpusStatus.errorStatus, `${what} (${resource}) exists at Google only`)
      assert.strictEqual((await server.call("DELETE", `/v1beta1/${name}?force=true`)).status, 200)
    })
  }
})
