import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import type { Answer, Citation } from "../../../src/domain/Answer.ts"
import { RagFileName } from "../../../src/domain/RagFile.ts"
import { withFileOffsets } from "../../../src/pipeline/stages/FileOffsets.ts"
import { TextPool } from "../../../src/text/TextPool.ts"

/** The pool of processes, and the names of the files that it was asked to look through. */
const watched = (looked: Array<string>): Layer.Layer<TextPool> =>
  Layer.effect(
    TextPool,
    Effect.map(TextPool, (pool) =>
      TextPool.of({
        ...pool,
        locate: (locating) => {
          looked.push(locating.name)
          return pool.locate(locating)
        }
      }))
  ).pipe(Layer.provide(TextPool.layer({ size: 1 })))

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "sluice-offsets-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** As the parsed text has it: without marks, behind paragraphs of `filler` characters. */
const quote = "Five unused days carry over."
const written = "Five **unused** days carry over."

const cited = (path: string, filler: number): Citation => ({
  index: 1,
  file: RagFileName.make("ragCorpora/1/ragFiles/1"),
  sourceUri: pathToFileURL(path).href,
  sourceDisplayName: "leave.md",
  chunkId: "1",
  quote,
  byteStart: filler,
  byteEnd: filler + quote.length,
  offsets: "parsed"
})

const answerOf = (...citations: ReadonlyArray<Citation>): Answer => ({ text: "", grounded: true, citations, supports: [], model: "test" })

describe("the bytes of a file that a citation has", () => {
  it.live("are found in this thread where the file is small, and by the text pool where it is not", () =>
    Effect.gen(function*() {
      const path = yield* folder
      const paragraphs = (count: number): string => Array.from({ length: count }, (_, at) => `Rule ${at} is kept by all.\n\n`).join("")
      const files = [["small.md", 20], ["large.md", 4_000]] as const
      const looked: Array<string> = []
      const citations = files.map(([name, count]) => {
        writeFileSync(join(path, name), `${paragraphs(count)}${written}\n`)
        return cited(join(path, name), Buffer.byteLength(paragraphs(count)))
      })
      const gone = cited(join(path, "gone.md"), 0)
      const found = yield* withFileOffsets(answerOf(...citations, gone)).pipe(Effect.provide(watched(looked)))
      assert.deepStrictEqual(looked, ["large.md"])
      files.forEach(([name], at) => {
        const citation = found.citations[at]
        assert.strictEqual(citation?.offsets, "file", name)
        assert.strictEqual(readFileSync(join(path, name)).toString("utf8", citation?.byteStart, citation?.byteEnd), written)
      })
      assert.deepStrictEqual(found.citations[2], gone)
    }).pipe(Effect.scoped))

  it.live("are looked for once in the same content, and again in another", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, "large.md")
      const filler = "Rules of the pool are kept by all.\n\n".repeat(1_200)
      const looked: Array<string> = []
      const citation = cited(path, filler.length)
      const ask = withFileOffsets(answerOf(citation)).pipe(Effect.map(({ citations }) => citations[0]))
      const [first, again, changed, other] = yield* Effect.gen(function*() {
        writeFileSync(path, `${filler}${written}\n`)
        const first = yield* ask
        const again = yield* ask
        writeFileSync(path, `${filler}**${quote}**\n`)
        const changed = yield* ask
        writeFileSync(path, `${filler}Nothing carries over.\n`)
        return [first, again, changed, yield* ask]
      }).pipe(Effect.provide(watched(looked)))
      assert.strictEqual(looked.length, 3)
      assert.strictEqual(first?.offsets, "file")
      assert.deepStrictEqual(again, first)
      assert.deepStrictEqual([changed?.byteStart, changed?.byteEnd], [filler.length + 2, filler.length + 2 + quote.length])
      assert.deepStrictEqual(other, citation)
    }).pipe(Effect.scoped))

  it.live("stay those of the parsed text where the pool cannot look", () =>
    Effect.gen(function*() {
      const path = join(yield* folder, "large.md")
      writeFileSync(path, `${quote}\n${"x".repeat(40_000)}\n`)
      const citation = cited(path, 0)
      const none = TextPool.layer({ limits: { bytes: 10 } })
      assert.deepStrictEqual((yield* withFileOffsets(answerOf(citation)).pipe(Effect.provide(none))).citations, [citation])
    }).pipe(Effect.scoped))
})
