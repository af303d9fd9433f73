import { Effect, Exit, Scope } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { exchangesFromWire } from "../../src/wire/rag/Grounding.ts"
import { type Fake, fakeOpenAi, sendChat } from "../fakes/Openai.ts"
import { parent, startServer, type TestServer } from "../server/support/TestServer.ts"

const says = (role: string, ...texts: ReadonlyArray<string>) => ({ role, parts: texts.map((text) => ({ text })) })

describe("what was said before the last turn", () => {
  it("is read as exchanges: all that a person said in a row, with the answer to it", () => {
    const contents = [
      says("model", "Welcome."),
      says("user", "Hello.", " Anyone?"),
      says("user", "How many days?"),
      { role: "model", parts: [{ text: "Let me think.", thought: true }, { text: "28 " }] },
      says("model", "days."),
      { role: "user", parts: [{ functionResponse: { name: "f", response: {} } }] },
      says("model", "Well."),
      says("user", "And in Osaka?")
    ]
    const question = "Hello. Anyone?\nHow many days?"
    assert.deepStrictEqual(exchangesFromWire({ contents }), [{ question, standalone: question, answer: "28 days." }])
    assert.deepStrictEqual(exchangesFromWire({ contents: [says("user", "Hello")] }), [])
    assert.deepStrictEqual(exchangesFromWire({}), [])
  })
})

/** A question of Tokyo that leans on one of Osaka. */
const conversation = [
  says("user", "What is the hotel limit in Osaka?"),
  says("model", "150 euros a night [1]."),
  says("user", "And in Tokyo?")
]

describe("a conversation over a corpus", () => {
  let fake: Fake
  let server: TestServer
  let bare: TestServer
  const scope = Scope.makeUnsafe()
  beforeAll(async () => {
    fake = await Effect.runPromise(
      fakeOpenAi(({ body }, response) =>
        sendChat(response, [
          String(body.messages[0]?.content).startsWith("You rewrite")
            ? "What is the hotel limit in Tokyo?"
            : "It is 180 euros [1 \"Tokyo is 180 euros\"]."
        ])
      ).pipe(Scope.provide(scope))
    )
    server = await startServer({ upstream: { url: fake.baseUrl, model: "m" } })
    bare = await startServer()
  })
  afterAll(async () => {
    await server.stop()
    await bare.stop()
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  const ask = async (of: TestServer, contents: ReadonlyArray<object>, method = "generateContent") => {
    const corpus = await of.corpus("hotels")
    await of.upload(corpus, "osaka.md", "The hotel limit in Osaka is 150 euros a night.")
    await of.upload(corpus, "tokyo.md", "The hotel limit in Tokyo is 180 euros a night.")
    const { body, status } = await of.call("POST", `/v1/${parent}/publishers/google/models/gemini-2.0-flash:${method}`, {
      contents,
      tools: [{ retrieval: { vertexRagStore: { ragResources: [{ ragCorpus: corpus }], ragRetrievalConfig: { topK: 1 } } } }]
    })
    assert.strictEqual(status, 200, JSON.stringify(body))
    const last = Array.isArray(body) ? body.at(-1) : body
    const { groundingChunks = [], retrievalQueries } = last.candidates[0].groundingMetadata ?? {}
    return {
      queries: retrievalQueries,
      titles: groundingChunks.map((chunk: { retrievedContext: { title: string } }) => chunk.retrievedContext.title)
    }
  }

  it("searches what a follow-up means, by the model where there is one", async () => {
    const before = fake.received.length
    const found = { queries: ["What is the hotel limit in Tokyo?"], titles: ["tokyo.md"] }
    assert.deepStrictEqual(await ask(server, conversation), found)
    assert.include(fake.received[before]?.body.messages.at(-1)?.content, "Q: What is the hotel limit in Osaka?\nA: 150 euros a night [1].")
    assert.deepStrictEqual(await ask(server, conversation, "streamGenerateContent"), found)
  })

  it("carries the subject over where there is no model, and asks nobody about a single turn", async () => {
    const { queries, titles } = await ask(bare, conversation)
    assert.deepStrictEqual([queries, titles], [["What is the hotel limit in Tokyo?"], ["tokyo.md"]])
    const before = fake.received.length
    await ask(server, [says("user", "What is the hotel limit in Tokyo?")])
    assert.lengthOf(fake.received.slice(before), 1)
  })
})
