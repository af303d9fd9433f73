import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { local } from "../../../connectors/index.ts"
import { compose, diversify, type DiversifyOptions, Pipeline, retrieve } from "../../../src/index.ts"
import { isolatedEngine, type TestContext, testContexts } from "../../../src/Testing.ts"
import { tempFolder, write } from "../../support/TempFolder.ts"
import { manualFiles, pump } from "./support/Manual.ts"

/** The numbers of the contexts that are kept, from 0, and what each is the same as. */
const kept = (contexts: ReadonlyArray<string | TestContext>, options?: DiversifyOptions) => {
  const given = testContexts(contexts.map((context) => typeof context === "string" ? { text: context } : context))
  return Effect.map(
    diversify(options)({ question: "?", contexts: given }),
    ({ contexts }) =>
      contexts.map(({ alsoIn, chunkId }) => [Number(chunkId) - 1, ...(alsoIn ?? []).map(({ chunkId }) => Number(chunkId) - 1)])
  )
}

const leave = "Five unused days of annual leave carry over into the next year, and lapse at the end of March unless the manager agrees."
const japan = leave.replace("Five", "Six").replace("annual leave", "annual leave in Japan")
const travel = "Travel above 2000 euros is approved by the head of the department before anything is booked."
const vpn = "The VPN needs a key that the help desk hands out in person."

describe("diversify", () => {
  it.effect("leaves out what repeats what is taken before, and keeps order and scores", () =>
    Effect.gen(function*() {
      const contexts = testContexts([leave, japan, travel, vpn].map((text, at) => ({ text, score: 1 - at / 10 })))
      const input = { question: "?", principal: "user:ann@acme.com", contexts }
      const stage = diversify({ topK: 3 })
      const output = yield* stage(input)
      // The second one is the next best, and says nearly the same as the first.
      assert.deepStrictEqual(output, { ...input, contexts: [contexts[0]!, contexts[2]!, contexts[3]!] })
      assert.deepStrictEqual(yield* stage(input), output)
      assert.deepStrictEqual(yield* kept([leave, japan, travel, vpn], { topK: 2, lambda: 1 }), [[0], [1]])
      assert.deepStrictEqual(yield* kept([leave, japan, travel, vpn], { topK: 2, lambda: 0 }).pipe(Effect.map((all) => all[0])), [0])
      assert.deepStrictEqual(yield* kept([]), [])
      assert.deepStrictEqual(yield* kept(["", "", "?"]), [[0, 1], [2]])
      assert.deepStrictEqual((yield* kept(Array.from({ length: 12 }, (_, at) => `${vpn} ${at} ${travel}`))).length, 10)
    }))

  it.effect("takes for the same text what says no other word, wherever it was cut and whatever its pages add", () =>
    Effect.gen(function*() {
      const html = `${leave} ${travel}`
      const header = html.replace(" and lapse", " Employee handbook 12 and lapse").replace("approved", "ap-\nproved")
      assert.deepStrictEqual(yield* kept([html, { text: header, firstPage: 12, lastPage: 12, file: "a.pdf" }]), [[0, 1]])
      assert.deepStrictEqual(yield* kept([{ text: header, firstPage: 12, lastPage: 12, file: "a.pdf" }, html]), [[0, 1]])
      assert.deepStrictEqual(yield* kept([html, html.slice(40).toUpperCase()]), [[0, 1]])
      // What is not from pages says something that the other does not say.
      assert.deepStrictEqual(yield* kept([html, header]), [[0], [1]])
      assert.deepStrictEqual(yield* kept([html, html.replace("carry over", "do not carry over")]), [[0], [1]])
      // Nor is one the other in which a word stands in the place of another, on pages or not.
      const other = html.replace("2000", "3000")
      assert.deepStrictEqual(yield* kept([html, { text: other, firstPage: 1, lastPage: 1 }]), [[0], [1]])
      // A part is in the whole, and the whole is not in a part.
      assert.deepStrictEqual(yield* kept([html, leave]), [[0, 1]])
      assert.deepStrictEqual(yield* kept([leave, html]), [[0], [1]])
      const kanji = "未使用の年次有給休暇は五日まで翌年に繰り越すことができ、三月末に失効する。"
      assert.deepStrictEqual(yield* kept([kanji, { text: kanji.replace("翌年", "翌\n年"), firstPage: 1 }, kanji.replace("五", "六")]), [[
        0,
        1
      ], [2]])
    }))

  it.live("keeps one of a manual's formats, which says where the others are", () =>
    Effect.scoped(Effect.gen(function*() {
      const folder = yield* tempFolder
      write(folder, manualFiles(pump))
      const pipeline = Pipeline.make("manuals", {
        corpus: { displayName: "Manuals" },
        sources: { docs: local(folder) },
        chunking: { size: 128, overlap: 24 },
        stages: compose(retrieve({ topK: 30 }), diversify())
      })
      yield* Effect.gen(function*() {
        assert.strictEqual((yield* pipeline.run).totals.added, 3)
        const { contexts } = yield* pipeline.retrieve("How often is the shaft seal changed?")
        // Four windows of each format, which begin at different words.
        assert.deepStrictEqual(
          contexts.map(({ alsoIn = [], sourceDisplayName }) =>
            [sourceDisplayName, ...alsoIn.map((other) => other.sourceDisplayName)].toSorted()
          ),
          Array.from({ length: 4 }, () => ["manual.epub", "manual.html", "manual.pdf"])
        )
        assert.isTrue(contexts.every(({ alsoIn = [], file }) => alsoIn.every((other) => other.file !== file)))
        assert.include(contexts[0]?.text, "8000 hours")
      }).pipe(Effect.provide(isolatedEngine()))
    })))
})
