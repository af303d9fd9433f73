import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { contentTerms } from "../../src/models/extractive/ContentTerms.ts"
import { corroborate } from "../../src/server/grounding/Corroborate.ts"
import { bounded } from "../../src/server/grounding/Cut.ts"
import { embeddingRate } from "../../src/server/import/EmbeddingRate.ts"
import { parts } from "../../src/server/upload/Multipart.ts"

describe("multipart bodies", () => {
  const boundary = "x-boundary-x"

  it("give back what was put in, whatever it is", () => {
    const content = fc.uint8Array({ maxLength: 300 }).filter((bytes) => !Buffer.from(bytes).includes(boundary))
    fc.assert(fc.property(fc.array(content, { minLength: 1, maxLength: 5 }), (contents) => {
      const body = Buffer.concat([
        ...contents.flatMap((bytes, i) => [
          Buffer.from(
            `--${boundary}\r\nContent-Disposition: form-data; name="part${i}"; filename="a \\"b\\".txt"\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n`
          ),
          Buffer.from(bytes),
          Buffer.from("\r\n")
        ]),
        Buffer.from(`--${boundary}--\r\n`)
      ])
      const found = parts(`multipart/form-data; boundary=${boundary}`, body)
      assert.deepStrictEqual(found.map(({ content }) => [...content]), contents.map((bytes) => [...bytes]))
      assert.deepStrictEqual(found.map(({ name }) => name), contents.map((_, i) => `part${i}`))
      assert.isTrue(found.every(({ fileName, type }) => fileName === "a \"b\".txt" && type === "text/plain"))
    }))
  })

  it("may have parts without headers and without content", () => {
    const found = parts(
      `multipart/related; boundary="${boundary}"`,
      Buffer.from(`preamble\r\n--${boundary}\r\n\r\nfirst\r\n--${boundary}\r\nContent-Type: a/b\r\n\r\n\r\n--${boundary}--`)
    )
    assert.deepStrictEqual(found.map(({ content }) => Buffer.from(content).toString()), ["first", ""])
  })
})

describe("corroboration", () => {
  const check = (text: string, ...facts: ReadonlyArray<string>) =>
    corroborate({ text, facts: facts.map((summary) => ({ summary })), threshold: 0.6 }, contentTerms)

  it("supports each sentence by the facts that hold its terms", () => {
    const { claims, score } = check(
      "Employees get 28 days. The office has a pool.",
      "Each employee gets 28 days of leave.",
      "Lunch is at noon."
    )
    assert.deepStrictEqual(claims.map(({ facts }) => facts), [[0], []])
    assert.isAbove(claims[0]?.score ?? 0, 0.9)
    assert.isBelow(score, 0.7)
  })

  it("does not take one number for another", () => {
    const [claim] = check("Employees get 30 days.", "Employees get 28 days.").claims
    assert.deepStrictEqual(claim?.facts, [])
  })

  it("reads languages without spaces", () => {
    const [right, wrong] = check("有給休暇は十日です。本社は大阪にある。", "有給休暇は入社から六か月後に十日付与されます。").claims
    assert.deepStrictEqual(right?.facts, [0])
    assert.deepStrictEqual(wrong?.facts, [])
  })

  it("has nothing against a text that claims nothing", () => {
    assert.deepStrictEqual(check("   ", "fact"), { score: 1, claims: [] })
    assert.deepStrictEqual(check("The cat sat.").claims.map(({ score }) => score), [0])
  })
})

describe("bounded answers", () => {
  const answer = {
    text: "First line. [1]\nSecond line. [2]",
    grounded: true,
    citations: [],
    supports: [{ start: 0, end: 11, citations: [1] }, { start: 16, end: 28, citations: [2] }],
    model: "m"
  }
  const words = (text: string) => text.split(/\s+/).length

  it("end at whole lines, with the support of what is left", () => {
    const cut = bounded(answer, { maxTokens: 4 }, words)
    assert.strictEqual(cut.text, "First line. [1]")
    assert.strictEqual(cut.supports.length, 1)
    assert.isTrue(cut.truncated)
    assert.strictEqual(bounded(answer, { maxTokens: 100 }, words), answer)
  })
})

describe("the embedding rate", () => {
  it.effect("spreads requests over minutes", () =>
    Effect.gen(function*() {
      const rate = embeddingRate(2)
      yield* rate.spend(500)
      const waiting = yield* Effect.forkChild(rate.spend(1))
      yield* TestClock.adjust("59 seconds")
      assert.isUndefined(waiting.pollUnsafe())
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(waiting)
    }))
})
