import { BlockBuffer, type BlockSink, CellText, oneLine, rowLine, withPrefix } from "../BlockSink.ts"
import { childAt, childElements, textContent, type XmlElement } from "../Xml.ts"
import { writeForms } from "./Forms.ts"
import type { DocumentStyles } from "./Styles.ts"

export interface StoryContext {
  readonly styles: DocumentStyles
  /** Collects endnotes for the end of the document. */
  readonly endnotes: BlockBuffer
  readonly pageBreak: () => void
  /** Receives the text in the document's title style. */
  readonly title: (text: string) => void
}

/** Most copies of repeated content that are written: more add nothing. */
const maxRepeats = 256
const maxBlanks = 100

/** Elements whose text is not part of what a person reads. */
const silent = new Set([
  "text:tracked-changes",
  "text:table-of-content-source",
  "text:alphabetical-index-source",
  "text:illustration-index-source",
  "text:table-index-source",
  "text:object-index-source",
  "text:user-index-source",
  "text:bibliography-source",
  "text:sequence-decls",
  "text:variable-decls",
  "text:user-field-decls",
  "text:ruby-text",
  "text:note-citation",
  "text:script",
  "office:forms",
  "office:event-listeners",
  "office:binary-data",
  "draw:object"
])

/** Turns OpenDocument content into blocks (OpenDocument 1.3 part 3, chapters 5, 6, 9 and 10). */
export class Story {
  readonly #context: StoryContext
  /** Frames, notes and comments inside the current paragraph; they follow it. */
  #after = new BlockBuffer()
  /** Page breaks inside a paragraph or table, which belongs to the page on which it starts. */
  #breaks = 0
  #tables = 0

  constructor(context: StoryContext) {
    this.#context = context
  }

  block(element: XmlElement, sink: BlockSink): void {
    switch (element.name) {
      case "text:h":
      case "text:p":
        return this.#paragraph(element, sink)
      case "text:list":
        return this.#list(element, sink, 0, undefined)
      case "table:table":
        return this.#table(element, sink)
      case "office:annotation":
        return this.#comment(element, sink)
      case "svg:title":
      case "svg:desc":
        // The author's description of a picture.
        return sink.add("paragraph", oneLine(textContent(element)))
      case "office:forms":
        return writeForms(element, sink)
      case "text:soft-page-break":
        this.#breaks++
        return this.#turnPages()
      default:
        if (!silent.has(element.name)) this.blocks(element, sink)
    }
  }

  blocks(parent: XmlElement, sink: BlockSink): void {
    for (const child of childElements(parent)) this.block(child, sink)
  }

  /** Reads the text of a paragraph, writes it with `write`, then writes its frames, notes and comments. */
  #read(paragraph: XmlElement, sink: BlockSink, write: (text: string) => void): void {
    const outer = this.#after
    this.#after = new BlockBuffer()
    const parts: Array<string> = []
    this.#inline(paragraph, parts)
    const text = parts.join("").trimEnd()
    if (text !== "") write(text)
    this.#after.moveTo(sink)
    this.#after = outer
    this.#turnPages()
  }

  #turnPages(): void {
    if (this.#tables > 0) return
    for (; this.#breaks > 0; this.#breaks--) this.#context.pageBreak()
  }

  #paragraph(paragraph: XmlElement, sink: BlockSink): void {
    this.#read(paragraph, sink, (text) => {
      const style = this.#context.styles.paragraph(paragraph.attributes["text:style-name"])
      const level = paragraph.name === "text:h"
        ? Number(paragraph.attributes["text:outline-level"] ?? style.heading ?? 1)
        : style.heading
      if (style.title === true) this.#context.title(text)
      if (level !== undefined) sink.add("heading", oneLine(text), level)
      else sink.add(style.code === true ? "code" : "paragraph", text)
    })
  }

  #inline(element: XmlElement, parts: Array<string>): void {
    for (const child of element.children) {
      if (typeof child === "string") {
        // White space collapses, also between elements and at the start (OpenDocument part 3, 6.1.2).
        const collapsed = child.replace(/\s+/g, " ")
        parts.push(/(?:^|\s)$/.test(parts.at(-1) ?? "") ? collapsed.trimStart() : collapsed)
        continue
      }
      switch (child.name) {
        case "text:s":
          parts.push(" ".repeat(Math.min(maxBlanks, Number(child.attributes["text:c"] ?? 1) || 1)))
          break
        case "text:tab":
        case "text:tab-stop":
          parts.push("\t")
          break
        case "text:line-break":
          parts.push("\n")
          break
        case "text:soft-page-break":
          if (this.#tables > 0 || parts.some((part) => part.trim() !== "")) this.#breaks++
          else this.#context.pageBreak()
          break
        case "text:note":
        case "text:footnote":
        case "text:endnote":
          parts.push(this.#note(child))
          break
        case "office:annotation":
          this.#comment(child, this.#after)
          break
        default:
          if (silent.has(child.name)) break
          if (isShape(child)) new Story(this.#context).block(child, this.#after)
          else this.#inline(child, parts)
      }
    }
  }

  #note(note: XmlElement): string {
    const kind = note.attributes["text:note-class"] ?? note.name.slice("text:".length)
    const citation = childElements(note).find((child) => child.name.endsWith("-citation"))
    const body = childElements(note).find((child) => child.name.endsWith("-body"))
    const mark = `[${oneLine(textContent(citation))}]`
    const sink = kind === "endnote" ? this.#context.endnotes : this.#after
    if (body !== undefined) new Story(this.#context).blocks(body, withPrefix(`${mark} `, sink))
    return mark
  }

  #comment(comment: XmlElement, sink: BlockSink): void {
    const author = oneLine(textContent(childAt(comment, "dc:creator")))
    new Story(this.#context).blocks(comment, withPrefix(author === "" ? "Comment: " : `Comment by ${author}: `, sink))
  }

  #list(list: XmlElement, sink: BlockSink, depth: number, inherited: string | undefined): void {
    const style = list.attributes["text:style-name"] ?? inherited
    const label = this.#context.styles.list(style, depth)
    let number = 0
    for (const item of childElements(list)) {
      if (item.name !== "text:list-item" && item.name !== "text:list-header") continue
      if (item.name === "text:list-item") {
        number = Number(item.attributes["text:start-value"] ?? number + 1)
      }
      this.#item(item, sink, depth, item.name === "text:list-item" ? label(number) : undefined, style)
    }
  }

  /** Writes one item with its paragraphs in one line, then the lists inside it. Without a label it is a list's header. */
  #item(item: XmlElement, sink: BlockSink, depth: number, label: string | undefined, style: string | undefined): void {
    const texts: Array<string> = []
    const after = new BlockBuffer()
    const flush = (): void => {
      const text = texts.splice(0).join(" ")
      if (text !== "" && label !== undefined) sink.item(depth, label, text)
      else if (text !== "") sink.add("paragraph", text)
      after.moveTo(sink)
    }
    for (const child of childElements(item)) {
      if (child.name === "text:p") {
        this.#read(child, after, (text) => {
          texts.push(text)
        })
      } else {
        flush()
        if (child.name === "text:list") this.#list(child, sink, depth + 1, style)
        else this.block(child, sink)
      }
    }
    flush()
  }

  #table(table: XmlElement, sink: BlockSink): void {
    const rows = rowsOf(table)
    const cells = rows.length === 1 && rows[0] !== undefined ? cellsOf(rows[0]) : []
    // A table of one cell is a frame around text.
    if (cells.length === 1 && cells[0] !== undefined) return this.blocks(cells[0], sink)
    this.#tables++
    const lines = rows.flatMap((row) => {
      const line = rowLine(
        cellsOf(row).flatMap((cell) => {
          const text = this.cellText(cell)
          return Array<string>(repeats(cell, "table:number-columns-repeated", text)).fill(text)
        })
      )
      return Array<string>(repeats(row, "table:number-rows-repeated", line)).fill(line)
    })
    this.#tables--
    this.#breaks += childElements(table, "text:soft-page-break").length
    sink.add("table", lines.filter((line) => line !== "").join("\n"))
    this.#turnPages()
  }

  /** The text of a cell on one line. */
  cellText(cell: XmlElement): string {
    const text = new CellText()
    this.blocks(cell, text)
    return text.text
  }
}

/** How often an element is repeated; an empty one counts as 0. */
export const repeats = (element: XmlElement, attribute: string, text: string): number =>
  text === "" ? 1 : Math.max(1, Math.min(maxRepeats, Number(element.attributes[attribute] ?? 1) || 1))

const rowsOf = (parent: XmlElement): ReadonlyArray<XmlElement> =>
  childElements(parent).flatMap((child) => {
    if (child.name === "table:table-row") return [child]
    return /^table:table-(?:header-rows|rows|row-group)$/.test(child.name) ? rowsOf(child) : []
  })

export const cellsOf = (row: XmlElement): ReadonlyArray<XmlElement> =>
  childElements(row).filter(({ name }) => name === "table:table-cell" || name === "table:covered-table-cell")

const isShape = (element: XmlElement): boolean => /^(?:draw|dr3d):/.test(element.name) && element.name !== "draw:a"
