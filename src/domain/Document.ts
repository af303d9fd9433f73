import type { Properties } from "./Properties.ts"

/**
 * A parsed document: one plain text, and the kinds of its parts. Plain interfaces, not schemas: documents cross only our
 * own process boundary, by the thousand.
 */

export type BlockKind = "heading" | "paragraph" | "list" | "table" | "code" | "pageBreak"

/** A part of a document's text that belongs together: chunks are cut between blocks where possible. */
export interface Block {
  readonly kind: BlockKind
  /** UTF-16 offset into {@link ParsedDocument.text}, inclusive. */
  readonly start: number
  /** UTF-16 offset, exclusive. Blocks do not overlap and are in order. */
  readonly end: number
  /** Level of a heading, 1 to 6; headings only. */
  readonly level?: number
  /** Page, slide or sheet, from 1; absent where the format has none. */
  readonly page?: number
}

/** Something of the source that is missing from the text, or that is in it with a caveat. */
export interface Remark {
  readonly kind:
    /** A line that recurs at the edges of pages: only its first occurrence is kept. */
    | "runningLine"
    /** Pages that could not be read. */
    | "failedPages"
    /** Pages with a picture and no text: text recognition may find some. */
    | "picturePages"
    /** Pages whose fonts have wrong character codes: their text is not readable in any language, and is left out. */
    | "garbledPages"
    /** Pages with lines and shapes, and no text. */
    | "drawingPages"
    /** Empty pages. */
    | "blankPages"
    /** Pages whose text was recognised in a picture. */
    | "recognisedPages"
    /** A sheet, row or slide that the document hides; its text is kept. */
    | "hidden"
    /** A file attached or packed inside, which was not read. */
    | "attachment"
    /**
     * Pictures inside the document, which were not examined since text recognition is off: shown where a single document
     * is examined, not in reports.
     */
    | "pictures"
    /** The charset was guessed. */
    | "charset"
    /** The document's properties cannot be read. */
    | "properties"
    /** The document was read up to a limit. */
    | "cut"
    /** A remark of a custom parser or chunker. */
    | "own"
  /** Subject of the remark: the line, the sheet, the name of the file. */
  readonly text?: string
  /** Pages it is about, from 1. */
  readonly pages?: ReadonlyArray<number>
  /** Number of occurrences, where there are no pages. */
  readonly count?: number
  /** Confidence of recognition or of a guess, 0 to 1. */
  readonly confidence?: number
}

/** A parsed file: its text, the blocks of the text, and what could not be read. */
export interface ParsedDocument {
  /** Canonical text: `\n` line ends, no NUL, no unpaired surrogates. Blocks cover all of it except white space. */
  readonly text: string
  readonly blocks: ReadonlyArray<Block>
  /** Number of pages, slides or sheets; absent where the format has none. */
  readonly pages?: number
  readonly title?: string
  readonly author?: string
  /** Language as in ISO 639-1, where the document declares one. */
  readonly language?: string
  /** The document's own properties, where requested. */
  readonly properties?: Properties
  /** What was left out or is uncertain; absent where nothing is. */
  readonly remarks?: ReadonlyArray<Remark>
  /** Format of the file: `pdf`, `docx`, `markdown`, … */
  readonly format: string
}

/** A piece of a document that is indexed and cited as a unit. */
export interface Chunk {
  /** Position in the document, from 0. */
  readonly ordinal: number
  readonly text: string
  /** Headings above the chunk, outermost first; empty where there are none. */
  readonly headings: ReadonlyArray<string>
  /** UTF-16 offset into the document's text. */
  readonly start: number
  readonly end: number
  /** UTF-8 byte offset into the document's text. */
  readonly byteStart: number
  readonly byteEnd: number
  /** First page, from 1; absent where the format has no pages. */
  readonly firstPage?: number
  readonly lastPage?: number
  /** UTF-16 offsets into `text` at which each page after `firstPage` starts; absent where there is only one page. */
  readonly pageBreaks?: ReadonlyArray<number>
  /** Number of tokens of `text` (o200k). */
  readonly tokens: number
}

/** A chunk as an engine stores it with its file: {@link Chunk} without its UTF-16 offsets. */
export type FileChunk = Omit<Chunk, "start" | "end">

/** Formats a list of pages, in short: `3, 5 to 9 and 12 more`. */
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
 * Describes what could not be read of a document, for people: `parsed 198 of 200 pages: 3 and 7 cannot be read`.
 * `undefined` where a reader of the corpus would miss nothing.
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

/** Joins several remarks into one; undefined where there is none. */
export const joinedRemarks = (...remarks: ReadonlyArray<string | undefined>): string | undefined =>
  remarks.filter((remark) => remark !== undefined).join("; ") || undefined
