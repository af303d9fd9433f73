import { BlockWriter, oneLine, rowLine } from "../BlockSink.ts"
import type { DocumentBuilder } from "../DocumentBuilder.ts"

/**
 * Collects the lines of a lightweight markup into paragraphs and list items, whose nesting follows their indentation. `inline` turns the
 * markup of a finished text into reading text.
 */
export class Prose {
  readonly #writer: BlockWriter
  readonly #inline: (text: string) => string
  #lines: Array<string> = []
  #label: string | undefined = undefined
  #indents: Array<number> = []
  firstHeading: string | undefined = undefined

  constructor(builder: DocumentBuilder, inline: (text: string) => string) {
    this.#writer = new BlockWriter(builder)
    this.#inline = inline
  }

  /** Whether a paragraph or list item is open, to which the next line belongs. */
  get isOpen(): boolean {
    return this.#lines.length > 0
  }

  /** Whether the open list may still continue. */
  get inList(): boolean {
    return this.#indents.length > 0
  }

  line(text: string): void {
    this.#lines.push(text)
  }

  /** Starts a list item; `indent` is the column of its marker, in any unit that grows with depth. */
  item(indent: number, label: string, text: string): void {
    this.endParagraph()
    while (this.#indents.length > 0 && indent < this.#indents.at(-1)!) this.#indents.pop()
    if (this.#indents.at(-1) !== indent) this.#indents.push(indent)
    this.#label = label
    this.#lines.push(text)
  }

  endParagraph(): void {
    if (this.#lines.length === 0) return
    const text = this.#inline(this.#lines.join("\n"))
    if (this.#label === undefined) this.#writer.add("paragraph", text)
    else this.#writer.item(this.#indents.length - 1, this.#label, text)
    this.#lines = []
    this.#label = undefined
  }

  /** Ends the list, and the paragraph. */
  endList(): void {
    this.endParagraph()
    this.#indents = []
  }

  heading(text: string, level: number): void {
    this.endList()
    const heading = oneLine(this.#inline(text))
    this.firstHeading ??= heading === "" ? undefined : heading
    this.#writer.add("heading", heading, level)
  }

  paragraph(text: string): void {
    this.endParagraph()
    this.#writer.add("paragraph", this.#inline(text))
  }

  code(lines: ReadonlyArray<string>): void {
    this.endParagraph()
    const indents = lines.filter((line) => line.trim() !== "").map((line) => line.length - line.trimStart().length)
    const indent = indents.reduce((least, next) => Math.min(least, next), Number.POSITIVE_INFINITY)
    this.#writer.add("code", lines.map((line) => line.slice(Math.min(indent, line.length))).join("\n"))
    // Two adjacent code blocks stay two.
    this.#writer.end()
  }

  table(rows: ReadonlyArray<ReadonlyArray<string>>): void {
    this.endParagraph()
    const lines = rows.map((row) => rowLine(row.map((cell) => oneLine(this.#inline(cell)))))
    this.#writer.add("table", lines.filter((line) => line !== "").join("\n"))
  }

  /** Call it after the last line. */
  end(): void {
    this.endList()
    this.#writer.end()
  }
}

/** The lines from `start` up to, but not including, the first for which `isEnd` is true, and where to continue. */
export const until = (
  lines: ReadonlyArray<string>,
  start: number,
  isEnd: (line: string) => boolean
): { readonly body: ReadonlyArray<string>; readonly next: number } => {
  let end = start
  while (end < lines.length && !isEnd(lines[end]!)) end++
  return { body: lines.slice(start, end), next: Math.min(lines.length, end + 1) }
}

export const indentOf = (line: string): number => line.length - line.trimStart().length
