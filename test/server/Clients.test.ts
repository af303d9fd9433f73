import { v1beta1 } from "@google-cloud/aiplatform"
import { GoogleGenAI } from "@google/genai"
import { OAuth2Client } from "google-auth-library"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { leave, parent, putObjects, startServer, type TestServer, travel } from "./support/TestServer.ts"

let server: TestServer
beforeAll(async () => {
  server = await startServer()
  putObjects(server, { "leave.md": leave, "travel.md": travel, "broken.docx": "this is no document" })
})
afterAll(() => server.stop())

/** Any token will do: the server is on loopback and has none of its own. */
const signedIn = () => {
  const client = new OAuth2Client()
  client.setCredentials({ access_token: "fake-token", expiry_date: Date.now() + 3_600_000 })
  return client
}

describe("@google-cloud/aiplatform over REST", () => {
  const options = () =>
    ({
      fallback: true,
      protocol: "http",
      apiEndpoint: "127.0.0.1",
      port: server.port,
      authClient: signedIn()
    }) as unknown as NonNullable<ConstructorParameters<typeof v1beta1.VertexRagDataServiceClient>[0]> // its types know nothing of `protocol`

  it("creates, updates, imports, lists, retrieves and deletes", async () => {
    const data = new v1beta1.VertexRagDataServiceClient(options())
    const rag = new v1beta1.VertexRagServiceClient(options())
    const endpoint = `${parent}/publishers/google/models/text-embedding-005`
    const [creation] = await data.createRagCorpus({
      parent,
      ragCorpus: {
        displayName: "d",
        vectorDbConfig: { ragManagedDb: {}, ragEmbeddingModelConfig: { vertexPredictionEndpoint: { endpoint } } }
      }
    })
    const [corpus] = await creation.promise()
    const name = corpus.name ?? ""
    assert.match(name, /ragCorpora\/\d+$/)
    assert.strictEqual(corpus.corpusStatus?.state, 2)
    assert.strictEqual(corpus.vectorDbConfig?.ragEmbeddingModelConfig?.vertexPredictionEndpoint?.endpoint, endpoint)

    const [update] = await data.updateRagCorpus({ ragCorpus: { name, displayName: "d2" } })
    assert.strictEqual((await update.promise())[0].displayName, "d2")

    const [work] = await data.importRagFiles({
      parent: name,
      importRagFilesConfig: {
        gcsSource: { uris: ["gs://docs/"] },
        ragFileTransformationConfig: { ragFileChunkingConfig: { fixedLengthChunking: { chunkSize: 512, chunkOverlap: 50 } } },
        maxEmbeddingRequestsPerMin: 900
      }
    })
    const [counts, metadata] = await work.promise()
    assert.strictEqual(String(counts.importedRagFilesCount), "2")
    assert.strictEqual(String(counts.failedRagFilesCount), "1")
    assert.strictEqual(metadata.progressPercentage, 100)
    assert.match(metadata.genericMetadata?.partialFailures?.[0]?.message ?? "", /gs:\/\/docs\/broken\.docx/)
    const checked = await data.checkImportRagFilesProgress(work.name ?? "")
    assert.isTrue(checked.done)

    const [files] = await data.listRagFiles({ parent: name, pageSize: 1 })
    assert.deepStrictEqual(files.map((file) => file.displayName).toSorted(), ["leave.md", "travel.md"])
    const [file] = await data.getRagFile({ name: files[0]?.name ?? "" })
    assert.include([1, "ACTIVE"], file.fileStatus?.state)

    const [found] = await rag.retrieveContexts({
      parent,
      vertexRagStore: { ragResources: [{ ragCorpus: name }] },
      query: { text: "hotel limit in Osaka", ragRetrievalConfig: { topK: 1 } }
    })
    assert.strictEqual(found.contexts?.contexts?.[0]?.sourceUri, "gs://docs/travel.md")

    const operation = await data.getOperation({ name: work.name ?? "" } as never) // the type wants a proto instance
    assert.strictEqual((operation as unknown as ReadonlyArray<{ done: boolean }>)[0]?.done, true) // and names no promise

    const [deletion] = await data.deleteRagCorpus({ name, force: true })
    await deletion.promise()
    const [corpora] = await data.listRagCorpora({ parent })
    assert.notInclude(corpora.map((each) => each.name), name)
  })

  it("hears of mistakes in the API's words", async () => {
    const data = new v1beta1.VertexRagDataServiceClient(options())
    const failure = await data.getRagCorpus({ name: `${parent}/ragCorpora/404` }).then(() => undefined, (error: unknown) => error)
    assert.include(String(failure), `corpus ${parent}/ragCorpora/404 was not found`)
  })
})

describe("@google/genai", () => {
  const client = () =>
    new GoogleGenAI({
      vertexai: true,
      project: "p1",
      location: "us-central1",
      httpOptions: { baseUrl: server.url },
      googleAuthOptions: { authClient: signedIn() as never } // another version of the auth library's types
    })
  const request = async () => {
    const corpus = await server.corpus("genai")
    await server.upload(corpus, "travel.md", travel)
    return {
      model: "gemini-2.0-flash-001",
      contents: "What is the hotel limit in Osaka?",
      config: {
        tools: [{ retrieval: { vertexRagStore: { ragResources: [{ ragCorpus: corpus }], ragRetrievalConfig: { topK: 3 } } } }],
        temperature: 0.5
      }
    }
  }

  it("generates with a RAG store", async () => {
    const answer = await client().models.generateContent(await request())
    assert.include(answer.text, "120 EUR")
    assert.strictEqual(answer.candidates?.[0]?.groundingMetadata?.groundingChunks?.[0]?.retrievedContext?.title, "travel.md")
    assert.isAbove(answer.usageMetadata?.totalTokenCount ?? 0, 10)
  })

  it("streams with a RAG store", async () => {
    const question = await request()
    let text = ""
    let grounded = false
    for await (const chunk of await client().models.generateContentStream(question)) {
      text += chunk.text ?? ""
      grounded ||= chunk.candidates?.[0]?.groundingMetadata !== undefined
    }
    assert.include(text, "120 EUR")
    assert.isTrue(grounded)
  })

  it("is told what the server cannot do", async () => {
    const needing = { model: "gemini-2.0-flash-001", contents: "hi", config: { responseMimeType: "application/json" } }
    const failure = await client().models.generateContent(needing).then(() => undefined, (error: Error & { status?: number }) => error)
    assert.strictEqual(failure?.status, 400)
    assert.include(failure?.message, "--upstream")
  })
})
