import { Effect, Exit, Scope } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Fake, fakeOpenAi, sendChat, sendJson } from "../fakes/Openai.ts"
import { parent, startServer, type TestServer } from "../server/support/TestServer.ts"

let fake: Fake
let server: TestServer
let bare: TestServer
const scope = Scope.makeUnsafe()
beforeAll(async () => {
  fake = await Effect.runPromise(
    fakeOpenAi(({ body }, response) =>
      JSON.stringify(body.messages).includes("refuse this")
        ? sendJson(response, 400, { error: { message: "logprobs are not supported" } })
        : sendChat(response, ["Hello."])
    ).pipe(Scope.provide(scope))
  )
  server = await startServer({ upstream: { url: fake.baseUrl, model: "m" }, vertexQuotas: true })
  bare = await startServer({ vertexQuotas: true })
})
afterAll(async () => {
  await server.stop()
  await bare.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const ask = (more: object, { at = server, method = "generateContent", model = "gemini-2.0-flash-001", text = "hello" } = {}) =>
  at.call("POST", `/v1/${parent}/publishers/google/models/${model}:${method}`, { contents: [{ role: "user", parts: [{ text }] }], ...more })
const statusOf = async (answer: ReturnType<typeof ask>) => (await answer).status

describe("log probabilities, one request a day", () => {
  const generationConfig = { responseLogprobs: true }

  it("are not used up by requests that are refused, here or upstream", async () => {
    for (const method of ["generateContent", "streamGenerateContent"]) {
      assert.strictEqual(await statusOf(ask({ generationConfig }, { at: bare, method })), 400)
      assert.strictEqual(await statusOf(ask({ generationConfig }, { at: bare, method })), 400)
      assert.strictEqual(await statusOf(ask({ generationConfig }, { method, text: "refuse this" })), 400)
    }
    assert.strictEqual(await statusOf(ask({ generationConfig: { ...generationConfig, logprobs: 9 } })), 400)
    assert.strictEqual(await statusOf(ask({ generationConfig })), 200)
    const over = await ask({ generationConfig })
    assert.strictEqual(over.status, 429)
    assert.strictEqual(await statusOf(ask({})), 200)
  })
})

describe("what an upstream in OpenAI's protocol has no place for", () => {
  const user = (part: object) => ({ contents: [{ role: "user", parts: [part] }] })
  const web = (mimeType: string, i = 0) => ({ fileData: { mimeType, fileUri: `https://example.org/${i}` } })

  it.each<[object, string]>([
    [{ generationConfig: { audioTimestamp: true } }, "generation_config.audio_timestamp"],
    [
      user({ inlineData: { mimeType: "video/mp4", data: "AAAA" }, videoMetadata: { startOffset: "1s" } }),
      "contents[0].parts[0].video_metadata"
    ],
    [user(web("audio/mpeg")), "contents[0].parts[0].file_data.file_uri"],
    [user({ fileData: { mimeType: "image/png", fileUri: "gs://docs/a.png" } }), "contents[0].parts[0].file_data.file_uri"],
    [{ contents: [{ role: "user", parts: Array.from({ length: 11 }, (_, i) => web("image/png", i)) }] }, "contents"],
    [{ contents: [{ role: "user", parts: [web("video/mp4", 1), web("video/mp4", 2)] }] }, "contents"]
  ])("is refused by name: %j", async (more, field) => {
    const before = fake.received.length
    const { body, status } = await ask(more)
    assert.strictEqual(status, 400)
    assert.isTrue(body.error.message.startsWith(`${field}: `), body.error.message)
    assert.lengthOf(fake.received, before)
  })

  it("is not made up: no safety ratings where nothing judges", async () => {
    const { body } = await ask({ safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_ONLY_HIGH" }] })
    assert.strictEqual(body.candidates[0].content.parts[0].text, "Hello.")
    assert.isUndefined(body.candidates[0].safetyRatings)
    assert.isUndefined(body.promptFeedback)
  })
})

describe("penalties", () => {
  const generationConfig = { presencePenalty: 0.5, frequencyPenalty: -1 }

  it("go to the 2.0 flash models, and not to those that other methods serve", async () => {
    for (const model of ["gemini-2.0-flash-001", "gemini-2.0-flash-lite-001", "gemini-2.0-flash"]) {
      assert.strictEqual(await statusOf(ask({ generationConfig }, { model })), 200, model)
    }
    assert.deepInclude(fake.received.at(-1)?.body, { presence_penalty: 0.5, frequency_penalty: -1 })
    const refused = await ask({ generationConfig }, { model: "llama-3.1-8b-instruct-maas" })
    assert.strictEqual(refused.status, 400)
    assert.include(refused.body.error.message, "generation_config.presence_penalty")
  })
})
