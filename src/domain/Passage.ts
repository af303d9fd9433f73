import { defined } from "./Defined.ts"
import type { FileChunk } from "./Document.ts"
import type { Context } from "./Retrieval.ts"

/** Bytes between two chunks that are taken for white space: a chunker of one's own may leave line ends out. */
const mostBetween = 4

/** Whether a chunk goes on where the one before it in the file ends, or overlaps it. */
export const goesOn = (before: FileChunk, next: FileChunk): boolean =>
  next.ordinal === before.ordinal + 1 && next.byteStart - before.byteEnd <= mostBetween

/**
 * What a context says of chunks of a file that go on from one another ({@link goesOn}), as one text: what they share is in
 * it once, its bytes are those of the document's parsed text, and its headings are those that all of it stands under.
 */
export const passageOf = (
  chunks: readonly [FileChunk, ...ReadonlyArray<FileChunk>]
): Pick<Context, "ordinal" | "text" | "headings" | "byteStart" | "byteEnd" | "firstPage" | "lastPage" | "pageBreaks"> => {
  const [first, ...others] = chunks
  const placed = [{ chunk: first, offset: 0 }]
  let text = first.text
  let byteEnd = first.byteEnd
  for (const chunk of others) {
    text += "\n".repeat(Math.max(0, chunk.byteStart - byteEnd))
    const rest = chunk.text.slice(unitsOf(chunk.text, byteEnd - chunk.byteStart))
    placed.push({ chunk, offset: text.length - (chunk.text.length - rest.length) })
    text += rest
    byteEnd = Math.max(byteEnd, chunk.byteEnd)
  }
  const pages = chunks.flatMap(({ firstPage, lastPage = firstPage }) =>
    firstPage === undefined || lastPage === undefined ? [] : [firstPage, lastPage]
  )
  return {
    ordinal: first.ordinal,
    text,
    headings: chunks.reduce((shared, { headings }) => sharedStart(shared, headings), first.headings),
    byteStart: first.byteStart,
    byteEnd,
    ...(pages.length === 0
      ? {}
      : defined({ firstPage: Math.min(...pages), lastPage: Math.max(...pages), pageBreaks: pageBreaksOf(placed) }))
  }
}

/** UTF-16 units that the first `bytes` bytes of a text take in UTF-8. */
const unitsOf = (text: string, bytes: number): number => {
  let units = 0
  let left = bytes
  for (const character of text) {
    if (left <= 0) break
    left -= Buffer.byteLength(character)
    units += character.length
  }
  return units
}

const sharedStart = (a: ReadonlyArray<string>, b: ReadonlyArray<string>): ReadonlyArray<string> => {
  const differ = a.findIndex((heading, at) => heading !== b[at])
  return differ === -1 ? a : a.slice(0, differ)
}

/** Offsets at which each page after the first begins; undefined where there is one page, or where a chunk does not tell. */
const pageBreaksOf = (
  placed: ReadonlyArray<{ readonly chunk: FileChunk; readonly offset: number }>
): ReadonlyArray<number> | undefined => {
  const breaks: Array<number> = []
  let page = placed[0]?.chunk.firstPage
  for (const { chunk: { firstPage, lastPage = firstPage, pageBreaks = [] }, offset } of placed) {
    if (page === undefined || firstPage === undefined || lastPage !== firstPage + pageBreaks.length) return undefined
    // A page of which a chunk before has told is known, where the two overlap.
    for (; page < firstPage; page++) breaks.push(Math.max(offset, breaks.at(-1) ?? 0))
    pageBreaks.forEach((at, i) => {
      if (firstPage + i + 1 <= page!) return
      breaks.push(offset + at)
      page = firstPage + i + 1
    })
  }
  return breaks.length === 0 ? undefined : breaks
}
