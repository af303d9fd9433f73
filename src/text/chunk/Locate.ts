import type { Block, Chunk, ParsedDocument } from "../../domain/Document.ts"
import type { TokenIndex } from "../Tokens.ts"
import type { Span } from "./Span.ts"

/** Makes chunks of spans (ascending in start and in end) with text, tokens, byte offsets, pages and the headings above. */
export const locate = (
  { blocks, text }: ParsedDocument,
  spans: ReadonlyArray<Span>,
  tokens: TokenIndex,
  headings: HeadingPath
): Array<Chunk> => {
  const bytes = byteOffsets(text, spans)
  headings.enter(text, blocks)
  const pages = new PageRange(blocks)
  return spans.map(({ end, start }, ordinal) => ({
    ordinal,
    text: text.slice(start, end),
    headings: headings.at(start),
    start,
    end,
    byteStart: bytes.get(start)!,
    byteEnd: bytes.get(end)!,
    ...pages.of(start, end),
    tokens: tokens.count(start, end)
  }))
}

/** UTF-8 offset of both ends of every span, in one pass over the text. */
const byteOffsets = (text: string, spans: ReadonlyArray<Span>): Map<number, number> => {
  const offsets = new Map<number, number>()
  const ends = new Uint32Array(spans.length * 2)
  spans.forEach(({ end, start }, i) => {
    ends[2 * i] = start
    ends[2 * i + 1] = end
  })
  let at = 0
  let bytes = 0
  for (const offset of ends.sort()) {
    bytes += Buffer.byteLength(text.slice(at, offset))
    at = offset
    offsets.set(offset, bytes)
  }
  return offsets
}

/** Most UTF-16 units of a heading that chunks carry: what a document marks as a heading can be a page of text. */
const longestHeading = 200

/** The headings above a position. To be asked about ascending positions of one text after the other. */
export class HeadingPath {
  #text = ""
  #headings: ReadonlyArray<Block> = []
  #next = 0
  #open: Array<{ readonly level: number; readonly text: string }> = []
  #path: ReadonlyArray<string> = []

  /** Starts the next text, below the headings that the one before ended with. */
  enter(text: string, blocks: ReadonlyArray<Block>): void {
    this.#openTo(Infinity)
    this.#text = text
    this.#headings = blocks.filter((block) => block.kind === "heading")
    this.#next = 0
  }

  /** The headings above `offset`. A heading that starts at `offset` is in the chunk, not above it. */
  at(offset: number): ReadonlyArray<string> {
    this.#openTo(offset)
    const following = this.#headings[this.#next]
    const startsHere = following !== undefined && this.#text.slice(offset, following.start).trim() === ""
    if (!startsHere || this.#open.length === 0) return this.#path
    const above = this.#open.filter((open) => open.level < level(following)).length
    return this.#path.slice(0, above)
  }

  #openTo(offset: number): void {
    const first = this.#next
    for (; this.#next < this.#headings.length; this.#next++) {
      const heading = this.#headings[this.#next]!
      if (heading.start >= offset) break
      const { end, start } = heading
      this.#open = this.#open.filter((open) => open.level < level(heading))
      this.#open.push({ level: level(heading), text: this.#text.slice(start, Math.min(end, start + longestHeading)).trim() })
    }
    if (this.#next !== first) this.#path = this.#open.map(({ text }) => text)
  }
}

const level = (heading: Block): number => heading.level ?? 1

/** The pages that a chunk's blocks are on. To be asked about ascending spans. */
class PageRange {
  readonly #blocks: ReadonlyArray<Block>
  #next = 0
  #last: number | undefined = undefined

  constructor(blocks: ReadonlyArray<Block>) {
    this.#blocks = blocks.filter((block) => block.page !== undefined && block.kind !== "pageBreak")
  }

  of(start: number, end: number): Pick<Chunk, "firstPage" | "lastPage" | "pageBreaks"> {
    for (; this.#next < this.#blocks.length && this.#blocks[this.#next]!.end <= start; this.#next++) {
      this.#last = this.#blocks[this.#next]!.page
    }
    let first: number | undefined
    let last: number | undefined
    const breaks: Array<number> = []
    for (let i = this.#next; i < this.#blocks.length && this.#blocks[i]!.start < end; i++) {
      const { page = 0, start: blockStart } = this.#blocks[i]!
      first ??= page
      // A page without text starts where the next one does.
      for (let next = (last ?? first) + 1; next <= page; next++) breaks.push(blockStart - start)
      last = page
    }
    // Only white space: it belongs to the block before it, or to the first.
    const page = this.#last ?? this.#blocks[this.#next]?.page
    const firstPage = first ?? page
    const lastPage = last ?? page
    return firstPage === undefined || lastPage === undefined
      ? {}
      : { firstPage, lastPage, pageBreaks: breaks.length === 0 ? undefined : breaks }
  }
}
