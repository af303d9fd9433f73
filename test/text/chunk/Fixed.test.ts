import { Tiktoken } from "js-tiktoken/lite"
import o200k from "js-tiktoken/ranks/o200k_base"
import { expect, it } from "vitest"
import { chunk } from "../../../src/text/chunk/Chunk.ts"
import { documentOf, paragraph } from "./Documents.ts"
import { generator } from "../Generator.ts"

it("fixed: windows of exactly size tokens, each size - overlap after the last", () => {
  const random = generator(1)
  const document = documentOf(Array.from({ length: 60 }, () => ({ kind: "paragraph" as const, text: paragraph(random) })))
  const tiktoken = new Tiktoken(o200k)
  const tokens = tiktoken.encode(document.text)
  for (const [size, overlap] of [[1024, 200], [100, 0], [100, 99], [7, 3]] as const) {
    const windows: Array<string> = []
    for (let first = 0;; first += size - overlap) {
      windows.push(tiktoken.decode(tokens.slice(first, first + size)))
      if (first + size >= tokens.length) break
    }
    const chunks = chunk(document, { strategy: "fixed", size, overlap })
    expect(chunks.map(({ text }) => text)).toEqual(windows)
  }
})
