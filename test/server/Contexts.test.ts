import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { leave, parent, startServer, type TestServer, travel } from "./support/TestServer.ts"

interface Told {
  readonly score: number
  readonly distance?: number
  readonly sourceDisplayName: string
  readonly chunk: { readonly fileId?: string }
}

const sick = "# Sick leave\n\nEmployees who are ill for days call their manager before nine."

describe("contexts", () => {
  let server: TestServer
  let hr = ""
  let trips = ""
  beforeAll(async () => {
    server = await startServer()
    hr = await server.corpus("hr")
    trips = await server.corpus("trips")
    for (const [corpus, name, text] of [[hr, "leave.md", leave], [hr, "sick.md", sick], [trips, "travel.md", travel]] as const) {
      await server.upload(corpus, name, text)
    }
  })
  afterAll(() => server.stop())

  const retrieve = async (body: object, version = "v1beta1"): Promise<ReadonlyArray<Told>> => {
    const answer = await server.call("POST", `/${version}/${parent}:retrieveContexts`, body)
    assert.strictEqual(answer.status, 200, JSON.stringify(answer.body))
    return answer.body.contexts.contexts ?? []
  }
  const isSorted = (told: ReadonlyArray<Told>) => told.every(({ score }, i) => i === 0 || score >= (told[i - 1]?.score ?? 0))
  const question = "days of leave, and the hotel limit in Osaka"

  it("come from several corpora in one order", async () => {
    for (
      const [version, store] of [
        ["v1", { ragResources: [{ ragCorpus: hr }, { ragCorpus: trips }] }],
        ["v1beta1", { ragCorpora: [hr, trips] }]
      ] as const
    ) {
      const all = await retrieve({ vertexRagStore: store, query: { text: question, ragRetrievalConfig: { topK: 3 } } }, version)
      assert.sameMembers(all.map(({ sourceDisplayName }) => sourceDisplayName), ["leave.md", "sick.md", "travel.md"])
      assert.isTrue(isSorted(all))
      const two = await retrieve({ vertexRagStore: store, query: { text: question, ragRetrievalConfig: { topK: 2 } } }, version)
      assert.deepStrictEqual(
        two.map(({ sourceDisplayName }) => sourceDisplayName),
        all.slice(0, 2).map(({ sourceDisplayName }) => sourceDisplayName)
      )
    }
    const [first] = await retrieve({ vertexRagStore: { ragResources: [{ ragCorpus: hr }] }, query: { text: "call before nine when ill" } })
    const some = await retrieve({
      vertexRagStore: { ragResources: [{ ragCorpus: hr, ragFileIds: [first?.chunk.fileId] }, { ragCorpus: trips }] },
      query: { text: question }
    })
    assert.sameMembers(some.map(({ sourceDisplayName }) => sourceDisplayName), ["sick.md", "travel.md"])
    const foreign = await server.call("POST", `/v1/${parent}:retrieveContexts`, {
      vertexRagStore: { ragResources: [{ ragCorpus: trips, ragFileIds: [first?.chunk.fileId] }, { ragCorpus: hr }] },
      query: { text: question }
    })
    assert.strictEqual(foreign.status, 400)
  })

  it("come in the order of their scores, whatever orders them", async () => {
    const vertexRagStore = { ragResources: [{ ragCorpus: hr }] }
    for (const config of [{}, { hybridSearch: { alpha: 0 } }, { hybridSearch: { alpha: 0.5 } }, { hybridSearch: { alpha: 1 } }]) {
      const told = await retrieve({
        vertexRagStore,
        query: { text: "paid annual leave of employees", ragRetrievalConfig: { topK: 5, ...config } }
      })
      assert.strictEqual(told.length, 2)
      assert.isTrue(isSorted(told), JSON.stringify(config))
      if ((config.hybridSearch?.alpha ?? 0) > 0) assert.isNumber(told[0]?.distance)
    }
  })

  it("are found and asked by askContexts, and kept by asyncRetrieveContexts", async () => {
    const tools = [{ retrieval: { vertexRagStore: { ragResources: [{ ragCorpus: hr }, { ragCorpus: trips }] } } }]
    const body = { query: { text: "How many days of paid annual leave do employees receive?", ragRetrievalConfig: { topK: 2 } }, tools }
    const asked = await server.call("POST", `/v1beta1/${parent}:askContexts`, body)
    assert.include(asked.body.response, "28 days")
    assert.strictEqual(asked.body.contexts.contexts.length, 2)
    const started = await server.call("POST", `/v1beta1/${parent}:asyncRetrieveContexts`, body)
    const { body: done } = await server.done(started.body.name, "v1beta1")
    assert.deepStrictEqual(done.response.contexts, asked.body.contexts)
    for (const wrong of [{ ...body, tools: [] }, { tools }, { ...body, tools: [...tools, ...tools] }]) {
      for (const verb of ["askContexts", "asyncRetrieveContexts"]) {
        assert.strictEqual((await server.call("POST", `/v1beta1/${parent}:${verb}`, wrong)).status, 400)
      }
    }
  })
})

describe("fields that nothing here serves", () => {
  it("are refused by name", async () => {
    const server = await startServer()
    try {
      const corpus = await server.corpus()
      const gcsSource = { uris: ["gs://docs/a.md"] }
      const store = { ragResources: [{ ragCorpus: corpus }], storeContext: true }
      const imported = (more: object) =>
        server.call("POST", `/v1beta1/${corpus}/ragFiles:import`, { importRagFilesConfig: { gcsSource, ...more } })
      const answers = [
        [await imported({ ragFileMetadataConfig: { inlineMetadataSource: "{}" } }), "import_rag_files_config.rag_file_metadata_config"],
        [await imported({ ragFileParsingConfig: { useAdvancedPdfParsing: true } }), "rag_file_parsing_config.use_advanced_pdf_parsing"],
        [
          await imported({ ragFileParsingConfig: { advancedParser: { useAdvancedPdfParsing: true } } }),
          "advanced_parser.use_advanced_pdf_parsing"
        ],
        [
          await server.call("POST", `/upload/v1beta1/${corpus}/ragFiles:upload`, {
            ragFile: { displayName: "a" },
            uploadRagFileConfig: { ragFileMetadataConfig: { inlineMetadataSource: "{}" } }
          }),
          "upload_rag_file_config.rag_file_metadata_config"
        ],
        [
          await server.call("POST", `/v1beta1/${parent}/publishers/google/models/gemini-2.0-flash-001:generateContent`, {
            contents: [{ role: "user", parts: [{ text: "q" }] }],
            tools: [{ retrieval: { vertexRagStore: store } }]
          }),
          "tools[0].retrieval.vertex_rag_store.store_context"
        ]
      ] as const
      for (const [{ body, status }, field] of answers) {
        assert.strictEqual(status, 501, field)
        assert.include(body.error.message, field)
      }
      assert.strictEqual(
        (await imported({ ragFileParsingConfig: { useAdvancedPdfParsing: false }, ragFileMetadataConfig: {} })).status,
        200
      )
    } finally {
      await server.stop()
    }
  })
})
