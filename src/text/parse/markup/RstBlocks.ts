import { codeDirectives, namedDirectives, silentDirectives } from "./DirectiveNames.ts"
import { indentOf, type Prose } from "./Prose.ts"
import { gridTable, simpleTable } from "./RstTables.ts"

const underline = /^([!-/:-@[-`{-~])\1{2,}[ ]*$/
const directive = /^\.\. (?:\|[^|]+\| )?([\w.+:-]*\w)::(?: (.*))?$/
/** A picture that stands within a line elsewhere: mostly an icon. */
const inlinePicture = /^\.\. \|[^|]+\| image::/i
const bullet = /^(?:([-*+•‣⁃])|((?:\d+|#|[A-Za-z]|[ivxlcIVXLC]+)[.)]|\((?:\d+|#|[A-Za-z])\)))(?: +(.*)|)$/
const field = /^:([^:\n]{1,100}(?:\\:[^:\n]*)?):(?: +(.*)|)$/

/** Deeper bodies than this are read as plain lines. */
const maxDepth = 30

/** Reads the blocks of reStructuredText. Bodies of directives are read as separate documents. */
export class RstBlocks {
  readonly #prose: Prose
  /** Styles of section titles in the order of their first use, which is their level. */
  readonly #styles: Array<string> = []

  constructor(prose: Prose) {
    this.#prose = prose
  }

  read(lines: ReadonlyArray<string>, depth: number): void {
    for (let at = 0; at < lines.length;) at = this.#readLine(lines, at, depth)
    this.#prose.endParagraph()
  }

  #readLine(lines: ReadonlyArray<string>, at: number, depth: number): number {
    const line = lines[at]!
    if (line.trim() === "") {
      this.#prose.endParagraph()
      return at + 1
    }
    if (!this.#prose.isOpen) {
      const next = this.#title(lines, at) ?? this.#explicit(lines, at, depth) ?? this.#table(lines, at)
      if (next !== undefined) return next
      if (/^ *>>> /.test(line)) return this.#verbatim(lines, at)
    }
    const announced = line.trimEnd().endsWith("::") && (lines[at + 1] ?? "").trim() === ""
    const text = announced ? line.trimEnd().replace(/(?<=^|\s):?:$|:$/, "").trimEnd() : line
    if (!this.#item(text)) {
      if (!this.#prose.isOpen && indentOf(line) === 0) this.#prose.endList()
      if (text.trim() !== "") this.#prose.line(text.trim().replace(/^\|(?: |$)/, ""))
    }
    return announced ? this.#literal(lines, at) : at + 1
  }

  /** Reads a title: a line of text with punctuation below it, and perhaps above. */
  #title(lines: ReadonlyArray<string>, at: number): number | undefined {
    const line = lines[at]!
    const overlined = underline.test(line)
    const text = overlined ? lines[at + 1] ?? "" : line
    const rule = overlined ? lines[at + 2] ?? "" : lines[at + 1] ?? ""
    const titled = text.trim() !== "" && underline.test(rule) && !underline.test(text) &&
      (overlined ? rule[0] === line[0] : indentOf(line) === 0)
    if (titled && rule.trimEnd().length >= Math.min(4, text.trim().length)) {
      const style = (overlined ? "over" : "") + rule[0]
      if (!this.#styles.includes(style)) this.#styles.push(style)
      this.#prose.heading(text.trim(), this.#styles.indexOf(style) + 1)
      return at + (overlined ? 3 : 2)
    }
    // A line of only punctuation separates sections; one of equals signs and blanks starts a table.
    return overlined && (lines[at + 1] ?? "").trim() === "" ? at + 1 : undefined
  }

  /** Reads directives, comments, targets and footnotes, all of which start with two dots. */
  #explicit(lines: ReadonlyArray<string>, at: number, depth: number): number | undefined {
    const line = lines[at]!
    const indent = indentOf(line)
    const text = line.slice(indent)
    if (text !== ".." && !text.startsWith(".. ")) return undefined
    const end = bodyEnd(lines, at + 1, indent)
    if (inlinePicture.test(text)) return end
    const found = directive.exec(text)
    const note = /^\.\. \[[^\]]+\] (.*)$/.exec(text)
    if (found !== null) this.#directive(found[1]!.toLowerCase(), found[2] ?? "", lines.slice(at + 1, end), depth)
    else if (note !== null) this.read([note[0].slice(3), ...dedent(lines.slice(at + 1, end))], depth + 1)
    return end
  }

  #directive(name: string, argument: string, body: ReadonlyArray<string>, depth: number): void {
    const local = name.slice(name.lastIndexOf(":") + 1)
    if (local === "image") this.#prose.paragraph(altIn(body))
    if (silentDirectives.has(local)) return
    const content = dedent(body)
    let options = 0
    while (options < content.length && field.test(content[options]!)) options++
    const rest = content.slice(options)
    if (codeDirectives.has(local)) {
      this.#prose.code(local === "math" && argument !== "" ? [argument, ...rest] : rest)
      return
    }
    if (!namedDirectives.has(local)) this.#prose.paragraph(argument)
    if (local === "replace" || depth > maxDepth) return
    if (local === "list-table") this.#prose.table(listTable(rest))
    else if (local === "csv-table") this.#prose.table(rest.map((row) => row.split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/).map(unquote)))
    else this.read(rest, depth + 1)
  }

  #table(lines: ReadonlyArray<string>, at: number): number | undefined {
    const table = gridTable(lines, at) ?? simpleTable(lines, at)
    if (table === undefined) return undefined
    this.#prose.table(table.rows)
    return table.next
  }

  #verbatim(lines: ReadonlyArray<string>, at: number): number {
    let end = at
    while (end < lines.length && lines[end]!.trim() !== "") end++
    this.#prose.code(lines.slice(at, end))
    return end
  }

  #item(line: string): boolean {
    const indent = indentOf(line)
    const text = line.slice(indent)
    const item = bullet.exec(text)
    if (item !== null && (!this.#prose.isOpen || this.#prose.inList) && (item[3] !== undefined || item[1] !== undefined)) {
      this.#prose.item(indent, item[1] === undefined ? item[2]! : "-", item[3] ?? "")
      return true
    }
    const entry = field.exec(text)
    if (entry === null) return false
    this.#prose.endParagraph()
    this.#prose.line(`${entry[1]}: ${entry[2] ?? ""}`)
    return true
  }

  /** Reads the literal block that two colons at the end of a paragraph announce. */
  #literal(lines: ReadonlyArray<string>, at: number): number {
    const end = bodyEnd(lines, at + 1, indentOf(lines[at]!))
    this.#prose.code(lines.slice(at + 1, end))
    return end
  }
}

/** The description of a picture, from the options of its directive. */
const altIn = (options: ReadonlyArray<string>): string => options.map((line) => /^\s*:alt: +(.*)$/.exec(line)?.[1] ?? "").join("")

/** Where the lines end that are indented more than `indent`; blank lines between them count. */
const bodyEnd = (lines: ReadonlyArray<string>, start: number, indent: number): number => {
  let end = start
  for (let at = start; at < lines.length; at++) {
    if (lines[at]!.trim() === "") continue
    if (indentOf(lines[at]!) <= indent) break
    end = at + 1
  }
  return end
}

const dedent = (lines: ReadonlyArray<string>): ReadonlyArray<string> => {
  const indent = lines.reduce((least, line) => line.trim() === "" ? least : Math.min(least, indentOf(line)), 1_000)
  return lines.map((line) => line.slice(Math.min(indent, line.length)))
}

/** The rows of a list table: each starts with `* -`, further cells with `-`. */
const listTable = (lines: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> => {
  const rows: Array<Array<string>> = []
  for (const line of lines) {
    const cell = /^(\* +)?- ?(.*)$/.exec(line.trim())
    if (cell?.[1] !== undefined) rows.push([cell[2]!])
    else if (cell !== null && indentOf(line) <= 3) rows.at(-1)?.push(cell[2]!)
    else {
      const row = rows.at(-1)
      if (row !== undefined) row[row.length - 1] += ` ${line.trim()}`
    }
  }
  return rows
}

const unquote = (cell: string): string => cell.trim().replace(/^"(.*)"$/s, "$1").replaceAll("\"\"", "\"")
