import type { Chunking } from "../domain/Chunking.ts"
import type { Chunk } from "../domain/Document.ts"

/** What the text pool is given: bytes, and hints about them. */
export interface Raw {
  readonly content: Uint8Array
  /** File name or path; its extension is a hint, the bytes decide. */
  readonly name: string
  readonly mimeType?: string
  readonly chunking: Chunking
}

/** A file parsed and cut: everything an engine indexes, and all that a plan counts. */
export interface Prepared {
  /** A key of the format table: `pdf`, `docx`, `markdown`, … */
  readonly format: string
  readonly chunks: ReadonlyArray<Chunk>
  /** Tokens of all chunks, overlaps counted as often as they are embedded. */
  readonly tokens: number
  readonly pages?: number
  readonly title?: string
  readonly author?: string
  readonly language?: string
  /** What of the file could not be read, in a sentence; absent where all of it was. */
  readonly remark?: string
}

/** Bounds of one file. A file over one costs itself, never the run. */
export interface Limits {
  /** Bytes of the file. */
  readonly bytes: number
  readonly pages: number
  /** Entries of an archive, and bytes of all of them unpacked, and unpacked over packed. */
  readonly entries: number
  readonly unpackedBytes: number
  readonly expansion: number
  /** UTF-16 units of extracted text. */
  readonly characters: number
  /** Milliseconds of processor time from bytes to chunks. */
  readonly timeMs: number
  /** Resident bytes of all processes that parse, together. */
  readonly memory: number
  /** Languages of text recognition in pictures and scanned pages (`eng`, `deu`); empty: it is off. */
  readonly recognise: ReadonlyArray<string>
}

/** Bumped whenever the same bytes may parse to other text or chunks: part of every fingerprint. */
export const parserVersion = "3"

export const defaultLimits: Limits = {
  bytes: 100 * 1024 * 1024,
  pages: 5_000,
  entries: 20_000,
  unpackedBytes: 512 * 1024 * 1024,
  expansion: 200,
  characters: 120_000_000,
  timeMs: 60_000,
  memory: 1536 * 1024 * 1024,
  recognise: []
}
