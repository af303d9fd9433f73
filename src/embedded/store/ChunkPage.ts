import { deflateRawSync, inflateRawSync } from "node:zlib"
import type { Chunk } from "../../domain/Document.ts"

/** A chunk as it is kept: what a context shows, and what the index is rebuilt from. */
export type StoredChunk = Omit<Chunk, "ordinal" | "start" | "end">

/** Neighbouring chunks of one file, compressed together: overlaps cost next to nothing. */
export interface ChunkPage<C> {
  /** Place of the first one in the file. */
  readonly first: number
  readonly chunks: ReadonlyArray<C>
}

/** UTF-16 units of text after which a page is closed; reading one chunk inflates one page. */
const pageSize = 4 * 1024
const pageChunks = 64

/** Cuts a file's chunks into pages. */
export const chunkPages = <C extends { readonly text: string }>(chunks: ReadonlyArray<C>): ReadonlyArray<ChunkPage<C>> => {
  const pages: Array<ChunkPage<C>> = []
  let first = 0
  let size = 0
  chunks.forEach((chunk, index) => {
    if (index > first && (size + chunk.text.length > pageSize || index - first >= pageChunks)) {
      pages.push({ first, chunks: chunks.slice(first, index) })
      first = index
      size = 0
    }
    size += chunk.text.length
  })
  if (first < chunks.length) pages.push({ first, chunks: chunks.slice(first) })
  return pages
}

/** Arrays, not objects: the keys of a thousand chunks are not worth storing. */
type Row = readonly [
  text: string,
  headings: ReadonlyArray<string>,
  byteStart: number,
  byteEnd: number,
  tokens: number,
  firstPage?: number | null,
  lastPage?: number | null,
  pageBreaks?: ReadonlyArray<number> | null
]

export const packChunks = (chunks: ReadonlyArray<StoredChunk>): Uint8Array => {
  const rows = chunks.map((c): Row =>
    c.firstPage === undefined && c.lastPage === undefined
      ? [c.text, c.headings, c.byteStart, c.byteEnd, c.tokens]
      : [c.text, c.headings, c.byteStart, c.byteEnd, c.tokens, c.firstPage ?? null, c.lastPage ?? null, c.pageBreaks ?? null]
  )
  return deflateRawSync(JSON.stringify(rows), { level: 1 })
}

/** @throws when the bytes are not what {@link packChunks} wrote: chunks are primary data, the database is damaged */
export const unpackChunks = (packed: Uint8Array): ReadonlyArray<StoredChunk> => {
  // Written by packChunks into our own database; the shape is ours.
  const rows = JSON.parse(inflateRawSync(packed).toString("utf8")) as ReadonlyArray<Row>
  return rows.map(([text, headings, byteStart, byteEnd, tokens, firstPage, lastPage, pageBreaks]) => ({
    text,
    headings,
    byteStart,
    byteEnd,
    tokens,
    ...(firstPage == null ? {} : { firstPage }),
    ...(lastPage == null ? {} : { lastPage }),
    ...(pageBreaks == null ? {} : { pageBreaks })
  }))
}
