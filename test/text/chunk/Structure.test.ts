import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { chunk } from "../../../src/text/chunk/Chunk.ts"
import { countTokens } from "../../../src/text/Tokens.ts"
import { generator } from "../Generator.ts"
import { anyDocument, documentOf, paragraph, type Piece, sentence } from "./Documents.ts"

const structure = (size: number, overlap = 0) => ({ strategy: "structure" as const, size, overlap })

/** A manual, of 200 pages of 500 words unless said, with a heading before every `headingEvery` paragraphs. */
const manual = (seed: number, headingEvery: number, length = 100_000): Array<Piece> => {
  const random = generator(seed)
  const pieces: Array<Piece> = []
  for (let words = 0; words < length;) {
    if (pieces.length % headingEvery === 1) pieces.push({ kind: "heading", level: 1 + random.below(3), text: sentence(random) })
    else pieces.push({ kind: "paragraph", text: paragraph(random) })
    words += pieces[pieces.length - 1]!.text.split(" ").length
  }
  return pieces
}

describe("structure", () => {
  it("never cuts a heading, table row, list item, sentence or code fence that fits", () => {
    for (let seed = 0; seed < 10; seed++) {
      const document = anyDocument(seed, 60, true)
      for (const size of [150, 400]) {
        const starts = chunk(document, structure(size)).map(({ start }) => start)
        for (const block of document.blocks) {
          const inside = starts.filter((start) => start > block.start && start < block.end)
          const text = document.text.slice(block.start, block.end)
          if (block.kind === "heading" || (block.kind === "code" && countTokens(text) < size - 2)) {
            expect([block.kind, inside]).toEqual([block.kind, []])
          }
          for (const start of inside) {
            if (block.kind === "table" || block.kind === "list" || block.kind === "code") {
              expect(document.text[start - 1]).toBe("\n")
            } else expect(document.text.slice(block.start, start).trimEnd()).toMatch(/\.$/)
          }
        }
      }
    }
  })

  it("never cuts inside a word that fits", () => {
    const words =
      "reStructuredText PyObject_AsReadBuffer __future__ e.g. 2.1.2 don't 1234567 XMLHttpRequest wasip1 naïveté นโยบายความเป็นส่วนตัว 休暇申請 l'été CC0-1.0"
        .split(" ")
    const segments = new Intl.Segmenter("en", { granularity: "word" })
    for (let seed = 0; seed < 6; seed++) {
      const random = generator(seed)
      const { blocks, text } = anyDocument(seed, 12)
      const document = documentOf(blocks.map((block) => ({
        ...block,
        text: text.slice(block.start, block.end).replace(/ /g, () => ` ${random.pick(words)} `)
      })))
      const whole = [...segments.segment(document.text)].filter(({ isWordLike }) => isWordLike === true)
      for (const size of [8, 25, 60]) {
        const cuts = chunk(document, structure(size, seed % 3)).map(({ start }) => start)
        const cut = whole.filter(({ index, segment }) => cuts.some((at) => at > index && at < index + segment.length))
        expect(cut.filter(({ segment }) => countTokens(segment) <= size)).toEqual([])
      }
    }
  })

  it("keeps a heading with the first word after it only where both fit", () => {
    const heading = "Supercalifragilistic considerations"
    const word = "pneumonoultramicroscopicsilicovolcanoconiosis"
    const document = documentOf([
      { kind: "heading", level: 1, text: heading },
      { kind: "paragraph", text: `${word} is an illness of which one dies only after it was spelt. ${sentence(generator(1))}` }
    ])
    const size = Math.max(2 * countTokens(heading), countTokens(word)) + 1
    expect(countTokens(`${heading}\n\n${word}`)).toBeGreaterThan(size)
    const chunks = chunk(document, structure(size))
    for (const { tokens } of chunks) expect(tokens).toBeLessThanOrEqual(size)
    expect(chunks.map(({ text }) => text).filter((text) => text.includes(word))).toHaveLength(1)
  })

  it("never leaves a heading at the end of a chunk", () => {
    for (let seed = 0; seed < 5; seed++) {
      const document = documentOf(manual(seed, 4).slice(0, 400))
      for (const chunking of [structure(300), structure(300, 60), structure(1024)]) {
        for (const { end } of chunk(document, chunking)) {
          const last = document.blocks.findLast((block) => block.start < end)
          expect(last?.kind).toBe(last === document.blocks.at(-1) ? last?.kind : "paragraph")
        }
      }
    }
  })

  it("cuts long paragraphs at sentence ends, Chinese and Japanese too", () => {
    const text = Array.from({ length: 80 }, (_, i) => `第${i}条は休暇の申請について定める。本当に${i}日必要ですか?`).join("")
    const chunks = chunk(documentOf([{ kind: "paragraph", text }]), structure(200))
    expect(chunks.length).toBeGreaterThan(5)
    for (const item of chunks) expect(item.text).toMatch(/[。?]$/)
  })

  it("starts with the whole sentences before it, up to the overlap", () => {
    const document = documentOf(manual(5, 1e9).slice(0, 300))
    const chunks = chunk(document, structure(400, 80))
    let overlapped = 0
    chunks.forEach((item, i) => {
      if (i === 0) return
      const shared = document.text.slice(item.start, chunks[i - 1]!.end)
      expect(countTokens(shared)).toBeLessThanOrEqual(80)
      if (shared === "") return
      overlapped++
      expect(document.text.slice(0, item.start).trimEnd()).toMatch(/\.$/)
    })
    expect(overlapped / chunks.length).toBeGreaterThan(0.8)
  })

  it("fills chunks well", () => {
    const chunks = chunk(documentOf(manual(6, 20)), structure(400))
    const mean = chunks.reduce((sum, { tokens }) => sum + tokens, 0) / chunks.length
    expect(mean).toBeGreaterThan(240)
    expect(chunks.filter(({ tokens }) => tokens < 80).length / chunks.length).toBeLessThan(0.01)
  })

  for (const headingEvery of [10, 1e9]) {
    it(`changes at most 3 chunks for a paragraph of 200 pages, a heading every ${headingEvery} blocks`, () => {
      const pieces = manual(headingEvery, headingEvery)
      for (const chunking of [structure(400), structure(1024, 200)]) {
        const before = new Set(chunk(documentOf(pieces), chunking).map(({ text }) => text))
        const random = generator(chunking.size)
        for (let edit = 0; edit < 15; edit++) {
          const edited = [...pieces]
          const at = random.below(edited.length)
          const fresh: Piece = { kind: "paragraph", text: paragraph(random) }
          edited.splice(at, edit % 3 === 0 ? 0 : 1, ...(edit % 3 === 1 ? [] : [fresh]))
          const changed = chunk(documentOf(edited), chunking).filter(({ text }) => !before.has(text))
          expect(changed.length).toBeLessThanOrEqual(3)
        }
      }
    })
  }

  it("cuts elsewhere than between what leads up to a listing and the listing", () => {
    const random = generator(11)
    const pieces = Array.from(
      { length: 200 },
      (_, i): Piece =>
        i % 5 === 3
          ? { kind: "paragraph", text: `Run this for the ${i}th time:` }
          : i % 5 === 4
          ? { kind: "code", text: `run --number ${i}\nrun --again` }
          : { kind: "paragraph", text: paragraph(random) }
    )
    const chunks = chunk(documentOf(pieces), structure(400))
    expect(chunks.length).toBeGreaterThan(10)
    for (const { text } of chunks) expect(text.trimEnd()).not.toMatch(/:$/)
  })

  it("changes only chunks around an edit, and hardly ever more than 3, whatever is edited", () => {
    let edits = 0
    let more = 0
    fc.assert(
      fc.property(
        fc.record({
          seed: fc.integer({ min: 1, max: 1_000 }),
          headingEvery: fc.constantFrom(6, 15, 1e9),
          chunking: fc.constantFrom(structure(200), structure(400), structure(400, 80)),
          place: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
          edit: fc.constantFrom("insert", "delete", "replace", "sentence")
        }),
        ({ chunking, edit, headingEvery, place, seed }) => {
          const random = generator(seed)
          const pieces = manual(seed, headingEvery, 5_000)
          const at = Math.floor(place * pieces.length)
          const old = pieces[at]!
          const fresh: Piece = edit === "sentence"
            ? { ...old, text: `${old.text} ${sentence(random)}` }
            : { kind: "paragraph", text: paragraph(random) }
          const edited = pieces.toSpliced(at, edit === "insert" ? 0 : 1, ...(edit === "delete" ? [] : [fresh]))
          const document = documentOf(edited)
          const before = new Set(chunk(documentOf(pieces), chunking).map(({ text }) => text))
          const changed = chunk(document, chunking).filter(({ text }) => !before.has(text))
          edits++
          if (changed.length > 3) more++
          expect(changed.length).toBeLessThanOrEqual(5)
          const begin = document.blocks[Math.min(at, edited.length - 1)]!.start
          for (const { end, start } of changed) {
            const between = start > begin ? document.text.slice(begin, start) : document.text.slice(end, Math.max(end, begin))
            expect(countTokens(between)).toBeLessThan(3 * chunking.size)
          }
        }
      ),
      { numRuns: 250, seed: 4 }
    )
    // Where an edit makes a cut go or come, two chunks are cut anew, and about twice in 1,000 edits 4 come of them.
    expect(more / edits).toBeLessThan(0.01)
  })
})
