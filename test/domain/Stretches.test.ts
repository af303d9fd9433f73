import { assert, describe, it } from "@effect/vitest"
import { RagFileName } from "../../src/domain/RagFile.ts"
import type { Context } from "../../src/domain/Retrieval.ts"
import { chunkOver, stretchesOf } from "../../src/domain/Stretches.ts"

const bytes = (text: string): number => Buffer.byteLength(text)

/** Chunks of one file, one after the other. */
const chunks = (name: string, texts: ReadonlyArray<string>, more: (at: number) => Partial<Context> = () => ({})): Array<Context> => {
  let byteStart = 0
  return texts.map((text, at) => {
    const context = {
      chunkId: `${name}.${at}`,
      file: RagFileName.make(`corpora/c/ragFiles/${name}`),
      sourceUri: `file:///${name}`,
      sourceDisplayName: name,
      text,
      headings: [],
      score: 1,
      byteStart,
      byteEnd: byteStart + bytes(text),
      ...more(at)
    }
    byteStart += bytes(text)
    return context
  })
}

const idsOf = (contexts: ReadonlyArray<Context>): ReadonlyArray<ReadonlyArray<string>> =>
  stretchesOf(contexts).stretches.map(({ chunks }) => chunks.map(({ context }) => context.chunkId))

const [a, b, , d] = chunks("a.md", ["Größe:\n\n", "one\n\n", "two\n\n", "three"]) as [Context, Context, Context, Context]

describe("contexts that follow each other in their file", () => {
  it("are one text, in whatever order they were found; what lies apart, or is of another file, is not", () => {
    const [other] = chunks("b.md", ["Other"]) as [Context]
    const { places, stretches } = stretchesOf([d, other, b, a])
    assert.deepStrictEqual(idsOf([d, other, b, a]), [["a.md.3"], ["b.md.0"], ["a.md.0", "a.md.1"]])
    assert.deepStrictEqual(places, [
      { stretch: 0, offset: 0 },
      { stretch: 1, offset: 0 },
      { stretch: 2, offset: a.text.length },
      { stretch: 2, offset: 0 }
    ])
    assert.strictEqual(stretches[2]!.text, "Größe:\n\none\n\n")
  })

  it("stay apart where they overlap, where one was cut short, and where their bytes are not known", () => {
    assert.deepStrictEqual(idsOf([a, { ...b, byteStart: b.byteStart! - 2 }]), [["a.md.0"], ["a.md.1"]])
    assert.deepStrictEqual(idsOf([{ ...a, text: "Größe" }, b]), [["a.md.0"], ["a.md.1"]])
    const { byteStart: _, ...unknown } = b
    assert.deepStrictEqual(idsOf([a, unknown]), [["a.md.0"], ["a.md.1"]])
  })

  it("hold a chunk that was found twice once in each", () => {
    assert.deepStrictEqual(idsOf([b, b, a]), [["a.md.1"], ["a.md.0", "a.md.1"]])
  })

  it("are one context over a span: from where it begins, to the page where it ends", () => {
    const pages = chunks("p.pdf", ["first ", "second third ", "fourth"], (at) =>
      [
        { firstPage: 3, lastPage: 3, pageBreaks: [] },
        { firstPage: 4, lastPage: 5, pageBreaks: [7] },
        { firstPage: 5, lastPage: 5, pageBreaks: [] }
      ][at]!)
    const [stretch] = stretchesOf(pages).stretches
    const within = chunkOver(stretch!, 7, 10)
    assert.deepStrictEqual([within.offset, within.context], [6, pages[1]])
    const { context, offset } = chunkOver(stretch!, 2, stretch!.text.length)
    assert.strictEqual(offset, 0)
    assert.strictEqual(context.text, "first second third fourth")
    assert.deepStrictEqual([context.firstPage, context.lastPage, context.pageBreaks], [3, 5, [6, 13]])
    assert.deepStrictEqual([context.byteStart, context.byteEnd], [0, 25])
    const untold = stretchesOf(pages.map(({ pageBreaks: _, ...page }) => page)).stretches[0]!
    assert.isUndefined(chunkOver(untold, 0, 25).context.pageBreaks)
    assert.strictEqual(chunkOver(untold, 0, 25).context.lastPage, 5)
  })
})
