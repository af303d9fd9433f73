import { AnthropicVertex } from "@anthropic-ai/vertex-sdk"
import { GoogleGenAI } from "@google/genai"
import { Effect, Exit, Scope } from "effect"
import { OAuth2Client } from "google-auth-library"
import OpenAI from "openai"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Fake, fakeOpenAi, sendChat, startChat } from "../fakes/Openai.ts"
import { leave, parent, startServer, type TestServer } from "../server/support/TestServer.ts"

/** A model whose stream ends with an error of its own, or whose connection is cut; any other text is answered. */
const breaking: Parameters<typeof fakeOpenAi>[0] = ({ body }, response) => {
  const asked = JSON.stringify(body.messages)
  if (asked.includes("worn")) {
    startChat(response, ["so ", "far "])
    return void response.end("data: {\"error\":{\"message\":\"worn out\",\"code\":503}}\n\n")
  }
  if (asked.includes("cut")) {
    startChat(response, ["so ", "far "])
    return void setImmediate(() => response.destroy())
  }
  return sendChat(response, ["28 days [1 \"28 days of paid annual leave\"]."])
}

const faults = `
faults:
  - { method: retrieveContexts, at: 1, drop: middle }
  - { method: streamGenerateContent, at: 1, drop: middle }
`

let fake: Fake
let server: TestServer
let faulty: TestServer
const scope = Scope.makeUnsafe()
beforeAll(async () => {
  fake = await Effect.runPromise(fakeOpenAi(breaking).pipe(Scope.provide(scope)))
  server = await startServer({ upstream: { url: fake.baseUrl, model: "m" } })
  faulty = await startServer({ upstream: { url: fake.baseUrl, model: "m" }, faults })
})
afterAll(async () => {
  await server.stop()
  await faulty.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const signedIn = () => {
  const authClient = new OAuth2Client()
  authClient.setCredentials({ access_token: "fake-token", expiry_date: Date.now() + 3_600_000 })
  return authClient as never // another version of the auth library's types
}
const model = "gemini-2.0-flash-001"
const generate = `/v1/${parent}/publishers/google/models/${model}:streamGenerateContent`
const contents = (text: string) => ({ contents: [{ role: "user", parts: [{ text }] }] })
const user = (content: string) => [{ role: "user" as const, content }]

/** What a client heard before it failed; one that does not fail took half an answer for the whole. */
const heardBefore = async (pieces: () => AsyncIterable<string> | Promise<AsyncIterable<string>>) => {
  let heard = ""
  try {
    for await (const piece of await pieces()) heard += piece
  } catch (error) {
    return { heard, error: String(error) }
  }
  return { heard, error: undefined }
}

async function* bytesOf(response: Response): AsyncIterable<string> {
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) yield decoder.decode(chunk, { stream: true })
}

for (const how of ["worn", "cut"]) {
  describe(`an upstream's answer that breaks (${how})`, () => {
    for (const framing of ["", "?alt=sse"]) {
      it(`tells fetch, after the error element${framing}`, async () => {
        const post = () =>
          fetch(`${server.url}${generate}${framing}`, { method: "POST", body: JSON.stringify(contents(how)) }).then(bytesOf)
        const { error, heard } = await heardBefore(post)
        assert.isDefined(error)
        assert.include(heard, "\"so \"")
        assert.match(heard, /"status":"UNAVAILABLE"/)
        assert.isFalse(heard.endsWith("]"))
      })
    }

    it("tells @google/genai", async () => {
      const ai = new GoogleGenAI({
        vertexai: true,
        project: "p1",
        location: "us-central1",
        httpOptions: { baseUrl: server.url },
        googleAuthOptions: { authClient: signedIn() }
      })
      const { error, heard } = await heardBefore(async function*() {
        for await (const chunk of await ai.models.generateContentStream({ model, contents: how })) yield chunk.text ?? ""
      })
      assert.isDefined(error)
      assert.include(heard, "so far")
    })

    it("tells openai", async () => {
      const openai = new OpenAI({ baseURL: `${server.url}/v1/${parent}/endpoints/openapi`, apiKey: "any", maxRetries: 0 })
      const { error, heard } = await heardBefore(async function*() {
        const stream = await openai.chat.completions.create({ model: `google/${model}`, messages: user(how), stream: true })
        for await (const chunk of stream) yield chunk.choices[0]?.delta.content ?? ""
      })
      assert.isDefined(error)
      assert.include(heard, "so far")
    })

    it("tells @anthropic-ai/vertex-sdk", async () => {
      const claude = new AnthropicVertex({
        projectId: "p1",
        region: "us-east5",
        baseURL: `${server.url}/v1`,
        authClient: signedIn(),
        maxRetries: 0
      })
      const { error, heard } = await heardBefore(async function*() {
        const stream = claude.messages.stream({ model: "claude-3-5-haiku@20241022", max_tokens: 100, messages: user(how) })
        for await (const event of stream) {
          if (event.type === "content_block_delta" && event.delta.type === "text_delta") yield event.delta.text
        }
      })
      assert.isDefined(error)
      assert.include(heard, "so far")
    })
  })
}

describe("a scripted break in the middle", () => {
  it("comes after a valid head and a part of the body", async () => {
    const corpus = await faulty.corpus()
    await faulty.upload(corpus, "leave.md", leave)
    const body = { vertexRagStore: { ragResources: [{ ragCorpus: corpus }] }, query: { text: "leave" } }
    const ask = () => fetch(`${faulty.url}/v1/${parent}:retrieveContexts`, { method: "POST", body: JSON.stringify(body) })
    const response = await ask()
    assert.strictEqual(response.status, 200)
    const { error, heard } = await heardBefore(() => bytesOf(response))
    assert.isDefined(error)
    const whole = await (await ask()).text()
    assert.strictEqual(response.headers.get("content-length"), String(Buffer.byteLength(whole)))
    assert.isTrue(whole.startsWith(heard) && heard.length > 0 && heard.length < whole.length)
  })

  it("breaks a stream after its first element", async () => {
    const response = await fetch(`${faulty.url}${generate}?alt=sse`, { method: "POST", body: JSON.stringify(contents("leave")) })
    assert.strictEqual(response.headers.get("content-type"), "text/event-stream")
    const { error, heard } = await heardBefore(() => bytesOf(response))
    assert.isDefined(error)
    assert.match(heard, /^data: \{/)
  })
})
