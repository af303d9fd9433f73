import type { Chunking } from "../../domain/Chunking.ts"
import type { Chunk, ParsedDocument } from "../../domain/Document.ts"
import type { DocumentPart } from "../Prepared.ts"
import { TokenIndex } from "../Tokens.ts"
import { fixedSpans } from "./Fixed.ts"
import { HeadingPath, locate } from "./Locate.ts"
import type { Span } from "./Span.ts"
import { structureSpans } from "./Structure.ts"

export { TokenIndex }

/**
 * Cuts a document into chunks, in order. Every character of the text is in at least one chunk, each chunk's text is exactly
 * `text.slice(start, end)`, and no chunk has more than `size` tokens, unless a single character has. The same document and chunking always
 * give the same chunks. A text of only white space gives none.
 */
export const chunk = (document: ParsedDocument, chunking: Chunking): Array<Chunk> =>
  chunkParts(chunking)({ document, start: 0, byteStart: 0 })

/**
 * Chunks a document that comes in parts: call the returned function with each in order. Chunks are numbered and placed in the text of all
 * parts, under the headings of the earlier parts too.
 */
export const chunkParts = (chunking: Chunking): (part: DocumentPart) => Array<Chunk> => {
  const place = placeParts()
  return (part) => {
    const { document } = part
    if (document.text.trim() === "") return []
    const tokens = new TokenIndex(document.text)
    return place(part, spans[chunking.strategy](document, tokens, chunking), tokens)
  }
}

/** Makes chunks of spans, ascending in start and in end, of a document that comes in parts. */
export const placeParts = (): (part: DocumentPart, spans: ReadonlyArray<Span>, tokens: TokenIndex) => Array<Chunk> => {
  const headings = new HeadingPath()
  let count = 0
  return ({ byteStart, document, start }, spans, tokens) => {
    const chunks = locate(document, spans, tokens, headings)
    if (start > 0) {
      for (const [at, one] of chunks.entries()) {
        chunks[at] = {
          ...one,
          ordinal: count + at,
          start: one.start + start,
          end: one.end + start,
          byteStart: one.byteStart + byteStart,
          byteEnd: one.byteEnd + byteStart
        }
      }
    }
    count += chunks.length
    return chunks
  }
}

const spans: Record<
  Chunking["strategy"],
  (document: ParsedDocument, tokens: TokenIndex, chunking: Chunking) => Array<Span>
> = {
  fixed: fixedSpans,
  structure: structureSpans
}
