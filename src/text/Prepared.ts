import type { Chunking } from "../domain/Chunking.ts"
import type { Chunk, ParsedDocument } from "../domain/Document.ts"
import type { Properties } from "../domain/Properties.ts"

/** What the text pool receives: a file's bytes, and hints about them. */
export interface Raw {
  readonly content: Uint8Array
  /** File name or path. Its extension is a hint; the bytes decide. */
  readonly name: string
  readonly mimeType?: string
  /** How the text is chunked. Absent: it is not chunked. */
  readonly chunking?: Chunking
  /** Returns the parsed document itself, without chunks. Default false. */
  readonly parts?: boolean
  /** Names of the document properties to return. Default: none. */
  readonly properties?: ReadonlyArray<string>
  /** Attachments are documents of their own (see {@link Opening}), so the text only names them. Default false. */
  readonly opened?: boolean
  /** Pictures are only counted, and text in them is not recognised: for a plan. Default false. */
  readonly counts?: boolean
}

/** A file that may contain files, and where to write their bytes. */
export interface Opening extends Omit<Raw, "chunking" | "parts" | "properties" | "opened" | "counts"> {
  /** A folder that nothing else writes to. Each file in it is named after its hash. */
  readonly into: string
  /** Opens ZIP, tar and gzip archives and mailboxes too, not only mail. */
  readonly archives: boolean
}

/** The files contained in a file. */
export interface Opened {
  /** `mail` is a document with attachments, `archive` is nothing but the files in it, `document` contains no files. */
  readonly kind: "document" | "mail" | "archive"
  readonly parts: ReadonlyArray<Part>
}

/** A file attached to another or packed inside it. Files inside a part follow it, as parts of the same file. */
export interface Part {
  /** `/`-separated, unique within the file: `attachments/report.pdf`, `in/a.zip/b.md`. */
  readonly path: string
  readonly size: number
  /** The first 32 hex characters of the SHA-256 of its bytes; "" where it was refused. */
  readonly hash: string
  readonly mimeType?: string
  /** Whether its attachments are parts too. */
  readonly opened?: boolean
  /** Why the part was not taken; absent where it was. */
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

/** A quote from a document's parsed text, and its place there. */
export interface Quoted extends ByteSpan {
  readonly quote: string
}

/** A file with quotes of its parsed text, whose places in the file's own bytes are wanted. */
export interface Locating extends Omit<Raw, "chunking" | "parts" | "opened" | "counts"> {
  readonly quotes: ReadonlyArray<Quoted>
}

/**
 * Where the quotes stand in the file's own bytes, in the order of the request; undefined for a quote that the file does not contain (any
 * more).
 */
export interface Located {
  readonly spans: ReadonlyArray<ByteSpan | undefined>
}

/** A file whose pages are wanted as pictures: at most `most`, starting with page `from`. */
export interface Picturing extends Omit<Raw, "chunking" | "parts" | "properties" | "opened" | "counts"> {
  /** The first page wanted, 1-based. */
  readonly from: number
  /** The largest number of pages to return. */
  readonly most: number
}

/** A page of a PDF, or a file that is itself a picture, as a picture that models accept. */
export interface PagePicture {
  /** 1-based; a picture file is page 1. */
  readonly page: number
  /** Absent where the page could not be drawn. */
  readonly image?: { readonly mimeType: "image/png" | "image/jpeg" | "image/webp"; readonly data: Uint8Array }
  /** Why `image` is absent. */
  readonly why?: string
}

/** The requested pages, in order. */
export interface Pictured {
  /** Pages of the whole file; 0 for formats without page pictures. */
  readonly pages: number
  readonly pictures: ReadonlyArray<PagePicture>
}

/** A document, or one part of a long document. */
export interface DocumentPart {
  readonly document: ParsedDocument
  /** Where this part's text starts in the text of all parts joined by blank lines, in UTF-16 units. */
  readonly start: number
  /** Where this part's text starts in the text of all parts joined by blank lines, in UTF-8 bytes. */
  readonly byteStart: number
}

/** A parsed and chunked file: everything an engine indexes, and all that a plan counts. */
export interface Prepared {
  /** A key of the format table: `pdf`, `docx`, `markdown`, … */
  readonly format: string
  readonly chunks: ReadonlyArray<Chunk>
  /** Tokens of all chunks; overlaps are counted each time they are embedded. */
  readonly tokens: number
  readonly pages?: number
  readonly title?: string
  readonly author?: string
  readonly language?: string
  /** The requested properties that the document has. */
  readonly properties?: Properties
  /** What could not be read of the file, in a sentence; absent where all of it was read. */
  readonly remark?: string
  /** The text with its blocks, where `parts` was requested; a long document comes in several parts. */
  readonly parts?: ReadonlyArray<DocumentPart>
  /** How many pages and pictures text recognition would process, where pictures are only counted. */
  readonly waits?: number
}

/** Limits for one file. Exceeding one fails that file, never the run. */
export interface Limits {
  /** Largest file, in bytes. */
  readonly bytes: number
  /** Most pages of a document. */
  readonly pages: number
  /** Most entries of an archive. */
  readonly entries: number
  /** Most bytes of all entries of an archive together, unpacked. */
  readonly unpackedBytes: number
  /** Largest ratio of unpacked to packed bytes of an archive. */
  readonly expansion: number
  /** Most files taken out of one mail or archive. */
  readonly parts: number
  /** Most levels of files packed inside files. */
  readonly depth: number
  /** Most UTF-16 units of extracted text. */
  readonly characters: number
  /** Milliseconds of processor time from bytes to chunks. */
  readonly timeMs: number
  /** Resident bytes of all parsing processes together. */
  readonly memory: number
  /** Languages for text recognition in pictures and scanned pages (`eng`, `deu`); empty turns it off. */
  readonly recognise: ReadonlyArray<string>
}

/** Bumped whenever the same bytes may parse to other text or chunks: part of every fingerprint. */
export const parserVersion = "15"

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
