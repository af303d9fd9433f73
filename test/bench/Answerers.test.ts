import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { keptContexts, openCorpus } from "../../bench/answers/Corpora.ts"
import { citedIn, extractives, servedBy } from "../../bench/answers/Answerers.ts"
import { fakeOpenAi, sendChat, sendJson } from "../fakes/Openai.ts"
import { contexts, question } from "./support/Leave.ts"

describe("the answerers of the bench", () => {
  it.live("a model answers through its server, and what it invents is counted and not shown", () =>
    Effect.gen(function*() {
      const fake = yield* fakeOpenAi((_, response, count) =>
        sendChat(response, [
          count === 0
            ? "You have 28 working days [1 \"28 working days of paid leave\"]. The pool opens at nine [7 \"opens at nine\"]."
            : "There are 40 days of leave on the moon [3 \"40 days\"]."
        ])
      )
      const model = servedBy(`${fake.baseUrl}#chat`)
      const answered = yield* Effect.promise(() => model.answer(question, contexts))
      const invented = yield* Effect.promise(() => model.answer(question, contexts))
      yield* Effect.promise(model.close)
      assert.strictEqual(model.name, "chat")
      assert.strictEqual(fake.received[0]?.body.model, "chat")
      assert.deepStrictEqual(answered.citations.map(({ quote }) => quote), ["28 working days of paid leave"])
      const cited = citedIn([{ answer: answered, contexts }, { answer: invented, contexts }])
      assert.strictEqual(cited.invented, 0)
      assert.isAbove(cited.unknown, 0)
      assert.strictEqual(cited.unverified, invented.unverified === undefined ? 0 : 1)
      assert.strictEqual(citedIn([{ answer: answered, contexts: [] }]).invented, 1)
    }))

  it("without a model, citations are to the letter", async () => {
    const extractive = await extractives(undefined)
    const answer = await extractive("extractive").answer(question, contexts)
    assert.isTrue(answer.grounded)
    const { invented, shown } = citedIn([{ answer, contexts }])
    assert.deepStrictEqual({ invented, shown }, { invented: 0, shown: 1 })
  })

  it.live("contexts are found by a server's vectors and put in its reranker's order, and kept for another run", () =>
    Effect.gen(function*() {
      // Vectors know whether a text is about leave, and the reranker likes what is shortest.
      const fake = yield* fakeOpenAi(({ body, path }, response) =>
        sendJson(
          response,
          200,
          path.endsWith("/rerank")
            ? {
              results: (body["documents"] as ReadonlyArray<string>).map((text, index) => ({ index, relevance_score: 1 / text.length }))
            }
            : {
              data: body.input.map((text, index) => ({ index, embedding: /leave/i.test(text) ? [1, 0, 0, 0] : [0, 1, 0, 0] })),
              usage: { prompt_tokens: 1, total_tokens: 1 }
            }
        )
      )
      const workspace = mkdtempSync(join(tmpdir(), "sluice-answerers-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(workspace, { recursive: true, force: true })))
      const models = { embedding: `${fake.baseUrl}#vectors`, rank: `${fake.baseUrl}#order` }
      const found = yield* Effect.acquireUseRelease(
        Effect.promise(() => openCorpus("handbook", "", workspace, models)),
        (corpus) => Effect.promise(() => corpus.search(question)),
        (corpus) => Effect.promise(corpus.close)
      )
      assert.isAbove(found.length, 5)
      assert.deepStrictEqual([...found].sort((a, b) => b.score - a.score), [...found])
      assert.isAbove(fake.received.filter(({ body, path }) => path.endsWith("/embeddings") && body.model === "vectors").length, 2)
      const [asked, ...others] = fake.received.filter(({ path }) => path.endsWith("/rerank"))
      assert.deepStrictEqual([others.length, asked?.body.model, asked?.body["query"]], [0, "order", question])

      const file = join(workspace, "contexts.json")
      const first = keptContexts(file, models)
      first.keep("handbook", question, found)
      first.write()
      assert.deepStrictEqual(keptContexts(file, models).of("handbook", question), JSON.parse(JSON.stringify(found)))
      assert.isUndefined(keptContexts(file, {}).of("handbook", question))
    }))

  it("refuses what names no model", () => {
    assert.throws(() => servedBy("http://127.0.0.1:1/v1"), /URL#MODEL/)
  })
})
