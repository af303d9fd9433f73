import { BlockWriter, rowLine } from "../BlockSink.ts"
import type { DocumentBuilder } from "../DocumentBuilder.ts"
import { htmlBlocks } from "../Html.ts"
import { inlineText } from "./Inline.ts"
import { dedent, firstCode, indentation, isDefinition, linkLabels, tableRow } from "./Lines.ts"

const quote = /^ {0,3}> ?/
const atx = /^ {0,3}(#{1,6})(?=[ \t]|$)(.*)$/
const setext = /^ {0,3}(=+|-+)[ \t]*$/
const fence = /^([ \t]*)(`{3,}|~{3,})[ \t]*([^`]*)$/
const bullet = /^([ \t]*)([-*+]|\d{1,9}[.)])(?:[ \t]+(.*)|)$/
const rule = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/
const delimiterRow = /^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/
const admonition = /^[ \t]*(?::{3,}.*|!!!.*|\[!\w+\].*)$/

/** Elements that begin a block of HTML, which ends with a blank line (CommonMark 0.31, 4.6, kind 6). */
const htmlStart = new RegExp(
  "^ {0,3}</?(?:address|article|aside|blockquote|center|dd|details|dialog|div|dl|dt|fieldset|figcaption|figure|footer|" +
    "form|h[1-6]|header|hr|iframe|img|legend|li|main|menu|nav|ol|p|picture|section|summary|table|tbody|td|tfoot|th|" +
    "thead|tr|ul|video)(?=[\\s/>]|$)",
  "i"
)
/** Kinds 1 to 5, which end with their own end mark. */
const htmlVerbatim: ReadonlyArray<readonly [start: RegExp, end: RegExp]> = [
  [/^ {0,3}<!--/, /-->/],
  [/^ {0,3}<(?:script|style|textarea)(?=[\s>]|$)/i, /<\/(?:script|style|textarea)>/i],
  [/^ {0,3}<pre(?=[\s>]|$)/i, /<\/pre>/i],
  [/^ {0,3}<\?/, /\?>/]
]

interface Item {
  /** Columns of the marker and of the text after it. */
  readonly marker: number
  readonly text: number
}

/**
 * The blocks of CommonMark with GFM tables, one line at a time and in linear time. Quotes are read as what they
 * hold; list items keep their nesting as indentation.
 */
export class MarkdownBlocks {
  readonly #lines: ReadonlyArray<string>
  readonly #builder: DocumentBuilder
  readonly #writer: BlockWriter
  readonly #labels: ReadonlySet<string>
  readonly #mdx: boolean
  #at = 0
  #paragraph: Array<string> = []
  #items: Array<Item> = []
  #label = ""
  /** Whether `#paragraph` is the text of the item that `#label` marks. */
  #inItem = false
  #firstHeading: string | undefined = undefined

  constructor(source: string, builder: DocumentBuilder, options: { readonly mdx?: boolean } = {}) {
    this.#lines = source.split("\n")
    this.#builder = builder
    this.#writer = new BlockWriter(builder)
    this.#labels = source.includes("]:") ? linkLabels(this.#lines) : new Set()
    this.#mdx = options.mdx ?? false
  }

  /** Whether a heading of the first level stands at the beginning. */
  get hasTitle(): boolean {
    return this.#lines.slice(0, 50).some((line, at) =>
      /^ {0,3}#[ \t]/.test(line) || /^<h1[\s>]/i.test(line) || (at > 0 && /^=+[ \t]*$/.test(line))
    )
  }

  /** Writes all blocks; answers the first heading. */
  read(): string | undefined {
    while (this.#at < this.#lines.length) this.#line(this.#lines[this.#at]!)
    this.#endItems()
    this.#writer.end()
    return this.#firstHeading
  }

  /** Reads what starts at the current line and moves behind it. */
  #line(raw: string): void {
    let line = raw
    let first = firstCode(line)
    for (let depth = 0; depth < 16 && first === 0x3e && quote.test(line); depth++) {
      line = line.replace(quote, "")
      first = firstCode(line)
    }
    if (first === 0) {
      this.#endParagraph()
      this.#at++
      return
    }
    const indent = indentation(line)
    if (this.#items.length > 0 && this.#paragraph.length === 0 && !this.#isItemLine(line, indent)) this.#endItems()
    if (this.#special(first, line, indent, raw.length - line.length)) return
    if (this.#table(line)) return
    if (this.#isIndentedCode(indent)) {
      this.#indentedCode()
      return
    }
    this.#paragraph.push(line.trimStart())
    this.#at++
  }

  /** Blocks that their first character gives away. */
  #special(first: number, line: string, indent: number, quoted: number): boolean {
    switch (first) {
      case 0x23: // #
        return this.#atxHeading(line)
      case 0x60: // `
      case 0x7e: // ~
        return this.#fencedCode(line, quoted)
      case 0x3d: // =
        return this.#setextHeading(line, 1)
      case 0x2d: // -
        return this.#setextHeading(line, 2) || this.#rule(line) || this.#item(line, indent)
      case 0x2a: // *
        return this.#rule(line) || this.#item(line, indent)
      case 0x5f: // _
        return this.#rule(line)
      case 0x2b: // +
        return this.#item(line, indent)
      case 0x3c: // <
        return this.#html(line)
      case 0x5b: // [
        return this.#drop(this.#paragraph.length === 0 && (isDefinition(line) || admonition.test(line)))
      case 0x3a: // :
        return this.#drop(admonition.test(line))
      case 0x69: // i
      case 0x65: // e
        return this.#drop(this.#mdx && this.#paragraph.length === 0 && /^(?:import|export)\s.*(?:from|=|\{)/.test(line))
      default:
        return first >= 0x30 && first <= 0x39 && this.#item(line, indent)
    }
  }

  #drop(dropped: boolean): boolean {
    if (dropped) this.#at++
    return dropped
  }

  #inline(text: string): string {
    return inlineText(text, this.#labels)
  }

  #isItemLine(line: string, indent: number): boolean {
    return indent >= this.#items[0]!.text || bullet.test(line)
  }

  #isIndentedCode(indent: number): boolean {
    return this.#paragraph.length === 0 && indent >= (this.#items.at(-1)?.text ?? 0) + 4
  }

  #endParagraph(): void {
    if (this.#paragraph.length > 0) {
      const text = this.#inline(this.#paragraph.join("\n"))
      this.#paragraph = []
      if (this.#inItem) this.#writer.item(this.#items.length - 1, this.#label, text)
      else this.#writer.add("paragraph", text)
    }
    this.#inItem = false
  }

  #endItems(): void {
    this.#endParagraph()
    this.#items = []
  }

  #heading(text: string, level: number): void {
    const heading = this.#inline(text.replace(/\{#[\w-]{1,200}\}$/, "").trim()).replace(/\n/g, " ")
    this.#firstHeading ??= heading
    this.#writer.add("heading", heading, level)
  }

  #atxHeading(line: string): boolean {
    const heading = atx.exec(line)
    if (heading === null) return false
    this.#endItems()
    this.#heading(heading[2]!.trim().replace(/(?<![^ \t])#+$/, ""), heading[1]!.length)
    this.#at++
    return true
  }

  #setextHeading(line: string, level: number): boolean {
    if (this.#paragraph.length === 0 || this.#inItem || !setext.test(line)) return false
    const text = this.#paragraph.join(" ")
    this.#paragraph = []
    this.#heading(text, level)
    this.#at++
    return true
  }

  #rule(line: string): boolean {
    if (!rule.test(line)) return false
    this.#endItems()
    this.#at++
    return true
  }

  #fencedCode(line: string, quoted: number): boolean {
    const open = fence.exec(line)
    if (open === null || (open[2]!.startsWith("`") && open[3]!.includes("`"))) return false
    this.#endParagraph()
    const close = new RegExp(`^[ \\t]*${open[2]![0]}{${open[2]!.length},}[ \\t]*$`)
    const code: Array<string> = []
    for (this.#at++; this.#at < this.#lines.length; this.#at++) {
      const raw = this.#lines[this.#at]!
      const text = quoted > 0 ? raw.replace(quote, "") : raw
      if (close.test(text)) break
      // A quote ends where its marks do, its code with it.
      if (quoted > 0 && !quote.test(raw)) break
      code.push(dedent(text, open[1]!.length))
    }
    if (quoted === 0 || close.test(this.#lines[this.#at]?.replace(quote, "") ?? "")) this.#at++
    this.#code(code)
    return true
  }

  #indentedCode(): void {
    const column = (this.#items.at(-1)?.text ?? 0) + 4
    const code: Array<string> = []
    for (; this.#at < this.#lines.length; this.#at++) {
      const line = this.#lines[this.#at]!
      if (line.trim() !== "" && indentation(line) < column) break
      code.push(dedent(line, column))
    }
    this.#code(code)
  }

  #code(lines: ReadonlyArray<string>): void {
    this.#writer.add("code", lines.join("\n"))
    // Two code blocks in a row are two.
    this.#writer.end()
  }

  #item(line: string, indent: number): boolean {
    const item = bullet.exec(line)
    if (item === null || this.#isIndentedCode(indent)) return false
    // Inside a paragraph a number is one, and an empty marker is no list (CommonMark, 5.3).
    const interrupts = this.#paragraph.length > 0 && !this.#inItem && this.#items.length === 0
    if (interrupts && (item[3] === undefined || (/^\d/.test(item[2]!) && item[2]!.slice(0, -1) !== "1"))) return false
    if (this.#paragraph.length > 0) this.#endParagraph()
    while (this.#items.length > 0 && indent < this.#items.at(-1)!.text) this.#items.pop()
    this.#items.push({ marker: indent, text: indent + item[2]!.length + 1 })
    this.#label = /^\d/.test(item[2]!) ? item[2]! : "-"
    this.#inItem = true
    this.#paragraph = item[3] === undefined ? [] : [item[3]]
    this.#at++
    return true
  }

  #table(line: string): boolean {
    if (!line.includes("|")) return false
    const next = this.#lines[this.#at + 1]?.replace(quote, "") ?? ""
    if (!next.includes("-") || !delimiterRow.test(next)) return false
    this.#endParagraph()
    const rows = [tableRow(line)]
    for (this.#at += 2; this.#at < this.#lines.length; this.#at++) {
      const row = this.#lines[this.#at]!.replace(quote, "")
      if (!row.includes("|")) break
      rows.push(tableRow(row))
    }
    this.#writer.add("table", rows.map((row) => rowLine(row.map((cell) => this.#inline(cell)))).join("\n"))
    return true
  }

  #html(line: string): boolean {
    const end = htmlVerbatim.find(([start]) => start.test(line))?.[1]
    if (end === undefined && (this.#paragraph.length > 0 || !htmlStart.test(line))) return false
    this.#endParagraph()
    const html: Array<string> = []
    for (; this.#at < this.#lines.length; this.#at++) {
      const next = this.#lines[this.#at]!.replace(quote, "")
      if (end === undefined && next.trim() === "") break
      html.push(next)
      if (end?.test(next) === true) {
        this.#at++
        break
      }
    }
    const source = html.join("\n")
    if (/[^<>\s]/.test(source.replace(/<[^<>]*>/g, "")) || /\balt=/i.test(source)) {
      this.#writer.end()
      const facts = htmlBlocks(source, this.#builder)
      this.#firstHeading ??= facts.title
    }
    return true
  }
}
