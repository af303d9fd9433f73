import type { Block, BlockKind, ParsedDocument } from "../../domain/Document.ts"
import { ReadFailure } from "./ReadFailure.ts"

/**
 * Collects blocks in reading order into one canonical text: `\n` line ends, a blank line between blocks, no NUL,
 * no unpaired surrogates. Every reader writes through it, so that spans are right everywhere for one reason.
 */
export class DocumentBuilder {
  readonly #parts: Array<string> = []
  readonly #blocks: Array<Block> = []
  readonly #maxCharacters: number
  #length = 0
  #page: number | undefined = undefined

  constructor(maxCharacters: number) {
    this.#maxCharacters = maxCharacters
  }

  /** Following blocks are on this 1-based page, slide or sheet. */
  page(page: number): void {
    if (this.#page !== undefined && page > this.#page && this.#blocks.length > 0) {
      this.#blocks.push({ kind: "pageBreak", start: this.#length, end: this.#length, page })
    }
    this.#page = page
  }

  /** Adds one block; text that is only white space adds nothing. Rows of a table are lines, cells joined by ` | `. */
  add(kind: Exclude<BlockKind, "pageBreak">, text: string, level?: number): void {
    const clean = canonical(text)
    if (clean.trim() === "") return
    const separator = this.#length === 0 ? "" : "\n\n"
    if (this.#length + separator.length + clean.length > this.#maxCharacters) {
      throw new ReadFailure("limit", `more than ${this.#maxCharacters} characters of text`)
    }
    const start = this.#length + separator.length
    this.#parts.push(separator, clean)
    this.#length = start + clean.length
    this.#blocks.push({
      kind,
      start,
      end: this.#length,
      level: level === undefined ? undefined : Math.min(6, Math.max(1, level)),
      page: this.#page
    })
  }

  build(facts: Omit<ParsedDocument, "text" | "blocks">): ParsedDocument {
    const remarks = facts.remarks?.length === 0 ? undefined : facts.remarks
    return { ...facts, remarks, text: this.#parts.join(""), blocks: this.#blocks }
  }
}

/** Line ends to `\n`, NULs out, unpaired surrogates to U+FFFD, outer blank lines and trailing blanks of lines gone. */
export const canonical = (text: string): string => {
  const clean = uncommon.test(text)
    ? text
      .replace(/\r\n?|\u2028|\u2029/g, "\n")
      .replaceAll("\0", "")
      // The look-behind keeps long runs of blanks linear: a run is tried from its start only.
      .replace(/(?<![ \t])[ \t]+\n/g, "\n")
    : text
  return clean.replace(/^\n+/, "").trimEnd().toWellFormed()
}

/** What most blocks are free of: one look spares them the replacing. */
const uncommon = /[\r\u2028\u2029\0]|[ \t]\n/
