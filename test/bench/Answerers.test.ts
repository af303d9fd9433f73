import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { citedIn, extractive, servedBy } from "../../bench/answers/Answerers.ts"
import { RagFileName } from "../../src/domain/RagFile.ts"
import type { Context } from "../../src/domain/Retrieval.ts"
import { fakeOpenAi, sendChat } from "../fakes/Openai.ts"

const contexts: ReadonlyArray<Context> = [{
  chunkId: "leave",
  file: RagFileName.make("corpora/c/ragFiles/leave"),
  sourceUri: "file:///leave.md",
  sourceDisplayName: "leave.md",
  text: "Everyone has 28 working days of paid leave a year.",
  headings: ["Leave"],
  score: 1
}]
const question = "How many days of paid leave does everyone have?"

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
    const answer = await extractive.answer(question, contexts)
    assert.isTrue(answer.grounded)
    const { invented, shown } = citedIn([{ answer, contexts }])
    assert.deepStrictEqual({ invented, shown }, { invented: 0, shown: 1 })
  })

  it("refuses what names no model", () => {
    assert.throws(() => servedBy("http://127.0.0.1:1/v1"), /URL#MODEL/)
  })
})
