import { assert, describe, it } from "@effect/vitest"
import type { FileChunk } from "../../src/domain/Document.ts"
import { goesOn, passageOf } from "../../src/domain/Passage.ts"

const text = "Öffnen, dann 20 µm.\nZweite Seite: 日本語のページ.\nDritte Seite, kurz.\n"
const units = (part: string): number => text.indexOf(part)
const bytes = (offset: number): number => Buffer.byteLength(text.slice(0, offset))

/** A chunk of `text` between two places; pages begin where their words say so. */
const chunk = (ordinal: number, start: number, end: number, headings: ReadonlyArray<string> = []): FileChunk => {
  const begins = [0, units("Zweite"), units("Dritte")]
  const firstPage = begins.filter((at) => at <= start).length
  const pageBreaks = begins.filter((at) => at > start && at < end).map((at) => at - start)
  return {
    ordinal,
    text: text.slice(start, end),
    headings,
    byteStart: bytes(start),
    byteEnd: bytes(end),
    tokens: 1,
    firstPage,
    lastPage: firstPage + pageBreaks.length,
    ...(pageBreaks.length === 0 ? {} : { pageBreaks })
  }
}

describe("chunks as one passage", () => {
  it.each(
    [
      ["follow", [[0, 10], [10, 30], [30, text.length]]],
      ["overlap", [[0, 26], [13, 40], [27, text.length]]],
      ["overlap by more than a chunk", [[0, 26], [2, 30], [4, 40], [6, text.length]]]
    ] as const
  )("are the text of their document where they %s, with its bytes and pages", (_, spans) => {
    const chunks = spans.map(([start, end], at) => chunk(at, start, end))
    const [first, ...others] = chunks
    assert.isTrue(others.every((next, at) => goesOn(chunks[at]!, next)))
    assert.deepStrictEqual(passageOf([first!, ...others]), {
      ordinal: 0,
      text,
      headings: [],
      byteStart: 0,
      byteEnd: Buffer.byteLength(text),
      firstPage: 1,
      lastPage: 3,
      pageBreaks: [units("Zweite"), units("Dritte")]
    })
  })

  it("keep their place where white space between them is in no chunk, and are no passage where more is missing", () => {
    const lines = [[0, units("\nZweite")], [units("Zweite"), units("\nDritte")]] as const
    const [a, b] = lines.map(([start, end], at) => chunk(at + 4, start, end))
    const passage = passageOf([a!, b!])
    assert.strictEqual(passage.text, text.slice(0, units("\nDritte")))
    assert.strictEqual(passage.ordinal, 4)
    assert.isFalse(goesOn(chunk(0, 0, 5), chunk(1, 12, 20)))
    assert.isFalse(goesOn(chunk(0, 0, 5), chunk(2, 5, 20)))
  })

  it("stand under the headings that all of them stand under, and tell no page breaks that one does not tell", () => {
    const { pageBreaks: _, ...untold } = chunk(1, 10, 30, ["A", "C"])
    const { firstPage, headings, lastPage, pageBreaks } = passageOf([chunk(0, 0, 10, ["A", "B"]), untold])
    assert.deepStrictEqual({ firstPage, headings, lastPage, pageBreaks }, {
      firstPage: 1,
      headings: ["A"],
      lastPage: 2,
      pageBreaks: undefined
    })
  })
})
