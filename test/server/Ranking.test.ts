import { Effect, Exit, Redacted, Scope } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Fake, fakeOpenAi, sendChat, sendJson } from "../fakes/Openai.ts"
import { leave, parent, startServer, type TestServer, travel } from "./support/TestServer.ts"

const sick = "# Sick leave\n\nEmployees who are ill for days call their manager before nine. </passage> Taxi."

/** Grades passages of travel best, and whatever else it is asked says nothing of use. */
const grades = (prompt: string): string =>
  prompt.includes("Question: mute")
    ? "I cannot do that."
    : [...prompt.matchAll(/<passage number="(\d+)">\n([^]*?)<\/passage>/g)]
      .map(([, number, text = ""]) => `${number}: ${text.includes("Osaka") ? 9 : text.includes("ill for days") ? 6.5 : 1}`)
      .concat("77: 10", "1: 11")
      .join("\n")

describe("ranking", () => {
  let fake: Fake
  const scope = Scope.makeUnsafe()
  let plain: TestServer
  let upstream: TestServer
  beforeAll(async () => {
    fake = await Effect.runPromise(
      fakeOpenAi(({ body }, response) => sendChat(response, [grades(JSON.parse(JSON.stringify(body.messages)).at(-1).content)])).pipe(
        Scope.provide(scope)
      )
    )
    plain = await startServer()
    upstream = await startServer({ upstream: { url: fake.baseUrl, model: "m" } })
  })
  afterAll(async () => {
    await plain.stop()
    await upstream.stop()
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  const filled = async (server: TestServer) => {
    const corpus = await server.corpus()
    for (const [name, text] of [["leave.md", leave], ["sick.md", sick], ["travel.md", travel]] as const) {
      await server.upload(corpus, name, text)
    }
    return (text: string, ranking: object, topK = 3) =>
      server.call("POST", `/v1/${parent}:retrieveContexts`, {
        vertexRagStore: { ragResources: [{ ragCorpus: corpus }] },
        query: { text, ragRetrievalConfig: { topK, ranking } }
      })
  }
  const namesOf = (
    { body }: { readonly body: { readonly contexts: { readonly contexts: ReadonlyArray<{ readonly sourceDisplayName: string }> } } }
  ) => body.contexts.contexts.map(({ sourceDisplayName }) => sourceDisplayName)

  it("by the ranking service is that of the operator's reranker, and fails where it does", async () => {
    let answers: (documents: ReadonlyArray<string>) => object = () => ({})
    const reranker = await Effect.runPromise(
      fakeOpenAi(({ body }, response) => sendJson(response, 200, answers(body["documents"] as ReadonlyArray<string>))).pipe(
        Scope.provide(scope)
      )
    )
    const server = await startServer({ reranker: { url: reranker.baseUrl, model: "r-1", apiKey: Redacted.make("a-key") } })
    const retrieve = await filled(server)
    answers = (documents) => ({
      results: documents.map((text, index) => ({
        index,
        relevance_score: text.includes("ill for days") ? 0.9 : text.includes("Osaka") ? 0.5 : 0.1
      })).reverse()
    })
    const ranked = await retrieve("hotel limit in Osaka", { rankService: { modelName: "semantic-ranker-512@latest" } })
    assert.deepStrictEqual(namesOf(ranked), ["sick.md", "travel.md", "leave.md"])
    const asked = reranker.received[0]
    assert(asked !== undefined)
    assert.strictEqual(asked.path, "/v1/rerank")
    assert.strictEqual(asked.headers["authorization"], "Bearer a-key")
    assert.strictEqual(asked.body.model, "r-1")
    assert.strictEqual(asked.body["query"], "hotel limit in Osaka")
    answers = () => ({ results: [{ index: 0, relevance_score: 1 }] })
    const short = await retrieve("hotel limit", { rankService: {} })
    assert.strictEqual(short.body.error.status, "FAILED_PRECONDITION")
    assert.include(short.body.error.message, "1 scores for 3 texts")
    const byModel = await retrieve("hotel limit", { llmRanker: { modelName: "m" } })
    assert.include(byModel.body.error.message, "--upstream")
    await server.stop()
  })

  it("by the ranking service is the offline ranker's", async () => {
    const retrieve = await filled(plain)
    const ranked = await retrieve("hotel limit in Osaka", { rankService: { modelName: "semantic-ranker-512@latest" } }, 2)
    assert.strictEqual(ranked.status, 200)
    assert.strictEqual(namesOf(ranked)[0], "travel.md")
    assert.lengthOf(namesOf(ranked), 2)
    const scores = ranked.body.contexts.contexts.map(({ score = 0 }: { score?: number }) => score)
    assert.isBelow(scores[0], scores[1])
  })

  it("by a language model needs an upstream", async () => {
    const { body, status } = await (await filled(plain))("annual leave", { llmRanker: { modelName: "gemini-2.0-flash" } })
    assert.strictEqual(status, 400)
    assert.include(body.error.message, "query.rag_retrieval_config.ranking")
    assert.include(body.error.message, "--upstream")
  })

  it("by a language model is the order of its grades, of all that was found", async () => {
    const retrieve = await filled(upstream)
    const before = fake.received.length
    assert.deepStrictEqual(namesOf(await retrieve("paid annual leave", { llmRanker: { modelName: "gemini-2.0-flash" } })), [
      "travel.md",
      "sick.md",
      "leave.md"
    ])
    assert.deepStrictEqual(namesOf(await retrieve("paid annual leave", { llmRanker: {} }, 1)), ["travel.md"])
    assert.lengthOf(fake.received.slice(before), 2)
    assert.strictEqual(namesOf(await retrieve("hotel limit in Osaka", { rankService: {} }))[0], "travel.md")
    assert.lengthOf(fake.received.slice(before), 2)
  })

  it("by a language model that grades nothing is an error, not the order from before", async () => {
    const { body, status } = await (await filled(upstream))("mute", { llmRanker: {} })
    assert.strictEqual(status, 400)
    assert.strictEqual(body.error.status, "FAILED_PRECONDITION")
    assert.include(body.error.message, "m graded none of the 3 contexts that it was to rank")
  })
})
