import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Context } from "../../src/domain/Retrieval.ts"
import { RagFileName } from "../../src/domain/RagFile.ts"
import { make } from "../../src/models/LexicalRanker.ts"

const context = (id: string, text: string, score: number, headings: ReadonlyArray<string> = []): Context => ({
  chunkId: id,
  file: RagFileName.make("corpora/c/ragFiles/f"),
  sourceUri: "file:///f",
  sourceDisplayName: "f",
  text,
  headings,
  score
})
const order = (query: string, contexts: ReadonlyArray<Context>) =>
  make().rank(query, contexts).pipe(Effect.map((ranked) => ranked.map(({ chunkId }) => chunkId)))

const far = "heat was lost at the wall, and long after the end of the run a slow transfer began"
const close = "measurements of heat transfer at the wall"

describe("LexicalRanker", () => {
  it.effect("prefers terms that stand together, and headings that name them, among near equals", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(
        yield* order("heat transfer", [context("far", far, 5.1), context("close", close, 5), context("low", "heat", 0)]),
        ["close", "far", "low"]
      )
      assert.deepStrictEqual(
        yield* order("heat transfer", [
          context("plain", close, 5.05),
          context("headed", close, 5, ["Heat transfer"]),
          context("low", "heat", 0)
        ]),
        ["headed", "plain", "low"]
      )
      assert.deepStrictEqual(
        yield* order("热 传导系数", [
          context("far", "传导很慢，系数不明。", 5.05),
          context("close", "传导系数很高。", 5),
          context("low", "热", 0)
        ]),
        ["close", "far", "low"]
      )
    }))

  it.effect("does not overturn what retrieval is sure of", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(
        yield* order("heat transfer", [context("sure", far, 9), context("close", close, 3), context("low", "heat", 2)]),
        ["sure", "close", "low"]
      )
    }))

  it.effect("drops none, invents none, keeps ties, and gives scores that agree with the order", () =>
    Effect.gen(function*() {
      const contexts = Array.from({ length: 30 }, (_, at) => context(String(at), at % 3 === 0 ? close : far, 5 - (at % 2)))
      const ranked = yield* make().rank("heat transfer", contexts)
      assert.deepStrictEqual(new Set(ranked.map(({ chunkId }) => chunkId)), new Set(contexts.map(({ chunkId }) => chunkId)))
      ranked.slice(1).forEach((each, at) => {
        const before = ranked[at]!
        assert.isTrue(before.score > each.score || (before.score === each.score && Number(before.chunkId) < Number(each.chunkId)))
      })
      for (const query of ["", "the of and", "zebra"]) {
        assert.deepStrictEqual(yield* order(query, contexts.slice(0, 1)), ["0"])
        assert.strictEqual((yield* order(query, contexts)).length, 30)
      }
    }))

  it.effect("explains where a context came from, when explanations are wanted", () =>
    Effect.gen(function*() {
      const explanation = { analyzer: "en", terms: [], sparse: 1, cosine: 0, normalizedSparse: 1, normalizedDense: 0, alpha: 0, fused: 1 }
      const ranked = yield* make().rank("heat transfer", [
        context("far", far, 5.1),
        { ...context("close", close, 5), explanation },
        context("low", "heat", 0)
      ])
      assert.strictEqual(ranked[0]!.explanation?.ranked?.from, 1)
      assert.strictEqual(ranked[0]!.explanation?.ranked?.score, ranked[0]!.score)
      assert.isUndefined(ranked[1]!.explanation)
    }))
})
