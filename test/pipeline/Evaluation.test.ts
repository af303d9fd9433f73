import { assert, describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { compare, dropped } from "../../src/pipeline/eval/Comparison.ts"
import type { Evaluation } from "../../src/pipeline/eval/Evaluation.ts"
import { chanceOf, estimate, quantile } from "../../src/pipeline/eval/Statistics.ts"
import { evaluationJUnit, evaluationMarkdown, renderEvaluation } from "../../src/cli/render/Evaluation.ts"
import { Pipeline } from "../../src/index.ts"
import { faultySource, isolatedEngine } from "../../src/Testing.ts"
import { fakeOpenAi, type Received, sendChat, sendJson } from "../fakes/Openai.ts"

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
      assert.sameMembers(Object.keys(documents), [...Object.keys(texts), "nowhere.md"])
      assert.strictEqual(documents["nowhere.md"], "")
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
    assert.match(broken([{ question: "a", refused: true, cites: ["b"] }]), /a refusal has no answer and no citations/)
    assert.match(broken([{ question: "a", answer: { matches: "(" } }]), /tests\[0\]\.answer\.matches\s+must be a regular expression/)
    assert.match(broken([{ question: "a", refused: true }, { question: "a", refused: true }]), /two tests have the same id/)
    assert.strictEqual(broken([{ question: "a", refused: true }, { question: "a", principal: "user:ann@acme.com", refused: true }]), "")
    const asked = (principal: unknown) => broken([{ question: "a", refused: true }, { question: "a", principal, refused: true }])
    assert.strictEqual(asked(["user:ann@acme.com", "group:eng"]), "")
    assert.strictEqual(asked([]), "")
    assert.match(asked(["user:ann@acme.com", ""]), /tests\[1\]\.principal\[1\]\s+must not be empty/)
    assert.match(asked(5), /tests\[1\]\.principal\s+must be/)
  })
})

describe("a judge", () => {
  const hotels = "What is the hotel limit in Osaka?"
  const cells = "How long does a damaged lithium cell stay in the quarantine cage?"

  /** The tests of a pipeline whose judge writes this of a question; nothing refuses it. */
  const judgedBy = (says: (request: Received) => string | undefined, tests: ReadonlyArray<object>) =>
    Effect.gen(function*() {
      const { baseUrl, received } = yield* fakeOpenAi((request, response) => {
        const said = says(request)
        if (said === undefined) sendJson(response, 400, { error: { message: "no such <model> here" } })
        else sendChat(response, [said])
      })
      const pipeline = Pipeline.make("handbook", {
        corpus: { displayName: "Handbook" },
        sources: { docs: faultySource(texts).source },
        tests: tests as never, // held by the schema
        judge: { model: { openai: { url: baseUrl, model: "judge-1" } } }
      })
      return yield* Effect.gen(function*() {
        yield* pipeline.run
        const evaluation = yield* pipeline.evaluate()
        const calls = received.length
        const without = yield* pipeline.evaluate({ judge: false })
        assert.lengthOf(received, calls)
        return { evaluation, received, without }
      }).pipe(Effect.provide(isolatedEngine()))
    }).pipe(Effect.scoped)

  const asked = ({ body }: Received) => body.messages.at(-1)?.content ?? ""

  it.live("is set beside the exact checks, decides where there are none, and is counted where it says nothing", () =>
    Effect.gen(function*() {
      const { evaluation, received } = yield* judgedBy(
        (request) =>
          asked(request).includes("annual leave") || asked(request).includes("Osaka")
            ? "RIGHT"
            : asked(request).includes("broken")
            ? undefined
            : asked(request).includes("unsure")
            ? "It depends."
            : "WRONG",
        [
          { ...carryOver, answer: { contains: ["five"], means: "Up to five." } },
          { id: "strict", question: hotels, answer: { contains: ["200 euros"] } },
          { id: "cells", question: cells, answer: { means: "A week." } },
          { id: "broken", question: cells, answer: { means: "broken" } },
          { id: "unsure", question: cells, answer: { contains: ["fourteen"], means: "unsure" } },
          { question: "Who won the cup in 1954?", refused: true },
          { id: "searched", question: hotels, contexts: ["150 euros"] }
        ]
      )
      // Nothing is judged of which no answer is expected.
      assert.lengthOf(received, 5)
      assert.isTrue(received.every(({ body }) => body["temperature"] === 0))
      assert.include(received.map(asked).find((text) => text.includes("Up to five.")), "Five unused days of annual leave carry over")
      // The exact check fails `strict` though the judge does not; a judge that fails or says nothing fails no test.
      assert.deepStrictEqual(evaluation.results.map(({ passed }) => passed), [true, false, false, true, true, true, true])
      assert.deepInclude(evaluation.results[2]?.checks[0], { kind: "judgement", expected: "A week.", passed: false })
      assert.include(evaluation.results[2]?.checks[0]?.found, "fourteen days")
      assert.deepStrictEqual(evaluation.results[3]?.checks, [])
      assert.deepInclude(evaluation.measures.judgedRight, { n: 3 })
      expect(evaluation.measures.judgedRight?.mean).toBeCloseTo(2 / 3)
      const { agreement, ...judge } = evaluation.judge!
      assert.deepStrictEqual(judge, {
        model: "judge-1",
        right: 2,
        wrong: 1,
        agreed: 1,
        failed: 1,
        unclear: 1,
        notAsked: 0,
        tokens: { input: 48, output: 20, untold: 1 }
      })
      assert.deepInclude(agreement, { mean: 0.5, n: 2 })

      const shown = renderEvaluation(evaluation, { paint: (_, text) => text, width: 200 })
      assert.match(shown, /^judged right +0\.667 .* 3$/m)
      assert.match(shown, /^strict +wrong +right +The hotel limit in Osaka is 150 euros/m)
      assert.match(shown, /^cells +judgement: A week\. +A damaged lithium cell/m)
      assert.match(
        shown,
        /^judge judge-1: 2 right, 1 wrong; agrees with the exact checks on 1 of 2 \(0\.500, 0\.000 to 1\.000\); 48 tokens in, 20 out \(1 call told none\)$/m
      )
      assert.match(shown, /^not judged: 1 failed, 1 without a verdict in what it wrote \(INVALID_ARGUMENT: .*no such <model> here.*\)$/m)
      const markdown = evaluationMarkdown(evaluation)
      assert.match(markdown, /^\| strict \| wrong \| right \| The hotel limit/m)
      assert.match(markdown, /^judge judge-1: 2 right, 1 wrong; agrees with the exact checks on 1 of 2 \(0\.500/m)
      assert.match(markdown, /^not judged: 1 failed, .*no such &lt;model> here/m)
    }))

  it.live("that fails again and again is not asked any more, and one that is left out is not asked at all", () =>
    Effect.gen(function*() {
      const tests = Array.from({ length: 30 }, (_, at) => ({ id: `t${at}`, question: hotels, answer: { contains: ["150 euros"] } }))
      const { evaluation, received, without } = yield* judgedBy(() => undefined, tests)
      // Four are asked at once, so a few more are under way when the fifth fails.
      assert.isBelow(received.length, 10)
      assert.deepInclude(evaluation, { passed: 30, failed: 0 })
      assert.strictEqual(evaluation.judge?.failed, received.length)
      assert.strictEqual(evaluation.judge?.notAsked, 30 - received.length)
      assert.deepStrictEqual([evaluation.judge?.agreement, evaluation.measures.judgedRight], [undefined, undefined])
      assert.deepInclude(without, { passed: 30, failed: 0 })
      assert.isUndefined(without.judge)
    }))

  it.live("is needed by tests that only it can tell, and must be a model", () =>
    Effect.gen(function*() {
      const none = yield* Effect.flip(evaluated([{ ...carryOver, answer: { means: "Five." } }]))
      assert.deepInclude(none, { _tag: "ServiceError", code: "FAILED_PRECONDITION" })
      assert.match(String(none), /handbook names no judge/)
      assert.throws(
        () => Pipeline.make("p", { corpus: { displayName: "P" }, sources: {}, judge: { model: "extractive" } }),
        /judge\.model\s+extractive calls no model/
      )
      const hosted = Pipeline.make("p", { corpus: { displayName: "P" }, sources: {}, judge: { model: "gemini-2.0-flash-001" } })
      assert.match(
        String(yield* Effect.flip(Effect.provide(hosted.run, isolatedEngine()))),
        /judge\.model\s+the embedded engine has no hosted models/
      )
      const overridden = Pipeline.make("p", {
        corpus: { displayName: "P" },
        sources: {},
        judge: { model: { openai: { url: "http://127.0.0.1:9/v1", model: "m" } } },
        engines: { embedded: { judge: { model: "gemini-2.0-flash-001" } } }
      })
      assert.match(
        String(yield* Effect.flip(Effect.provide(overridden.run, isolatedEngine()))),
        /engines\.embedded\.judge\.model\s+the embedded/
      )
    }))
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
    // Which files are found depends on the settings too: what one side alone looked for was not edited by that.
    assert.deepStrictEqual(compare(of([true], { "leave.md": "a" }), of([false], {})).tests[0]?.documents, [])
    assert.deepStrictEqual(compare(of([true], { "leave.md": "a" }), of([false], { "leave.md": "" })).tests[0]?.documents, ["leave.md"])
    assert.deepStrictEqual(compare(of([true]), of([true, false])).tests, [{ id: "q1", change: "added", documents: [] }])
    const judged = (model: string, right: number): Evaluation => ({
      ...of([true]),
      results: of([true]).results.map((result) => ({ ...result, measures: { judgedRight: right } })),
      judge: { model, right, wrong: 1 - right, agreed: 0, failed: 0, unclear: 0, notAsked: 0, tokens: { input: 0, output: 0, untold: 0 } }
    })
    assert.deepInclude(compare(judged("a", 1), judged("a", 0)).measures[0], { measure: "judgedRight", worse: true })
    assert.deepStrictEqual(compare(judged("a", 1), judged("b", 0)).measures, [], "judges differ")
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
    assert.strictEqual(quantile([1, 2], 0.5), 1)
    assert.strictEqual(quantile(Array.from({ length: 20 }, (_, at) => at + 1), 0.95), 19)
  })
})
