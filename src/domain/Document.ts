import type { Properties } from "./Properties.ts"

/**
 * A parsed document: one plain text, and what each stretch of it is. Plain interfaces, not schemas: these cross
 * only our own process boundary and are made by the thousand.
 */

export type BlockKind = "heading" | "paragraph" | "list" | "table" | "code" | "pageBreak"

/** A stretch of a document's text that belongs together: chunks are cut between blocks where they can be. */
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

/** Something of the source that is not in the text, or in it with a caveat. */
export interface Remark {
  readonly kind:
    /** A line that recurs at the edge of pages: kept where it stands first. */
    | "runningLine"
    /** Pages that could not be read. */
    | "failedPages"
    /** Pages that show a picture and no text: text recognition may find some. */
    | "picturePages"
    /** Pages whose fonts give characters wrong numbers: their text reads like no language, and is left out. */
    | "garbledPages"
    /** Pages that show lines and shapes, and no text. */
    | "drawingPages"
    /** Pages that show nothing. */
    | "blankPages"
    /** Pages whose text was recognised in a picture. */
    | "recognisedPages"
    /** A sheet, row or slide that the document hides; its text is kept. */
    | "hidden"
    /** A file attached or packed inside, which was not read. */
    | "attachment"
    /** Pictures inside, which were not looked at since text recognition is off: said where a document is looked at, not in reports. */
    | "pictures"
    /** The charset was guessed. */
    | "charset"
    /** What it says of itself cannot be read. */
    | "properties"
    /** Read to a limit. */
    | "cut"
    /** What a parser or a chunker of one's own says. */
    | "own"
  /** What it is about: the line, the sheet, the name of the file. */
  readonly text?: string
  /** 1-based. */
  readonly pages?: ReadonlyArray<number>
  /** How many of them, where they have no pages. */
  readonly count?: number
  /** 0 to 1, of what was recognised or guessed. */
  readonly confidence?: number
}

/** What a parser makes of a file: its text, the blocks of it, and what could not be read. */
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
  /** What else it says of itself, where it is asked. */
  readonly properties?: Properties
  /** What was left out or is uncertain; absent where there is nothing to say. */
  readonly remarks?: ReadonlyArray<Remark>
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

/** A chunk as an engine keeps it with its file: {@link Chunk} without its place among UTF-16 units. */
export type FileChunk = Omit<Chunk, "start" | "end">

/** The pages of which something is said, in short: `3, 5 to 9 and 12 more`. */
export const pageList = (pages: ReadonlyArray<number>): string => {
  const runs: Array<[number, number]> = []
  for (const page of pages) {
    const last = runs.at(-1)
    if (last !== undefined && page === last[1] + 1) last[1] = page
    else runs.push([page, page])
  }
  const shown = runs.slice(0, 8)
  const rest = runs.slice(8).reduce((sum, [from, to]) => sum + to - from + 1, 0)
  const list = shown.map(([from, to]) => from === to ? `${from}` : `${from} to ${to}`).join(", ")
  return rest === 0 ? list : `${list} and ${rest} more`
}

/**
 * What of a document could not be read, for a person: `parsed 198 of 200 pages: 3 and 7 cannot be read`. `undefined`
 * where there is nothing that a reader of the corpus would miss.
 */
export const remarkOf = ({ pages, remarks = [] }: Pick<ParsedDocument, "pages" | "remarks">): string | undefined => {
  const unread = remarks.flatMap(({ kind, pages = [] }) => {
    if (kind === "failedPages") return [{ pages, why: "cannot be read" }]
    if (kind === "picturePages") return [{ pages, why: "pictures without text" }]
    if (kind === "garbledPages") return [{ pages, why: "in characters of no language" }]
    if (kind === "drawingPages") return [{ pages, why: "drawings without text" }]
    return kind === "blankPages" ? [{ pages, why: "blank" }] : []
  })
  const count = unread.reduce((sum, { pages }) => sum + pages.length, 0)
  const parts = count === 0 || pages === undefined ? [] : [
    `parsed ${pages - count} of ${pages} pages: ${unread.map(({ pages, why }) => `${pageList(pages)} ${why}`).join("; ")}`
  ]
  for (const { confidence, kind, pages = [], text } of remarks) {
    if (kind === "recognisedPages") {
      parts.push(
        `text recognised in pictures${pages.length === 0 ? "" : ` on pages ${pageList(pages)}`}${
          confidence === undefined ? "" : ` (confidence ${confidence.toFixed(2)})`
        }`
      )
    } else if (kind === "attachment") parts.push(`not read: ${text ?? "an attachment"}`)
    else if (kind === "properties") parts.push(text ?? "what it says of itself cannot be read")
    else if (kind === "cut") parts.push(text ?? "read to a limit")
    else if (kind === "hidden") parts.push(`hidden: ${text ?? ""}`)
    else if (kind === "charset") {
      parts.push(`charset taken for ${text ?? "unknown"}${confidence === undefined ? "" : ` (confidence ${confidence.toFixed(2)})`}`)
    }
  }
  return parts.length === 0 ? undefined : parts.slice(0, 5).join("; ") + (parts.length > 5 ? `; and ${parts.length - 5} more` : "")
}

/** Several remarks as one; undefined where there is none. */
export const joinedRemarks = (...remarks: ReadonlyArray<string | undefined>): string | undefined =>
  remarks.filter((remark) => remark !== undefined).join("; ") || undefined
