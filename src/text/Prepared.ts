import type { Chunking } from "../domain/Chunking.ts"
import type { Chunk, ParsedDocument } from "../domain/Document.ts"
import type { Properties } from "../domain/Properties.ts"

/** What the text pool is given: bytes, and hints about them. */
export interface Raw {
  readonly content: Uint8Array
  /** File name or path; its extension is a hint, the bytes decide. */
  readonly name: string
  readonly mimeType?: string
  /** Absent: it is read, and not cut. */
  readonly chunking?: Chunking
  /** It is given back as it was parsed, and not cut. Default false. */
  readonly parts?: boolean
  /** What it is asked for of what it says of itself. Default: nothing. */
  readonly properties?: ReadonlyArray<string>
  /** What is attached to it is a document of its own, see {@link Opening}: the text only names it. Default false. */
  readonly opened?: boolean
  /** Pictures are counted, and the text in them is not recognised: for a plan. Default false. */
  readonly counts?: boolean
}

/** A file that may hold files, and where their bytes go. */
export interface Opening extends Omit<Raw, "chunking" | "parts" | "properties" | "opened" | "counts"> {
  /** A folder of one's own; files are named in it after their hashes. */
  readonly into: string
  /** Opens ZIP, tar and gzip archives and mailboxes too, not only mail. */
  readonly archives: boolean
}

/** What a file holds. */
export interface Opened {
  /** Mail is a document beside what hangs on it, an archive is nothing but what it holds. `document`: it holds nothing. */
  readonly kind: "document" | "mail" | "archive"
  readonly parts: ReadonlyArray<Part>
}

/** A file attached to another one or packed inside it; those inside a part follow it, as parts of the same file. */
export interface Part {
  /** `/`-separated, unique within the file: `attachments/report.pdf`, `in/a.zip/b.md`. */
  readonly path: string
  readonly size: number
  /** SHA-256 of its bytes in hex, 32 characters; "" where it is refused. */
  readonly hash: string
  readonly mimeType?: string
  /** Its own attachments are parts too. */
  readonly opened?: boolean
  /** It is not taken, and why. */
  readonly refused?: {
    readonly reason: "ignored" | "link" | "special" | "limit" | "corrupt" | "encrypted" | "unsupported"
    readonly message: string
  }
}

/** A stretch of a file or of its parsed text, in bytes. */
export interface ByteSpan {
  readonly byteStart: number
  readonly byteEnd: number
}

/** A quote of a document's parsed text, and where it stands in that. */
export interface Quoted extends ByteSpan {
  readonly quote: string
}

/** A file that is quoted by its parsed text, to be quoted by its own bytes. */
export interface Locating extends Omit<Raw, "chunking" | "parts" | "opened" | "counts"> {
  readonly quotes: ReadonlyArray<Quoted>
}

/** Where a file says what is quoted of it, in that order; undefined for what it does not say there (any more). */
export interface Located {
  readonly spans: ReadonlyArray<ByteSpan | undefined>
}

/** A file whose pages are wanted as pictures of them: those from the page on, so many at most. */
export interface Picturing extends Omit<Raw, "chunking" | "parts" | "properties" | "opened" | "counts"> {
  /** 1-based. */
  readonly from: number
  readonly most: number
}

/** A page of a PDF, or a file that is a picture, as a picture that models take. */
export interface PagePicture {
  /** 1-based. */
  readonly page: number
  /** Absent where there is none. */
  readonly image?: { readonly mimeType: "image/png" | "image/jpeg" | "image/webp"; readonly data: Uint8Array }
  /** Why there is none. */
  readonly why?: string
}

/** The pages asked for, in order. */
export interface Pictured {
  /** Of the whole file; 0 of one of a format that has no pictures of its pages. */
  readonly pages: number
  readonly pictures: ReadonlyArray<PagePicture>
}

/** A document, or a part of one that is long. */
export interface DocumentPart {
  readonly document: ParsedDocument
  /** Where its text begins in that of all parts, in UTF-16 units and in UTF-8 bytes. A blank line stands between two. */
  readonly start: number
  readonly byteStart: number
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
  /** What was asked for, as far as it says so. */
  readonly properties?: Properties
  /** What of the file could not be read, in a sentence; absent where all of it was. */
  readonly remark?: string
  /** Where it is asked for: the text and its blocks, of a long one part by part. */
  readonly parts?: ReadonlyArray<DocumentPart>
  /** Where pictures are only counted: how many pages and pictures text recognition would go through. */
  readonly waits?: number
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
  /** Files taken out of one mail or archive, and how deep they may be packed in each other. */
  readonly parts: number
  readonly depth: number
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
export const parserVersion = "11"

export const defaultLimits: Limits = {
  bytes: 100 * 1024 * 1024,
  pages: 5_000,
  entries: 20_000,
  unpackedBytes: 512 * 1024 * 1024,
  expansion: 200,
  parts: 50_000,
  depth: 4,
  characters: 120_000_000,
  timeMs: 60_000,
  memory: 1536 * 1024 * 1024,
  recognise: []
}
