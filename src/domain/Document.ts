/**
 * A parsed document: one plain text, and what each stretch of it is. Plain interfaces, not schemas: these cross
 * only our own process boundary and are made by the thousand.
 */

export type BlockKind = "heading" | "paragraph" | "list" | "table" | "code" | "pageBreak"

export interface Block {
  readonly kind: BlockKind
  /** UTF-16 offset into {@link ParsedDocument.text}, inclusive. */
  readonly start: number
  /** UTF-16 offset, exclusive. Blocks do not overlap and are in order. */
  readonly end: number
  /** 1 to 6, headings only. */
  readonly level?: number
  /** 1-based page, slide or sheet; absent where the format has none. */
  readonly page?: number
}

export interface ParsedDocument {
  /** Canonical text: `\n` line ends, no NUL, no unpaired surrogates. Blocks cover all but white space of it. */
  readonly text: string
  readonly blocks: ReadonlyArray<Block>
  /** How many pages, slides or sheets; absent where the format has none. */
  readonly pages?: number
  readonly title?: string
  readonly author?: string
  /** ISO 639-1, where the document declares one. */
  readonly language?: string
  /** The format that was parsed, a key of the format table: `pdf`, `docx`, `markdown`, … */
  readonly format: string
}

/** A piece of a document that is indexed and cited as one. */
export interface Chunk {
  /** Position in the document, from 0. */
  readonly ordinal: number
  readonly text: string
  /** Headings above the chunk, outermost first; empty where there are none. */
  readonly headings: ReadonlyArray<string>
  /** UTF-16 offsets into the document's text. */
  readonly start: number
  readonly end: number
  /** UTF-8 byte offsets into the document's text. */
  readonly byteStart: number
  readonly byteEnd: number
  /** 1-based, inclusive; absent where the format has no pages. */
  readonly firstPage?: number
  readonly lastPage?: number
  /** UTF-16 offsets into `text` at which each page after `firstPage` begins; absent where there is only one. */
  readonly pageBreaks?: ReadonlyArray<number>
  /** Tokens of `text` (o200k). */
  readonly tokens: number
}
