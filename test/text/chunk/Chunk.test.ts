import { describe, expect, it } from "vitest"
import type { Chunking } from "../../../src/domain/Chunking.ts"
import type { Chunk, ParsedDocument } from "../../../src/domain/Document.ts"
import { chunk } from "../../../src/text/chunk/Chunk.ts"
import { countTokens } from "../../../src/text/Tokens.ts"
import { cpuTime } from "../../support/CpuTime.ts"
import { anyDocument, documentOf } from "./Documents.ts"

const chunkings: ReadonlyArray<Chunking> = (["fixed", "structure"] as const).flatMap((strategy) =>
  [[1024, 200], [400, 0], [120, 119], [64, 16], [16, 0], [5, 2]].map(([size, overlap]) => ({
    strategy,
    size: size!,
    overlap: overlap!
  }))
)

const awkward: ReadonlyArray<ParsedDocument> = [
  documentOf([{ kind: "paragraph", text: "x".repeat(3_000) }]),
  documentOf([{ kind: "paragraph", text: "漢字".repeat(700) }]),
  documentOf([{ kind: "paragraph", text: "👩‍👩‍👧‍👦".repeat(150) }]),
  documentOf([{ kind: "paragraph", text: `a${"\u0301".repeat(400)}` }]),
  documentOf([{ kind: "code", text: `f(${" ".repeat(2_000)})${"\n".repeat(500)}end` }]),
  documentOf([{ kind: "heading", level: 1, text: "long heading ".repeat(300).trim() }]),
  documentOf(Array.from({ length: 60 }, (_, i) => ({ kind: "heading" as const, level: 1 + (i % 6), text: `Heading ${i}` }))),
  { text: " \n\n  leading space, no blocks at all  \n", blocks: [], format: "test" },
  { text: "  \n indented", blocks: [{ kind: "code", start: 4, end: 12 }], format: "test" },
  documentOf([{ kind: "table", text: Array.from({ length: 300 }, () => "0 | 0 | 0").join("\n") }])
]

const documents = [...awkward, ...Array.from({ length: 6 }, (_, seed) => anyDocument(seed, 40))]

const cuts = documents.flatMap((document) => chunkings.map((chunking) => ({ document, chunking, chunks: chunk(document, chunking) })))

/** Runs a check on every chunking of every document; `expect` a million times over would take a minute. */
const each = (check: (document: ParsedDocument, chunking: Chunking, chunks: ReadonlyArray<Chunk>) => void): void => {
  for (const { chunking, chunks, document } of cuts) check(document, chunking, chunks)
}

const fail = (...facts: ReadonlyArray<unknown>): never => {
  throw new Error(JSON.stringify(facts))
}

describe("chunk", () => {
  it("covers every character, in order, with exact spans", () => {
    each(({ text }, chunking, chunks) => {
      let end = 0
      let start = -1
      chunks.forEach((item, i) => {
        if (item.ordinal !== i || item.text !== text.slice(item.start, item.end)) fail(chunking, item)
        // Begins where the last one ended or before, goes further, and begins further on.
        if (item.start > end || item.end <= end || item.start <= start) fail(chunking, start, end, item)
        if (chunking.overlap === 0 && item.start !== end) fail(chunking, end, item)
        end = item.end
        start = item.start
      })
      expect(end).toBe(text.length)
    })
  })

  it("counts tokens as they are, and never over the size but for one character", () => {
    each((_document, chunking, chunks) => {
      for (const item of chunks) {
        if (item.tokens !== countTokens(item.text)) fail(chunking, item)
        if (item.tokens > chunking.size && [...item.text].length > 1) fail(chunking, item)
      }
    })
  })

  it("cuts between characters", () => {
    each((_document, _chunking, chunks) => {
      for (const item of chunks) if (!item.text.isWellFormed()) fail(item)
    })
    const family = chunk(awkward[2]!, { strategy: "fixed", size: 64, overlap: 16 })
    expect(family.every(({ text }) => /^(👩‍👩‍👧‍👦)+$/u.test(text))).toBe(true)
  })

  it("gives UTF-8 offsets", () => {
    each((document, _chunking, chunks) => {
      const bytes = Buffer.from(document.text)
      for (const item of chunks) if (bytes.toString("utf8", item.byteStart, item.byteEnd) !== item.text) fail(item)
    })
  })

  it("names the pages its blocks are on", () => {
    each(({ blocks }, chunking, chunks) => {
      const paged = blocks.some(({ page }) => page !== undefined)
      for (const item of chunks) {
        const pages = blocks.flatMap(({ end, page, start }) => start < item.end && end > item.start && page !== undefined ? [page] : [])
        if (pages.length === 0 && paged === (item.firstPage === undefined)) fail(chunking, item)
        if (pages.length > 0 && (item.firstPage !== pages[0] || item.lastPage !== pages.at(-1))) fail(chunking, item, pages)
      }
    })
  })

  it("says where in it each page begins", () => {
    each(({ blocks }, chunking, chunks) => {
      for (const item of chunks) {
        const { firstPage, lastPage, pageBreaks = [] } = item
        if (firstPage === undefined || lastPage === undefined) continue
        if (pageBreaks.length !== lastPage - firstPage) fail(chunking, item)
        for (const { end, page, start } of blocks) {
          if (page === undefined || start < item.start || end > item.end || end === start) continue
          if (firstPage + pageBreaks.filter((at) => at <= start - item.start).length !== page) fail(chunking, item)
        }
      }
    })
  })

  it("carries the headings above it, outermost first", () => {
    const heading = (text: string, level: number) => ({ kind: "heading" as const, text, level })
    const body = { kind: "paragraph" as const, text: "word ".repeat(40).trim() }
    const document = documentOf([
      body,
      heading("Guide", 1),
      body,
      heading("Install", 2),
      heading("Linux", 3),
      body,
      heading("Use", 2),
      body,
      heading("x".repeat(1_000), 1),
      body
    ])
    const paths = chunk(document, { strategy: "structure", size: 50, overlap: 0 }).map(({ headings, text }) =>
      [text.split("\n", 1)[0]!.slice(0, 7), ...headings.map((name) => name.slice(0, 300))].join(" < ")
    )
    expect(paths.slice(0, 4)).toEqual(["word wo", "Guide", "Install < Guide", "Use < Guide"])
    expect(paths.at(-1)).toBe(`word wo < ${"x".repeat(200)}`)
  })

  it("says the same each time", () => {
    for (const chunking of chunkings) expect(chunk(anyDocument(3, 60), chunking)).toEqual(chunk(anyDocument(3, 60), chunking))
  })

  it("takes time linear in any text", () => {
    const begin = cpuTime()
    for (const run of ["a", " ", "\n", "\n\n", "A b. ", "- x\n", "👍"]) {
      const text = run.repeat(40_000 / run.length) + "x"
      for (const kind of ["paragraph", "list", "code"] as const) {
        for (const strategy of ["fixed", "structure"] as const) {
          chunk({ text, blocks: [{ kind, start: 0, end: text.length }], format: "text" }, { strategy, size: 1024, overlap: 200 })
        }
      }
    }
    // Quadratic, each of these takes half a minute.
    expect(cpuTime() - begin).toBeLessThan(12_000)
  })

  it("gives nothing for nothing", () => {
    for (const text of ["", " \n\t "]) {
      for (const chunking of chunkings) expect(chunk({ text, blocks: [], format: "text" }, chunking)).toEqual([])
    }
  })
})
