import { assert, describe, it } from "@effect/vitest"
import { leftOut, type Outcome, variedBy } from "../../bench/answers/Vary.ts"
import { RagFileName } from "../../src/domain/RagFile.ts"
import type { Context } from "../../src/domain/Retrieval.ts"

const contexts: ReadonlyArray<Context> = [{
  chunkId: "leave",
  file: RagFileName.make("corpora/c/ragFiles/leave"),
  sourceUri: "file:///leave.md",
  sourceDisplayName: "leave.md",
  text: "Everyone has 28 working days of paid leave a year.",
  headings: ["Leave"],
  score: 1
}]

const outcome = (corpus: string, grounded: boolean): Outcome => ({
  asked: { corpus, kind: "near-subject", question: "How many?", half: "tuning" },
  contexts,
  answer: { text: "", grounded, citations: [], supports: [], model: "extractive" },
  milliseconds: 0
})

describe("a constant of answers varied", () => {
  it("answers with each of the values", async () => {
    const answerers = variedBy("minConfidence=0,1")
    assert.deepStrictEqual(answerers.map(({ name }) => name), ["minConfidence 0", "minConfidence 1"])
    const answers = await Promise.all(answerers.map(({ answer }) => answer("How many days of paid leave does everyone have?", contexts)))
    assert.deepStrictEqual(answers.map(({ grounded }) => grounded), [true, false])
  })

  it.each(["depth=1", "minConfidence", "minConfidence=", "minConfidence=1,much"])("refuses %s", (vary) => {
    assert.throws(() => variedBy(vary), /--vary must be NAME=NUMBER,NUMBER….*minConfidence/)
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
