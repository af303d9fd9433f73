import { assert, describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { compare, dropped } from "../../src/pipeline/eval/Comparison.ts"
import type { Evaluation } from "../../src/pipeline/eval/Evaluation.ts"
import { chanceOf, estimate, quantile } from "../../src/pipeline/eval/Statistics.ts"
import { evaluationJUnit, evaluationMarkdown } from "../../src/cli/render/Evaluation.ts"
import { Pipeline } from "../../src/index.ts"
import { faultySource, isolatedEngine } from "../../src/Testing.ts"

const texts = {
  "leave.md": "# Leave\n\nFive unused days of annual leave carry over into the next year.\n",
  "travel/hotels.md": "# Hotels\n\nThe hotel limit in Osaka is 150 euros a night.\n",
  "batteries.txt": "A damaged lithium cell stays in the quarantine cage for fourteen days.\n"
}

const carryOver = { question: "How many unused days of annual leave carry over?" }

const evaluated = (tests: ReadonlyArray<object>) =>
  Effect.gen(function*() {
    const pipeline = Pipeline.make("handbook", {
      corpus: { displayName: "Handbook" },
      sources: { docs: faultySource(texts).source },
      tests: tests as never // held by the schema
    })
    yield* pipeline.run
    return yield* pipeline.evaluate()
  }).pipe(Effect.provide(isolatedEngine()))

describe("evaluate", () => {
  it.live("holds files, contexts, answer, citations and refusals against what is expected", () =>
    Effect.gen(function*() {
      const { failed, measures, passed, results, documents } = yield* evaluated([
        {
          ...carryOver,
          files: [{ path: "leave.md", rank: 1 }],
          contexts: ["Five  unused\ndays"],
          answer: { contains: ["FIVE"], matches: "carry\\s+over" },
          cites: ["leave.md"]
        },
        { question: "Who won the cup in 1954?", refused: true },
        {
          id: "wrong",
          question: "What is the hotel limit in Osaka?",
          files: ["leave.md", { path: "travel/hotels.md", rank: 1 }],
          answer: { contains: ["200 euros"] },
          cites: ["leave.md"]
        },
        {
          id: "refusal",
          question: "How long does a damaged lithium cell stay in the quarantine cage?",
          refused: true,
          files: ["nowhere.md"]
        }
      ])
      assert.deepStrictEqual([passed, failed], [2, 2])
      assert.deepStrictEqual(results.map(({ passed }) => passed), [true, true, false, false])
      const wrong = results[2]!.checks.filter((check) => !check.passed)
      assert.deepStrictEqual(wrong.map(({ kind }) => kind).filter((kind) => kind !== "file"), ["answer", "citation"])
      assert.include(wrong.find(({ kind }) => kind === "answer")?.found, "150 euros")
      assert.match(wrong.find(({ kind }) => kind === "citation")?.found ?? "", /^travel\/hotels\.md is cited$/)
      const nowhere = results[3]!.checks
      assert.match(nowhere.find(({ kind }) => kind === "file")?.found ?? "", /^not among the first 100 contexts: batteries\.txt/)
      assert.include(nowhere.find(({ kind }) => kind === "refusal")?.found, "fourteen days")
      assert.deepInclude(measures.answerRight, { mean: 0.5, n: 2 })
      assert.deepInclude(measures.refusedRight, { mean: 0.5, n: 2 })
      assert.deepInclude(measures.refusedFalse, { mean: 0, n: 2 })
      assert.deepInclude(measures.contextRecall, { mean: 1, low: 1, high: 1, n: 1 })
      assert.sameMembers(Object.keys(documents), Object.keys(texts))
    }))

  it.live("a pipeline without tests, or without a generate stage for those of answers, says so", () =>
    Effect.gen(function*() {
      const none = yield* Effect.flip(evaluated([]))
      assert.deepInclude(none, { _tag: "ServiceError", code: "FAILED_PRECONDITION" })
      assert.match(String(none), /has no tests/)
    }))

  it("refuses a test that expects nothing, contradicts itself, has a wrong pattern or an id twice", () => {
    const broken = (tests: ReadonlyArray<object>) => {
      try {
        Pipeline.make("p", { corpus: { displayName: "P" }, sources: {}, tests: tests as never })
        return ""
      } catch (error) {
        return String(error)
      }
    }
    assert.match(broken([{ question: "a" }]), /needs at least one of files, contexts, answer, cites or refused/)
    assert.match(broken([{ question: "a", refused: true, cites: ["b"] }]), /a refusal says and cites nothing/)
    assert.match(broken([{ question: "a", answer: { matches: "(" } }]), /tests\[0\]\.answer\.matches\s+must be a regular expression/)
    assert.match(broken([{ question: "a", refused: true }, { question: "a", refused: true }]), /two tests have the same id/)
    assert.strictEqual(broken([{ question: "a", refused: true }, { question: "a", principal: "user:ann@acme.com", refused: true }]), "")
  })
})

describe("comparison", () => {
  const of = (passed: ReadonlyArray<boolean>, documents: Record<string, string> = {}): Evaluation => ({
    version: 1,
    pipeline: "p",
    started: 0,
    passed: passed.filter(Boolean).length,
    failed: passed.filter((each) => !each).length,
    measures: {},
    latency: { p50: 1, p95: 2 },
    documents,
    results: passed.map((each, at) => ({
      id: `q${at}`,
      question: `q${at} <&> | "`,
      passed: each,
      files: ["leave.md"],
      milliseconds: 5,
      measures: { answerRight: Number(each), refusedFalse: 0 },
      checks: [{ kind: "answer", expected: "five", passed: each, found: each ? undefined : "six\u0000 ]]>" }]
    }))
  })

  it("names what was fixed and broken with the documents that changed, and tells noise from a change", () => {
    const few = compare(
      of([true, true, false, true], { "leave.md": "a", "other.md": "a" }),
      of([true, false, true, true], { "leave.md": "b", "other.md": "c" })
    )
    assert.deepStrictEqual(few.tests, [{ id: "q1", change: "broken", documents: ["leave.md"] }, {
      id: "q2",
      change: "fixed",
      documents: ["leave.md"]
    }])
    assert.isFalse(few.measures[0]?.significant)
    const all = Array.from({ length: 20 }, () => true)
    const many = compare(of(all), of(all.map((_, at) => at > 8)))
    assert.deepInclude(many.measures[0], { measure: "answerRight", before: 1, after: 0.55, significant: true, worse: true })
    assert.deepStrictEqual(dropped(many, 0.4).map(({ measure }) => measure), ["answerRight"])
    assert.deepStrictEqual(dropped(many, 0.5), [])
    assert.deepStrictEqual(compare(of([true]), of([true, false])).tests, [{ id: "q1", change: "added", documents: [] }])
    assert.deepStrictEqual(compare(of([true, true]), of([true])).tests, [{ id: "q1", change: "removed", documents: [] }])
  })

  it("is written as JUnit and Markdown whatever the texts hold", () => {
    const xml = evaluationJUnit(of([true, false]))
    assert.match(xml, /<testsuites tests="2" failures="1" errors="0" time="0\.010">/)
    assert.include(xml, "<failure message=\"answer: expected five, found six ]]&#62;\">")
    assert.notInclude(xml, "\u0000")
    const text = evaluationMarkdown(of([true, false]), compare(of([true, true]), of([true, false])))
    assert.match(text, /^### p: 1 of 2 tests failed\n/)
    assert.include(text, "| broken | q1 |")
  })
})

describe("statistics", () => {
  it("intervals hold the mean, narrow with more values, and are the same every time", () => {
    const few = estimate([0, 1, 1, 0, 1])!
    const many = estimate(Array.from({ length: 500 }, (_, at) => Number(at % 5 > 1)))!
    assert.isTrue(few.low <= few.mean && few.mean <= few.high)
    assert.isBelow(many.high - many.low, few.high - few.low)
    // Of a share of .6 in 500: 1.96 standard errors are .043.
    expect(many.high - many.low).toBeCloseTo(0.086, 1)
    assert.deepStrictEqual(estimate([0, 1, 1, 0, 1]), few)
    assert.isUndefined(estimate([]))
  })

  it("chance is what turning signs says", () => {
    assert.strictEqual(chanceOf([0, 0]), 1)
    // Both signs of five equal differences: 2 of 32.
    expect(chanceOf([1, 1, 1, 1, 1])).toBeCloseTo(2 / 32, 1)
    assert.isAbove(chanceOf([1, -1, 1, -1]), 0.5)
    assert.strictEqual(quantile([3, 1, 2], 0.5), 2)
  })
})
