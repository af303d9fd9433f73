import { createRequire } from "node:module"
import { zstdDecompressSync } from "node:zlib"
import type * as Lz4 from "lz4-wasm-nodejs"
import { defined } from "../../../domain/Defined.ts"
import type { Chunk } from "../../../domain/Document.ts"
import { areIntact, asBlob, columnAt, isIntact, type Row, type RowValues } from "./Checksum.ts"
import { packHashes, textHash, unpackHashes } from "./Hash.ts"

/** A chunk as it is stored: contexts show it, and the index is rebuilt from it. */
export type StoredChunk = Omit<Chunk, "ordinal" | "start" | "end">

/** A chunk to be stored. */
export interface NewChunk extends StoredChunk {
  /** {@link textHash} of the chunk's text. */
  readonly hash: string
}

/** Neighbouring chunks of one file, which are compressed together, so that overlaps cost next to nothing. */
export interface ChunkPage<C> {
  /** Place of the first one in the file. */
  readonly first: number
  readonly chunks: ReadonlyArray<C>
}

/** UTF-16 units of text after which a page is closed. Reading one chunk means unpacking its whole page. */
const pageSize = 8 * 1024
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

/** A page as it is written to the database. */
export interface PackedPage {
  /** Place of the first one in the file. */
  readonly first: number
  readonly count: number
  /** {@link packHashes} of their texts. */
  readonly hashes: Uint8Array
  readonly body: Uint8Array
}

/** A file's chunks as pages. */
export const packPages = (chunks: ReadonlyArray<NewChunk>): ReadonlyArray<PackedPage> =>
  chunkPages(chunks).map(({ chunks, first }) => ({
    first,
    count: chunks.length,
    hashes: packHashes(chunks.map(({ hash }) => hash)),
    body: packChunks(chunks)
  }))

/** A chunk on its page: an array, since storing an object's keys for every chunk would waste space. */
export type PackedChunk = readonly [
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
  const rows = chunks.map((c): PackedChunk =>
    c.firstPage === undefined && c.lastPage === undefined
      ? [c.text, c.headings, c.byteStart, c.byteEnd, c.tokens]
      : [c.text, c.headings, c.byteStart, c.byteEnd, c.tokens, c.firstPage ?? null, c.lastPage ?? null, c.pageBreaks ?? null]
  )
  return lz4().compress(Buffer.from(JSON.stringify(rows)))
}

let loaded: typeof Lz4 | undefined

/**
 * The LZ4 library, loaded with the first page. A page is its size and an LZ4 block. A question unpacks a page for each text that it shows:
 * Zstandard packs tighter but takes ten times as long, mostly for a context that Node makes in every call.
 */
const lz4 = (): typeof Lz4 => loaded ??= createRequire(import.meta.url)("lz4-wasm-nodejs")

/** Room for most pages: the default would be more memory to clear and collect in every call. */
const roomForPage = { chunkSize: 2 * pageSize }

/** First bytes of pages that earlier versions packed; as the size of an LZ4 block they would mean four gigabytes. */
const zstandard = Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd)
const isZstandard = (packed: Uint8Array): boolean => zstandard.every((byte, at) => packed[at] === byte)

/** Unpacks a page. @throws where the bytes are not what {@link packChunks} wrote: the database is damaged, as chunks are primary data */
export const openPage = (packed: Uint8Array): ReadonlyArray<PackedChunk> =>
  // Written by packChunks into our own database; the shape is ours.
  JSON.parse(
    isZstandard(packed) ? zstdDecompressSync(packed, roomForPage).toString() : Buffer.from(lz4().decompress(packed).buffer).toString()
  ) as ReadonlyArray<PackedChunk>

/** Without a copy: every text that a question looks into comes by, and most are of no page. */
export const unpackChunk = ([text, headings, byteStart, byteEnd, tokens, firstPage, lastPage, pageBreaks]: PackedChunk): StoredChunk => {
  if (firstPage == null && lastPage == null) return { text, headings, byteStart, byteEnd, tokens }
  const pages = { firstPage: firstPage ?? undefined, lastPage: lastPage ?? undefined, pageBreaks: pageBreaks ?? undefined }
  return { text, headings, byteStart, byteEnd, tokens, ...defined(pages) }
}

/** Unpacks the chunks of a page. @throws like {@link openPage} */
export const unpackChunks = (packed: Uint8Array): ReadonlyArray<StoredChunk> => openPage(packed).map(unpackChunk)

/** The chunks of a row of `chunk_pages`; undefined where it is not as it was written. */
export const intactPage = (row: Row | undefined): ReadonlyArray<PackedChunk> | undefined =>
  isIntact("chunk_pages", row) ? openChecked(row["body"], row["hashes"], row["sum"]) : undefined

/** {@link intactPage} for a row as an array. */
export const intactPageOf = (row: RowValues | undefined): ReadonlyArray<PackedChunk> | undefined =>
  areIntact("chunk_pages", row) ? openChecked(row[bodyAt], row[hashesAt], row[sumAt]) : undefined

const bodyAt = columnAt("chunk_pages", "body")
const hashesAt = columnAt("chunk_pages", "hashes")
const sumAt = columnAt("chunk_pages", "sum")

const openChecked = (body: unknown, packedHashes: unknown, sum: unknown): ReadonlyArray<PackedChunk> | undefined => {
  try {
    const page = openPage(asBlob(body))
    if (sum !== null) return page
    // A page without a checksum is checked by the hashes of its texts.
    const hashes = unpackHashes(asBlob(packedHashes))
    return page.length === hashes.length && page.every(([text], i) => textHash(text) === hashes[i]) ? page : undefined
  } catch {
    // The bytes are not what packChunks wrote.
    return undefined
  }
}
