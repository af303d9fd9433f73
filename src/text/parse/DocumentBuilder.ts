import type { Block, BlockKind, ParsedDocument } from "../../domain/Document.ts"
import { ReadFailure } from "./ReadFailure.ts"

/**
 * Collects blocks in reading order into one canonical text: `\n` line ends, a blank line between blocks, no NUL, no unpaired surrogates.
 * Every reader writes through it, so spans are right everywhere for the same reason.
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

  /** Puts the following blocks on this 1-based page, slide or sheet. */
  page(page: number): void {
    if (this.#page !== undefined && page > this.#page && this.#blocks.length > 0) {
      this.#blocks.push({ kind: "pageBreak", start: this.#length, end: this.#length, page })
    }
    this.#page = page
  }

  /** Adds one block; text that is only white space adds nothing. The rows of a table are lines, their cells joined by ` | `. */
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

/** A text with `\n` line ends, without NULs, outer blank lines and trailing blanks, its unpaired surrogates replaced by U+FFFD. */
export const canonical = (text: string): string => {
  const clean = uncommon.test(text)
    ? text
      .replace(/\r\n?|\u2028|\u2029/g, "\n")
      .replaceAll("\0", "")
      // The look-behind keeps long runs of blanks linear: a run is only tried from its start.
      .replace(/(?<![ \t])[ \t]+\n/g, "\n")
    : text
  return clean.replace(/^\n+/, "").trimEnd().toWellFormed()
}

/** Characters that most blocks do not contain: one test spares them the replacing. */
const uncommon = /[\r\u2028\u2029\0]|[ \t]\n/
