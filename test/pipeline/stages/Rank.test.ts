import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { compose, generate, Pipeline, rankBy, retrieve, type Retrieved, ServiceError, type Stage } from "../../../src/index.ts"
import { faultySource, isolatedEngine, testContexts } from "../../../src/Testing.ts"

const explanation = { analyzer: "en", terms: [], sparse: 1, cosine: 0, normalizedSparse: 1, normalizedDense: 0, alpha: 0, fused: 1 }
const contexts = testContexts([{ text: "short", explanation }, { text: "longest of all" }, { text: "longer", explanation }])
const input = { question: "?", contexts }

describe("rankBy", () => {
  it.effect("orders by the scores of a function, and says where each came from", () =>
    Effect.gen(function*() {
      const stage = rankBy((_, contexts) => Effect.succeed(contexts.map(({ text }) => text.length)))
      const output = yield* stage(input)
      assert.deepStrictEqual(output.contexts.map(({ explanation, score, text }) => [text, score, explanation?.ranked]), [
        ["longest of all", 14, undefined],
        ["longer", 6, { score: 6, from: 2 }],
        ["short", 5, { score: 5, from: 0 }]
      ])
      const equal = yield* rankBy((_, contexts) => Effect.succeed(contexts.map(() => 0)))(input)
      assert.deepStrictEqual(equal.contexts.map(({ chunkId }) => chunkId), ["1", "2", "3"])
    }))

  it.effect("takes a Ranker, whose scores stay", () =>
    Effect.gen(function*() {
      const output = yield* rankBy({
        rank: (_, contexts) => Effect.succeed(contexts.toReversed().map((context, at) => ({ ...context, score: 9 - at })))
      })(input)
      assert.deepStrictEqual(output.contexts.map(({ explanation, score }) => [score, explanation?.ranked]), [
        [9, { score: 9, from: 2 }],
        [8, undefined],
        [7, { score: 7, from: 0 }]
      ])
    }))

  it.effect("refuses what is no order of the contexts", () =>
    Effect.gen(function*() {
      const refused = (stage: Stage<Retrieved, Retrieved, ServiceError>) =>
        Effect.map(Effect.flip(stage(input)), ({ code, message }) => `${code} ${message}`)
      assert.deepStrictEqual(
        yield* Effect.all([
          refused(rankBy(() => Effect.succeed([1, 2]))),
          refused(rankBy(() => Effect.succeed([1, 2, Number.NaN]))),
          refused(rankBy(() => Effect.succeed(undefined as never))),
          refused(rankBy({ rank: (_, contexts) => Effect.succeed(contexts.slice(1)) })),
          refused(rankBy({ rank: (_, [first, second]) => Effect.succeed([first!, second!, second!]) }))
        ]),
        [
          "FAILED_PRECONDITION the ranker of rankBy gave 2 scores for 3 contexts",
          "FAILED_PRECONDITION the ranker of rankBy gave NaN for context 3 of 3",
          "FAILED_PRECONDITION the ranker of rankBy gave no scores for 3 contexts",
          "FAILED_PRECONDITION the ranker of rankBy was given 3 contexts, and gave 2 that are not the same ones",
          "FAILED_PRECONDITION the ranker of rankBy was given 3 contexts, and gave 3 that are not the same ones"
        ]
      )
      const failing = rankBy(() => Effect.fail(new ServiceError({ code: "UNAVAILABLE", message: "asleep" })))
      assert.deepInclude(yield* Effect.flip(failing(input)), { code: "UNAVAILABLE" })
    }))

  it.live("is a stage of a pipeline, before an answer or at the end", () =>
    Effect.gen(function*() {
      const source = faultySource({
        "a.md": "# Leave\n\nFive days of leave carry over.\n",
        "b.md": "# Leave in Japan\n\nSix days of leave carry over.\n"
      })
      const last = rankBy((_, contexts) => Effect.succeed(contexts.map(({ sourceDisplayName }) => sourceDisplayName === "b.md" ? 1 : 0)))
      const options = { corpus: { displayName: "Ranked" }, sources: { docs: source.source } }
      const answering = Pipeline.make("ranked", { ...options, stages: compose(retrieve(), last, generate()) })
      const finding = Pipeline.make("ranked", { ...options, stages: compose(retrieve(), last) })
      yield* Effect.gen(function*() {
        yield* answering.run
        for (const pipeline of [answering, finding]) {
          const { contexts } = yield* pipeline.retrieve("How many days of leave carry over?", { explain: true })
          assert.strictEqual(contexts[0]?.sourceDisplayName, "b.md")
          assert.deepStrictEqual(contexts[0]?.explanation?.ranked?.score, 1)
        }
      }).pipe(Effect.provide(isolatedEngine()))
    }))
})
