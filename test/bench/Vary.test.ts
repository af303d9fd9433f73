import { assert, describe, it } from "@effect/vitest"
import { extractives } from "../../bench/answers/Answerers.ts"
import { leftOut, type Outcome, variedBy } from "../../bench/answers/Vary.ts"
import { contexts, question } from "./support/Leave.ts"

const outcome = (corpus: string, grounded: boolean): Outcome => ({
  asked: { corpus, kind: "near-subject", question: "How many?", half: "tuning" },
  contexts,
  answer: { text: "", grounded, citations: [], supports: [], model: "extractive" },
  milliseconds: 0
})

describe("a constant of answers varied", () => {
  it("answers with each of the values", async () => {
    const answerers = variedBy("minConfidence=0,1", await extractives(undefined))
    assert.deepStrictEqual(answerers.map(({ name }) => name), ["minConfidence 0", "minConfidence 1"])
    const answers = await Promise.all(answerers.map(({ answer }) => answer(question, contexts)))
    assert.deepStrictEqual(answers.map(({ grounded }) => grounded), [true, false])
  })

  it.each(["depth=1", "minConfidence", "minConfidence=", "minConfidence=1,much"])("refuses %s", async (vary) => {
    const extractive = await extractives(undefined)
    assert.throws(() => variedBy(vary, extractive), /--vary must be NAME=NUMBER,NUMBER….*minConfidence/)
  })

  it("answers each corpus by the value that is best for the others", () => {
    // The first value refuses what two corpora ask, the second what the third asks.
    const ways = [[true, true, false], [false, false, true]].map((refused) => refused.map((one, at) => outcome(String(at), !one)))
    assert.deepStrictEqual(leftOut(ways).map(({ answer, asked }) => [asked.corpus, !answer.grounded]), [["0", true], ["1", true], [
      "2",
      false
    ]])
  })
})
