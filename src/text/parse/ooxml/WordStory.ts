import { BlockBuffer, type BlockSink, CellText, oneLine, rowLine, withPrefix } from "../BlockSink.ts"
import type { HiddenText } from "../HiddenText.ts"
import { childAt, childElements, type XmlElement } from "../Xml.ts"
import { chooseAlternate } from "./AlternateContent.ts"
import { drawingText, graphicBlocks } from "./Drawing.ts"
import type { OfficePackage } from "./Package.ts"
import type { NoteKind, WordNotes } from "./WordNotes.ts"
import type { WordNumbering } from "./WordNumbering.ts"
import { listPlace, outlineLevel, type ParagraphStyle, type ParagraphStyles, value } from "./WordStyles.ts"
import { WordText } from "./WordText.ts"

/** What all stories of a document share: body, headers, notes. */
export interface WordContext {
  readonly pack: OfficePackage
  readonly styles: ParagraphStyles
  readonly numbering: WordNumbering
  readonly notes: WordNotes
  /** Collects endnotes for the end of the document. */
  readonly endnotes: BlockSink
  readonly pageBreak: () => void
  readonly hidden: HiddenText
  /** Receives the text in the document's title style. */
  readonly title: (text: string) => void
}

/** Turns the content of one part into blocks. */
export class WordStory {
  readonly #context: WordContext
  readonly #part: string
  /** Text boxes and footnotes of the current paragraph; they follow it. */
  #after = new BlockBuffer()
  /** Page breaks inside a paragraph or table, which belongs to the page on which it starts. */
  #breaks = 0
  #tables = 0
  readonly #text: WordText

  constructor(context: WordContext, part: string) {
    this.#context = context
    this.#part = part
    this.#text = new WordText({
      box: (content) => this.#box(content),
      note: (kind, id) => this.#note(kind, id),
      graphic: (graphic) => graphicBlocks(context.pack, part, graphic, this.#after),
      hidden: (text) => context.hidden.add(text),
      pageBreak: (afterText) => {
        if (afterText || this.#tables > 0) this.#breaks++
        else context.pageBreak()
      }
    })
  }

  /** Reads one element of block content: a paragraph, a table, or a wrapper of them. */
  block(element: XmlElement, sink: BlockSink): void {
    switch (element.name) {
      case "w:p":
        return this.#paragraph(element, sink)
      case "w:tbl":
        return this.#table(element, sink)
      case "w:del":
      case "w:moveFrom":
      case "w:sdtPr":
      case "w:sectPr":
        return
      case "mc:AlternateContent": {
        const chosen = chooseAlternate(element)
        if (chosen !== undefined) this.blocks(chosen, sink)
        return
      }
      default:
        return this.blocks(element, sink)
    }
  }

  blocks(parent: XmlElement, sink: BlockSink): void {
    for (const child of childElements(parent)) this.block(child, sink)
  }

  #paragraph(paragraph: XmlElement, sink: BlockSink): void {
    const outer = this.#after
    this.#after = new BlockBuffer()
    const text = this.#text.of(paragraph)
    if (text.trim() !== "") this.#write(text, childAt(paragraph, "w:pPr"), sink)
    this.#after.moveTo(sink)
    this.#after = outer
    this.#turnPages()
  }

  #turnPages(): void {
    if (this.#tables > 0) return
    for (; this.#breaks > 0; this.#breaks--) this.#context.pageBreak()
  }

  #write(text: string, properties: XmlElement | undefined, sink: BlockSink): void {
    const style = this.#context.styles(value(childAt(properties, "w:pStyle")))
    const outline = outlineLevel(properties)
    const heading = outline === undefined ? style.heading : outline < 9 ? outline + 1 : undefined
    const label = this.#label(properties, style)
    if (heading !== undefined) {
      const numbered = label === undefined || label.text === "-" ? text : `${label.text} ${text}`
      sink.add("heading", oneLine(numbered), heading)
      if (style.title === true) this.#context.title(text)
    } else if (label !== undefined) {
      sink.item(label.level, label.text, text)
    } else {
      sink.add(style.code === true ? "code" : "paragraph", text)
    }
  }

  /** The label of a list item or numbered heading; `undefined` outside lists. */
  #label(properties: XmlElement | undefined, style: ParagraphStyle): { level: number; text: string } | undefined {
    const own = listPlace(properties)
    const id = own?.id ?? style.list?.id
    if (id === undefined || id === "0") return undefined
    const level = own?.level ?? style.list?.level ?? (style.heading ?? 1) - 1
    return { level, text: this.#context.numbering.next(id, Math.min(8, level)) }
  }

  #table(table: XmlElement, sink: BlockSink): void {
    const rows = wrapped(table, "w:tr").map((row) => wrapped(row, "w:tc"))
    const only = rows.length === 1 ? rows[0] : undefined
    // A table of one cell is a frame around text.
    if (only?.length === 1 && only[0] !== undefined) return this.blocks(only[0], sink)
    this.#tables++
    const lines = rows.map((cells) => rowLine(cells.map((cell) => this.#cell(cell))))
    this.#tables--
    sink.add("table", lines.filter((line) => line !== "").join("\n"))
    this.#turnPages()
  }

  #cell(cell: XmlElement): string {
    const text = new CellText()
    this.blocks(cell, text)
    return text.text
  }

  #box(content: XmlElement): void {
    // Its paragraphs have their own order of text and boxes, so they are read as a separate story.
    const story = new WordStory(this.#context, this.#part)
    if (content.name === "a:txBody") drawingText(content, this.#after)
    else story.blocks(content, this.#after)
  }

  #note(kind: NoteKind, id: string): string {
    const note = this.#context.notes.take(kind, id)
    if (note?.first !== undefined) {
      const story = new WordStory({ ...this.#context, pageBreak: () => {} }, note.first.part)
      const sink = kind === "footnote" ? this.#after : this.#context.endnotes
      story.blocks(note.first.content, withPrefix(`${note.mark} `, sink))
    }
    return note?.mark ?? ""
  }
}

/** Rows of a table or cells of a row, also inside content controls and insertions; deleted rows are left out. */
const wrapped = (parent: XmlElement, name: "w:tr" | "w:tc"): ReadonlyArray<XmlElement> =>
  childElements(parent).flatMap((child) => {
    if (child.name === name) return childAt(child, "w:trPr", "w:del") === undefined ? [child] : []
    return child.name === "w:del" || child.name === "w:p" || child.name === "w:tbl" ? [] : wrapped(child, name)
  })
