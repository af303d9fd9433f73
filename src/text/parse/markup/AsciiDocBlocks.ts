import { oneLine } from "../BlockSink.ts"
import type { DocumentBuilder } from "../DocumentBuilder.ts"
import { languageCode } from "../LanguageCode.ts"
import { asciiDocInline } from "./AsciiDocInline.ts"
import { Prose, until } from "./Prose.ts"

const heading = /^(={1,6}|#{1,6})[ \t]+(\S.*?)(?:[ \t]+\1)?$/
const item = /^[ \t]*(\*{1,6}|-|\.{1,6}|\d{1,4}\.|<\d{1,3}>|<\.>)[ \t]+(.*)$/
const term = /^[ \t]*(\S.*?)(:{2,4}|;;)(?:[ \t]+(.*))?$/
const delimiter = /^(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|\/{4,}|--|`{3,}.*|[|,:!]={3,})[ \t]*$/
const blockMacro = /^(image|video|audio|include|toc)::?(\S*?)\[(.*)\][ \t]*$/
/** A condition, for lines up to its end or for its own text. All are read, whether it holds or not. */
const condition = /^(ifdef|ifndef|ifeval|endif)::\S*?\[(.*)\][ \t]*$/
const attribute = /^:(!?[\w-]+!?):(?:[ \t]+(.*))?$/

interface Facts {
  readonly title?: string
  readonly author?: string
  readonly language?: string
}

/** Reads the blocks of AsciiDoc. Delimited examples, sidebars and quotes are read as their content. */
export class AsciiDocBlocks {
  readonly #attributes = new Map<string, string>()
  readonly #prose: Prose
  #lines: ReadonlyArray<string> = []
  #columns: number | undefined = undefined

  constructor(builder: DocumentBuilder) {
    this.#prose = new Prose(builder, (text) => asciiDocInline(text, this.#attributes))
  }

  read(lines: ReadonlyArray<string>): Facts {
    this.#lines = lines
    for (let at = 0; at < lines.length;) at = this.#readLine(at)
    this.#prose.end()
    const title = this.#prose.firstHeading
    const author = this.#attributes.get("author")
    const language = languageCode(this.#attributes.get("lang"))
    return {
      title,
      author,
      language
    }
  }

  /** Reads the element that starts at a line; returns the line after it. */
  #readLine(at: number): number {
    const line = this.#lines[at]!.trimEnd()
    if (line.trim() === "") {
      this.#prose.endParagraph()
      return at + 1
    }
    if (delimiter.test(line)) return this.#delimited(line, at)
    if (line.startsWith("//") || line === "+" || line === "<<<" || line === "'''") {
      if (!line.startsWith("//")) this.#prose.endParagraph()
      return at + 1
    }
    const conditional = condition.exec(line)
    if (conditional !== null) {
      if (conditional[1] !== "ifeval" && conditional[2] !== "") this.#prose.line(conditional[2]!)
      return at + 1
    }
    if (!this.#prose.isOpen && (this.#setting(line) || this.#macro(line))) return at + 1
    if (!this.#prose.isOpen && line.startsWith("|")) return this.#bareTable(at)
    const title = heading.exec(line)
    if (title !== null && !this.#prose.isOpen) return this.#heading(title[1]!.length, title[2]!, at)
    return this.#text(line, at)
  }

  /** Reads attributes of the document or of the next block, anchors and block titles. Returns whether the line is one. */
  #setting(line: string): boolean {
    if (this.#setAttribute(line)) return true
    if (/^\[.*\]$/.test(line)) {
      const columns = /cols="?([^"\]]+)/.exec(line)?.[1]
      if (columns !== undefined) this.#columns = columnCount(columns)
      const attribution = /^\[(?:quote|verse),[ \t]*(.+)\]$/.exec(line)?.[1]
      if (attribution !== undefined) this.#prose.paragraph(attribution)
      return true
    }
    const blockTitle = /^\.([^\s.].*)$/.exec(line)
    if (blockTitle !== null) this.#prose.paragraph(blockTitle[1]!)
    return blockTitle !== null
  }

  #setAttribute(line: string): boolean {
    const set = attribute.exec(line.trimEnd())
    if (set !== null) this.#attributes.set(set[1]!.toLowerCase(), set[2] ?? "")
    return set !== null
  }

  #macro(line: string): boolean {
    const macro = blockMacro.exec(line)
    if (macro === null) return false
    const alternative = macro[3]!.split(",", 1)[0]!.replace(/^"|"$/g, "")
    if (macro[1] === "image" && !alternative.includes("=")) this.#prose.paragraph(alternative)
    return true
  }

  #heading(level: number, text: string, at: number): number {
    const isTitle = this.#prose.firstHeading === undefined && level === 1
    // A title may name attributes that are set below it.
    if (isTitle) { for (let below = at + 1; (this.#lines[below] ?? "").trim() !== ""; below++) this.#setAttribute(this.#lines[below]!) }
    this.#prose.heading(text, level)
    // Author and revision stand below the document's title.
    const author = isTitle ? /^([\p{L}][\p{L}\p{M} .'-]{2,80}?)(?: <[^<>]+>)?$/u.exec(this.#lines[at + 1] ?? "") : null
    if (author === null) return at + 1
    this.#attributes.set("author", oneLine(author[1]!))
    return /^v?\d/.test(this.#lines[at + 2] ?? "") ? at + 3 : at + 2
  }

  #text(line: string, at: number): number {
    const listed = item.exec(line)
    if (listed !== null) {
      const mark = listed[1]!
      const label = mark.startsWith(".") || mark.startsWith("<") ? "1." : /^\d/.test(mark) ? mark : "-"
      // Nesting follows the length of the mark; for hyphens and numbers, the indentation.
      const depth = (mark[0] === "*" || mark[0] === "." ? mark.length : 1) * 100 + line.length - line.trimStart().length
      this.#prose.item(depth, label, listed[2]!.replace(/^\[[ x*]\] /, ""))
      return at + 1
    }
    const defined = this.#prose.isOpen ? null : term.exec(line)
    if (defined !== null) {
      this.#prose.line(`${defined[1]}:${defined[3] === undefined ? "" : ` ${defined[3]}`}`)
      return at + 1
    }
    if (!this.#prose.isOpen && /^[ \t]/.test(line) && !this.#prose.inList) {
      const literal = until(this.#lines, at, (next) => next.trim() === "")
      this.#prose.code(literal.body)
      return literal.next
    }
    if (!this.#prose.isOpen && this.#lines[at - 1]?.trim() === "") this.#prose.endList()
    this.#prose.line(line.trim())
    return at + 1
  }

  #delimited(line: string, at: number): number {
    const mark = line.startsWith("```") ? "```" : line
    const first = mark[0]!
    if (mark.endsWith("===") && !mark.startsWith("=")) return this.#table(first, mark, at)
    // Structural containers are transparent: their content is read as if they were not there.
    if (mark === "--" || first === "=" || first === "*" || first === "_") {
      this.#prose.endParagraph()
      return at + 1
    }
    const { body, next } = until(this.#lines, at + 1, (end) => end.trimEnd() === mark)
    if (first === "-" || first === "." || first === "`") this.#prose.code(body)
    else this.#prose.endParagraph()
    return next
  }

  /** Reads table rows without the delimiter lines that make a table. */
  #bareTable(at: number): number {
    const { body } = until(this.#lines, at, (line) => !line.startsWith("|"))
    this.#rows(body.map((line) => line.replace(/\|[ \t]*$/, "")), "|")
    return at + body.length
  }

  #table(separator: string, mark: string, at: number): number {
    const { body, next } = until(this.#lines, at + 1, (line) => line.trimEnd() === mark)
    this.#rows(body, separator)
    return next
  }

  #rows(body: ReadonlyArray<string>, separator: string): void {
    const { cells, firstRow } = tableCells(body, separator)
    const columns = Math.max(1, this.#columns ?? firstRow)
    this.#columns = undefined
    const rows: Array<ReadonlyArray<string>> = []
    for (let i = 0; i < cells.length; i += columns) rows.push(cells.slice(i, i + columns))
    this.#prose.table(rows)
  }
}

/** The columns of a specification: `1,2*,3*2` are six. */
const columnCount = (columns: string): number =>
  columns.split(/[,;]/).reduce((sum, column) => sum + Math.min(100, Number(/^\s*(\d{1,3})\*/.exec(column)?.[1] ?? 1)), 0)

/** The start of a cell: a bar, before which its span, alignment and style may stand. */
const cellStart = /(?:^|[ \t])(?:\d{1,3}(?:\.\d{1,3})?[+*])?[<^>]?(?:\.[<^>])?[adehlmsv]?\|/

const tableCells = (
  lines: ReadonlyArray<string>,
  separator: string
): { readonly cells: ReadonlyArray<string>; readonly firstRow: number } => {
  const cells: Array<string> = []
  let firstRow = 0
  for (const line of lines) {
    if (line.trim() === "") continue
    const [before, ...starting] = separator === "|" ? line.split(cellStart) : ["", ...line.split(separator)]
    if (before!.trim() !== "" && cells.length > 0) cells[cells.length - 1] += ` ${before!.trim()}`
    cells.push(...starting.map((cell) => cell.trim()))
    if (firstRow === 0) firstRow = starting.length
  }
  return { cells, firstRow }
}
