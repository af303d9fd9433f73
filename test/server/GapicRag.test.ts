import { v1beta1 } from "@google-cloud/aiplatform"
import { OAuth2Client } from "google-auth-library"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { leave, parent, putObjects, startServer, type TestServer, travel } from "./support/TestServer.ts"

/** The whole life of a corpus, as `@google-cloud/aiplatform` has it over REST. */
describe("a corpus in the hands of @google-cloud/aiplatform", () => {
  let server: TestServer
  let data: v1beta1.VertexRagDataServiceClient
  let rag: v1beta1.VertexRagServiceClient
  let corpus = ""
  let files: Readonly<Record<string, string>> = {}

  beforeAll(async () => {
    server = await startServer()
    const authClient = new OAuth2Client()
    authClient.setCredentials({ access_token: "fake-token", expiry_date: Date.now() + 3_600_000 })
    const options = { fallback: true, protocol: "http", apiEndpoint: "127.0.0.1", port: server.port, authClient } as unknown as NonNullable<
      ConstructorParameters<typeof v1beta1.VertexRagDataServiceClient>[0]
    > // its types know nothing of `protocol`
    data = new v1beta1.VertexRagDataServiceClient(options)
    rag = new v1beta1.VertexRagServiceClient(options)

    const [creation] = await data.createRagCorpus({ parent, ragCorpus: { displayName: "gapic", vectorDbConfig: { ragManagedDb: {} } } })
    corpus = (await creation.promise())[0].name ?? ""
    await server.upload(corpus, "leave.md", leave)
    putObjects(server, { "travel.md": travel })
    const [work] = await data.importRagFiles({ parent: corpus, importRagFilesConfig: { gcsSource: { uris: ["gs://docs/travel.md"] } } })
    assert.strictEqual(String((await work.promise())[0].importedRagFilesCount), "1")
    const [listed] = await data.listRagFiles({ parent: corpus })
    files = Object.fromEntries(listed.map(({ displayName, name }) => [displayName ?? "", name ?? ""]))
    assert.sameMembers(Object.keys(files), ["leave.md", "travel.md"])
  })
  afterAll(() => server.stop())

  const found = async (config: object, ragFileIds: ReadonlyArray<string> = []) => {
    const [{ contexts }] = await rag.retrieveContexts({
      parent,
      vertexRagStore: { ragResources: [{ ragCorpus: corpus, ragFileIds: [...ragFileIds] }] },
      query: { text: "annual leave and the hotel limit", ragRetrievalConfig: config }
    })
    return (contexts?.contexts ?? []).map(({ sourceDisplayName }) => sourceDisplayName ?? "")
  }

  it("is filtered by the metadata that the client wrote, in the types of its schemas", async () => {
    const [schemas] = await data.batchCreateRagDataSchemas({
      parent: corpus,
      requests: [
        { parent: corpus, ragDataSchema: { key: "year", schemaDetails: { type: "INTEGER" } } },
        { parent: corpus, ragDataSchema: { key: "team", schemaDetails: { type: "STRING" } } }
      ]
    })
    assert.lengthOf((await schemas.promise())[0].ragDataSchemas ?? [], 2)
    const write = (file: string, year: number, team: string) =>
      data.batchCreateRagMetadata({
        parent: file,
        requests: [
          { parent: file, ragMetadata: { userSpecifiedMetadata: { key: "year", value: { intValue: year } } } },
          { parent: file, ragMetadata: { userSpecifiedMetadata: { key: "team", value: { strValue: team } } } }
        ]
      })
    for (const [name, year, team] of [["leave.md", 2024, "people"], ["travel.md", 2025, "finance"]] as const) {
      const [written] = await write(files[name] ?? "", year, team)
      assert.lengthOf((await written.promise())[0].ragMetadata ?? [], 2)
    }
    const [told] = await data.listRagMetadata({ parent: files["leave.md"] ?? "" })
    assert.sameMembers(told.map(({ userSpecifiedMetadata }) => userSpecifiedMetadata?.key), ["year", "team"])

    assert.sameMembers(await found({ topK: 5 }), ["leave.md", "travel.md"])
    assert.deepStrictEqual(await found({ topK: 5, filter: { metadataFilter: "year >= 2025" } }), ["travel.md"])
    assert.deepStrictEqual(await found({ topK: 5, filter: { metadataFilter: "team in [\"people\", \"legal\"] && year < 2025" } }), [
      "leave.md"
    ])
    assert.deepStrictEqual(await found({ topK: 5, filter: { metadataFilter: "year > 2030" } }), [])
    const failure = await found({ filter: { metadataFilter: "year >= \"new\"" } }).then(() => undefined, String)
    assert.include(failure, "metadata_filter")
  })

  it("is searched by files, counts and distances, and ranked", async () => {
    assert.deepStrictEqual(await found({ topK: 5 }, [files["travel.md"]?.split("/").at(-1) ?? ""]), ["travel.md"])
    assert.lengthOf(await found({ topK: 1 }), 1)
    assert.lengthOf(await found({ topK: 5, filter: { vectorDistanceThreshold: 0.001 } }), 0)
    assert.lengthOf(
      await found({ topK: 5, hybridSearch: { alpha: 0.5 }, ranking: { rankService: { modelName: "semantic-ranker-512@latest" } } }),
      2
    )
  })

  it("answers questions, at once and as an operation", async () => {
    const request = {
      parent,
      query: { text: "What is the hotel limit in Osaka?", ragRetrievalConfig: { topK: 2 } },
      tools: [{ retrieval: { vertexRagStore: { ragResources: [{ ragCorpus: corpus }] } } }]
    }
    const [answer] = await rag.askContexts(request)
    assert.include(answer.response, "120 EUR")
    assert.lengthOf(answer.contexts?.contexts ?? [], 2)
    const [work] = await rag.asyncRetrieveContexts(request)
    const [kept] = await work.promise()
    assert.deepStrictEqual(kept.contexts?.contexts?.map(({ text }) => text), answer.contexts?.contexts?.map(({ text }) => text))
  })

  it("loses a file, and then goes with the rest of them", async () => {
    const [gone] = await data.deleteRagFile({ name: files["leave.md"] ?? "" })
    await gone.promise()
    assert.deepStrictEqual(await found({ topK: 5 }), ["travel.md"])
    const refused = await data.deleteRagCorpus({ name: corpus, force: false }).then(() => undefined, String)
    assert.include(refused, "still has 1 file")
    const [deletion] = await data.deleteRagCorpus({ name: corpus })
    await deletion.promise()
    const [corpora] = await data.listRagCorpora({ parent })
    assert.lengthOf(corpora, 0)
  })
})
