import { v1 } from "@google-cloud/aiplatform"
import { GoogleGenAI } from "@google/genai"
import { Effect, Exit, Scope } from "effect"
import { OAuth2Client } from "google-auth-library"
import OpenAI, { BadRequestError } from "openai"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Fake, fakeOpenAi, sendEmbeddings } from "../fakes/Openai.ts"
import { leave, parent, startServer, type TestServer, travel } from "../server/support/TestServer.ts"

let fake: Fake
let server: TestServer
let upstream: TestServer
const scope = Scope.makeUnsafe()
beforeAll(async () => {
  fake = await Effect.runPromise(
    fakeOpenAi((request, response) =>
      sendEmbeddings(
        request,
        response,
        (text) => Array.from({ length: request.body.dimensions ?? 4 }, (_, at) => (at === 0 ? text.length : 1))
      )
    ).pipe(Scope.provide(scope))
  )
  server = await startServer()
  upstream = await startServer({ upstream: { url: fake.baseUrl, model: "m", embeddingModel: "e" } })
})
afterAll(async () => {
  await server.stop()
  await upstream.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const signedIn = () => {
  const authClient = new OAuth2Client()
  authClient.setCredentials({ access_token: "fake-token", expiry_date: Date.now() + 3_600_000 })
  return authClient
}
const genai = (at = server) =>
  new GoogleGenAI({
    vertexai: true,
    project: "p1",
    location: "us-central1",
    httpOptions: { baseUrl: at.url },
    googleAuthOptions: { authClient: signedIn() as never } // another version of the auth library's types
  }).models

const cosine = (a: ReadonlyArray<number> = [], b: ReadonlyArray<number> = []) => a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0)
const predict = (body: object, at = server, model = "text-embedding-005") =>
  at.call("POST", `/v1/${parent}/publishers/google/models/${model}:predict`, body)

describe("@google/genai", () => {
  it("looks up the models that the server answers for, and no others", async () => {
    for (const model of ["gemini-2.0-flash-001", "text-embedding-005"]) {
      assert.strictEqual((await genai().get({ model })).name, `publishers/google/models/${model}`)
    }
    const { body, status } = await server.call("GET", "/v1beta1/publishers/anthropic/models/claude-3-5-haiku@20241022")
    assert.strictEqual(status, 200)
    assert.deepInclude(body, { name: "publishers/anthropic/models/claude-3-5-haiku", versionId: "20241022", launchStage: "GA" })
    assert.notProperty(body, "predictSchemata")
    assert.strictEqual((await server.call("GET", "/v1beta1/publishers/google/models/nonesuch-1")).status, 404)
    assert.strictEqual((await server.call("GET", "/v1beta1/publishers/google/models/gemini-2.0-flash/x")).status, 404)
  })

  it("embeds texts that find each other, in the length that the model has", async () => {
    const { embeddings = [] } = await genai().embedContent({
      model: "text-embedding-005",
      contents: [leave, travel],
      config: { taskType: "RETRIEVAL_DOCUMENT", title: "Handbook" }
    })
    const { embeddings: asked = [] } = await genai().embedContent({
      model: "text-embedding-005",
      contents: "days of annual leave",
      config: { taskType: "RETRIEVAL_QUERY" }
    })
    assert.deepStrictEqual([...embeddings, ...asked].map(({ values }) => values?.length), [768, 768, 768])
    assert.isAbove(cosine(embeddings[0]?.values, asked[0]?.values), cosine(embeddings[1]?.values, asked[0]?.values))
    assert.approximately(cosine(asked[0]?.values, asked[0]?.values), 1, 1e-5)
    assert.isAbove(embeddings[0]?.statistics?.tokenCount ?? 0, 10)
  })

  it("embeds by embedContent", async () => {
    const { embeddings: [one] = [] } = await genai().embedContent({
      model: "gemini-embedding-2",
      contents: leave,
      config: { outputDimensionality: 256 }
    })
    assert.strictEqual(one?.values?.length, 256)
  })

  it("embeds in the length of a longer model, with the same angles", async () => {
    const texts = [leave, travel, "days of annual leave"]
    const values = async (model: string, outputDimensionality?: number) => {
      const config = outputDimensionality === undefined ? {} : { outputDimensionality }
      const found = await Promise.all(texts.map((contents) => genai().embedContent({ model, contents, config })))
      return found.map(({ embeddings: [one] = [] }) => one?.values ?? [])
    }
    const long = await values("gemini-embedding-001")
    const own = await values("another", 2048)
    assert.deepStrictEqual(long.map(({ length }) => length), [3072, 3072, 3072])
    assert.deepStrictEqual(await values("gemini-embedding-001", 3072), long)
    for (const [a, b] of [[0, 1], [0, 2], [2, 2]] as const) assert.approximately(cosine(long[a], long[b]), cosine(own[a], own[b]), 1e-6)
  })

  it("embeds with the upstream's model, its vectors as they are", async () => {
    const { embeddings: [own] = [] } = await genai(upstream).embedContent({ model: "text-embedding-005", contents: "hello" })
    assert.strictEqual(own?.values?.length, 4)
    const { embeddings: [short] = [] } = await genai(upstream).embedContent({
      model: "text-embedding-005",
      contents: "hello",
      config: { outputDimensionality: 3 }
    })
    assert.strictEqual(short?.values?.length, 3)
    assert.deepInclude(fake.received.at(-1)?.body, { model: "e", dimensions: 3 })
  })
})

describe("@google-cloud/aiplatform", () => {
  it("embeds by predict", async () => {
    const client = new v1.PredictionServiceClient({
      fallback: true,
      protocol: "http",
      apiEndpoint: "127.0.0.1",
      port: server.port,
      authClient: signedIn()
    } as unknown as NonNullable<ConstructorParameters<typeof v1.PredictionServiceClient>[0]>) // its types know nothing of `protocol`
    const instance = { structValue: { fields: { content: { stringValue: leave } } } }
    const [{ predictions }] = await client.predict({
      endpoint: `${parent}/publishers/google/models/text-embedding-005`,
      instances: [instance]
    })
    const values = predictions?.[0]?.structValue?.fields?.["embeddings"]?.structValue?.fields?.["values"]?.listValue?.values
    assert.strictEqual(values?.length, 768)
  })
})

describe("Python's TextEmbeddingModel", () => {
  it("finds where an embedding model is called, and that it embeds texts", async () => {
    for (const model of ["text-embedding-005", "text-multilingual-embedding-002@default", "gemini-embedding-001"]) {
      const { body } = await server.call("GET", `/v1/publishers/google/models/${model}`)
      assert.deepInclude(body, {
        publisherModelTemplate: `projects/{user-project}/locations/{location}/publishers/google/models/${model}`,
        predictSchemata: { instanceSchemaUri: "gs://google-cloud-aiplatform/schema/predict/instance/text_embedding_1.0.0.yaml" }
      })
    }
  })
})

describe("a request to embed", () => {
  it("is held to its rules", async () => {
    for (
      const [body, field] of [
        [{}, "instances"],
        [{ instances: ["text"] }, "instances[0]"],
        [{ instances: [{ content: "" }] }, "instances[0].content"],
        [{ instances: [{ content: "a", task_type: "SEARCH" }] }, "instances[0].task_type"],
        [{ instances: [{ content: "a", title: "t" }] }, "instances[0].title"],
        [{ instances: [{ content: "a" }], parameters: { outputDimensionality: -1 } }, "parameters.outputDimensionality"],
        [{ instances: [{ content: "a" }], parameters: { outputDimensionality: 4096 } }, "parameters.outputDimensionality"],
        [{ instances: Array.from({ length: 251 }, () => ({ content: "a" })) }, "instances"],
        [{ instances: [{ content: "word ".repeat(3_000) }], parameters: { autoTruncate: false } }, "instances[0].content"]
      ] as const
    ) {
      const { body: answer, status } = await predict(body)
      assert.strictEqual(status, 400, field)
      assert.strictEqual(answer.error.details?.[0]?.fieldViolations?.[0]?.field, field)
    }
  })

  it("of a model that is not served names the model, not a field of texts", async () => {
    for (const model of ["imagen-3.0-generate-002", "multimodalembedding@001"]) {
      const { body, status } = await predict({ instances: [{ prompt: "a cat" }] }, server, model)
      assert.strictEqual(status, 404)
      assert.include(body.error.message, `model ${model} is not served here`)
    }
    const { body } = await predict({ instances: [{ prompt: "a cat" }] })
    assert.strictEqual(body.error.details?.[0]?.fieldViolations?.[0]?.field, "instances[0].content")
  })

  it("is cut to what a model reads, and says so", async () => {
    const { body } = await predict({ instances: [{ content: "word ".repeat(3_000) }, { content: "short" }] })
    assert.deepStrictEqual(
      body.predictions.map((each: { readonly embeddings: { readonly statistics: object } }) => each.embeddings.statistics),
      [
        { truncated: true, token_count: 2048 },
        { truncated: false, token_count: 1 }
      ]
    )
    assert.strictEqual(body.metadata.billableCharacterCount, 12_005)
  })
})

describe("openai", () => {
  const openai = (at = server) => new OpenAI({ baseURL: `${at.url}/v1`, apiKey: "any", maxRetries: 0 }).embeddings
  const refused = async (body: object, pattern: RegExp, param: string) => {
    const error = await openai().create(body as never).catch((thrown: unknown) => thrown)
    assert(error instanceof BadRequestError, String(error))
    assert.match(error.message, pattern)
    assert.match(error.param ?? "", new RegExp(`^${param}`))
  }

  it("embeds texts that find each other, in base64 as it asks by default and as floats", async () => {
    const { data, model, usage } = await openai().create({ model: "any-model", input: [leave, travel, "days of annual leave"] })
    assert.strictEqual(model, "any-model")
    const [first, second, asked] = data.map(({ embedding }) => embedding)
    assert.strictEqual(first?.length, 2048)
    assert.isAbove(cosine(asked, first), cosine(asked, second))
    assert.isAbove(usage.prompt_tokens, 10)
    assert.strictEqual(usage.total_tokens, usage.prompt_tokens)
    const floats = await openai().create({ model: "any-model", input: leave, encoding_format: "float" })
    assert.deepStrictEqual(floats.data.map(({ embedding }) => embedding), [first])
    const { body } = await server.call("POST", "/v1/embeddings", { model: "any-model", input: leave, encoding_format: "base64" })
    assert.strictEqual(Buffer.from(body.data[0].embedding, "base64").readFloatLE(0), first?.[0])
  })

  it("gets the length it asks for, or that of the model", async () => {
    const lengthOf = async (body: { readonly model: string; readonly dimensions?: number }) =>
      (await openai().create({ input: leave, ...body })).data[0]?.embedding.length
    assert.strictEqual(await lengthOf({ model: "any-model", dimensions: 256 }), 256)
    assert.strictEqual(await lengthOf({ model: "text-embedding-004" }), 768)
    const { data } = await openai(upstream).create({ model: "any-model", input: [leave, "a"], dimensions: 5 })
    assert.deepStrictEqual(data.map(({ embedding }) => embedding.length), [5, 5])
  })

  it("is refused what cannot be embedded", async () => {
    await refused({ model: "m", input: [1, 2] }, /has tokens/, "input")
    await refused({ model: "m", input: [[1, 2]] }, /has tokens/, "input")
    await refused({ model: "m", input: leave, dimensions: 4096 }, /at most 3072/, "dimensions")
    await refused({ model: "m", input: leave, dimensions: 0 }, /./, "dimensions")
    await refused({ model: "m", input: "" }, /./, "input")
    await refused({ model: "m", input: [] }, /./, "input")
    await refused({ model: "m", input: Array.from({ length: 2049 }, () => "a") }, /2048/, "input")
    await refused({ model: "m", input: ["short", "word ".repeat(9_000)] }, /8192/, "input.1")
  })
})
