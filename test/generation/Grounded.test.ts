import { Effect, Exit, Scope } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Fake, fakeOpenAi, sendChat, startChat } from "../fakes/Openai.ts"
import { leave, parent, startServer, type TestServer } from "../server/support/TestServer.ts"
import { until } from "../support/Eventually.ts"

const said = [
  "Employees receive 28 days of annual leave [1]. ",
  "Up to five unused days may be carried over [1]. ",
  "Leave is sold at auctions."
]
const end = (response: Parameters<typeof startChat>[0]) =>
  response.end("data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")

/** Ends the answer that waits for its first words to be heard. */
let goOn: () => void = () => undefined
let fake: Fake
let server: TestServer
let corpus: string
const scope = Scope.makeUnsafe()
beforeAll(async () => {
  fake = await Effect.runPromise(
    fakeOpenAi(({ body }, response) => {
      const asked = JSON.stringify(body.messages)
      if (asked.includes("Madrid")) return sendChat(response, ["Madrid is a fine city."])
      if (asked.includes("pool")) return sendChat(response, ["NO ANSWER"])
      startChat(response, said.slice(0, 1))
      goOn = () => {
        for (const content of said.slice(1)) response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`)
        end(response)
      }
      if (asked.includes("at once")) goOn()
      if (asked.includes("for ever")) {
        const timer = setInterval(
          () => response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: said[1] } }] })}\n\n`),
          2
        )
        response.on("close", () => clearInterval(timer))
      }
    }).pipe(Scope.provide(scope))
  )
  server = await startServer({ upstream: { url: fake.baseUrl, model: "m" } })
  corpus = await server.corpus()
  await server.upload(corpus, "leave.md", leave)
})
afterAll(async () => {
  await server.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const path = `/v1/${parent}/publishers/google/models/gemini-2.0-flash-001`
const request = (text: string, generationConfig: object = {}) => ({
  contents: [{ role: "user", parts: [{ text }] }],
  tools: [{ retrieval: { vertexRagStore: { ragResources: [{ ragCorpus: corpus }] } } }],
  generationConfig
})
const generate = async (text: string, config: object = {}) =>
  (await server.call("POST", `${path}:generateContent`, request(text, config))).body.candidates[0]
const textOf = (candidate: { readonly content: { readonly parts: ReadonlyArray<{ readonly text: string }> } }) =>
  candidate.content.parts.map(({ text }) => text).join("")

describe("a grounded stream", () => {
  for (const config of [{}, { maxOutputTokens: 500 }, { stopSequences: ["auctions", "sold"] }]) {
    it(`streams with ${JSON.stringify(config)}`, async () => {
      const response = await fetch(`${server.url}${path}:streamGenerateContent?alt=sse`, {
        method: "POST",
        body: JSON.stringify(request("How much annual leave?", config))
      })
      let heard = ""
      const decoder = new TextDecoder()
      for await (const chunk of response.body ?? []) {
        heard += decoder.decode(chunk, { stream: true })
        // The rest is not sent before the first sentence has been heard.
        if (heard.includes("28 days")) goOn()
      }
      const pieces = heard.trim().split(/\r\n\r\n/).map((event) => JSON.parse(event.replace("data: ", "")).candidates[0])
      const text = pieces.map(textOf).join("")
      const whole = await generate("How much annual leave, at once?", config)
      assert.strictEqual(text, textOf(whole))
      assert.deepStrictEqual(pieces.at(-1).groundingMetadata.groundingSupports, whole.groundingMetadata.groundingSupports)
      const stopped = "stopSequences" in config
      assert.strictEqual(text.endsWith("Leave is sold at auctions [unverified]."), !stopped)
      assert.strictEqual(text.endsWith("Leave is "), stopped)
    })
  }

  it("ends at a whole statement where the tokens do", async () => {
    const candidate = await generate("How much annual leave, at once?", { maxOutputTokens: 15 })
    assert.strictEqual(textOf(candidate), "Employees receive 28 days of annual leave [1].")
    assert.strictEqual(candidate.finishReason, "MAX_TOKENS")
  })
})

describe("an upstream that goes on", () => {
  const aborted = () => until("the upstream is left", () => fake.received.at(-1)?.aborted === true)

  it("is stopped once the answer has reached its bounds, streamed or whole", async () => {
    for (const config of [{ maxOutputTokens: 30 }, { stopSequences: ["unused"] }]) {
      const whole = await generate("How much annual leave, for ever?", config)
      await aborted()
      const response = await fetch(`${server.url}${path}:streamGenerateContent?alt=sse`, {
        method: "POST",
        body: JSON.stringify(request("How much annual leave, for ever?", config))
      })
      const pieces = (await response.text()).trim().split(/\r\n\r\n/).map((event) => JSON.parse(event.replace("data: ", "")).candidates[0])
      await aborted()
      assert.strictEqual(pieces.map(textOf).join(""), textOf(whole))
      assert.include(textOf(whole), "28 days of annual leave [1].")
      assert.strictEqual(whole.finishReason, "maxOutputTokens" in config ? "MAX_TOKENS" : "STOP")
    }
  })
})

describe("an answer without evidence", () => {
  it("is told apart from a refusal, in the text and beside it", async () => {
    const unverified = await generate("What of annual leave in Madrid?")
    assert.strictEqual(textOf(unverified), "The model gave an answer, but nothing of it could be verified in the corpus.")
    assert.strictEqual(unverified.finishMessage, textOf(unverified))
    assert.deepStrictEqual(Object.keys(unverified.groundingMetadata), ["retrievalQueries"])
    const refused = await generate("Is there annual leave by the pool?")
    assert.strictEqual(textOf(refused), "The corpus does not answer this.")
    assert.isUndefined(refused.groundingMetadata)
    assert.isUndefined(refused.finishMessage)
  })
})
