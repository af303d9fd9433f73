import type { Limits } from "../../Prepared.ts"
import { BlockBuffer, type BlockWriter, type BlockSink } from "../BlockSink.ts"
import { ReadFailure } from "../ReadFailure.ts"
import { type SheetCell, SheetRows, underHeading } from "../SheetRows.ts"
import { childElements, eachElement, type XmlElement } from "../Xml.ts"
import { cellsOf, repeats, Story, type StoryContext } from "./Story.ts"

/** Writes the sheets of a spreadsheet, a page each under its name, and gives how many there are. */
export const writeSheets = (
  content: Uint8Array,
  context: StoryContext,
  writer: BlockWriter,
  limits: Limits
): number => {
  let count = 0
  let sheet: Sheet | undefined
  eachElement(content, (name, parent, attributes) => {
    if (name === "table:table" && sheetParents.has(parent)) {
      sheet?.end()
      count++
      if (count > limits.pages) throw new ReadFailure("limit", `more than ${limits.pages} sheets`)
      writer.page(count)
      sheet = new Sheet(context, underHeading(attributes["table:name"] ?? "", writer), limits.characters)
    }
    return name === "table:table-row" || name === "table:shapes"
  }, (element) => {
    if (element.name === "table:table-row") sheet?.row(element)
    else sheet?.shapes(element)
  })
  sheet?.end()
  return count
}

const sheetParents = new Set(["office:spreadsheet", "office:body"])

class Sheet {
  readonly #story: Story
  readonly #sink: BlockSink
  readonly #rows: SheetRows
  readonly #after = new BlockBuffer()
  #number = 0

  constructor(context: StoryContext, sink: BlockSink, maxCharacters: number) {
    this.#story = new Story(context)
    this.#sink = sink
    this.#rows = new SheetRows(sink, maxCharacters)
  }

  row(row: XmlElement): void {
    const cells: Array<SheetCell> = []
    let column = 0
    for (const cell of cellsOf(row)) {
      const text = this.#cell(cell)
      const times = repeats(cell, "table:number-columns-repeated", text)
      if (text !== "") { for (let i = 0; i < times; i++) cells.push([column + i, text]) }
      column += Number(cell.attributes["table:number-columns-repeated"] ?? 1) || 1
    }
    const claimed = Number(row.attributes["table:number-rows-repeated"] ?? 1) || 1
    const times = cells.length === 0 ? 0 : repeats(row, "table:number-rows-repeated", "filled")
    for (let i = 0; i < times; i++) this.#rows.row(this.#number + i, cells)
    this.#number += claimed
  }

  /** Shapes drawn over the sheet; their text follows the cells. */
  shapes(element: XmlElement): void {
    this.#story.blocks(element, this.#after)
  }

  end(): void {
    this.#rows.end()
    this.#after.moveTo(this.#sink)
  }

  /** What the cell shows; dates as ISO 8601, whatever the locale they are shown in. Comments and shapes are kept. */
  #cell(cell: XmlElement): string {
    for (const child of childElements(cell)) {
      if (child.name === "office:annotation" || child.name.startsWith("draw:")) this.#story.block(child, this.#after)
    }
    const date = cell.attributes["office:date-value"] ?? cell.attributes["table:date-value"]
    if (date !== undefined && /^\d{4}-\d\d-\d\d/.test(date)) {
      return date.replace(/\.\d+$/, "").replace(/T00:00:00$/, "").replace("T", " ").replace(/(:\d\d):00$/, "$1")
    }
    const paragraphs = childElements(cell).filter((child) => child.name === "text:p" || child.name === "text:h")
    const text = paragraphs.length === 0 ? "" : this.#story.cellText({ ...cell, children: [...paragraphs] })
    return text === "" ? cell.attributes["office:value"] ?? cell.attributes["office:string-value"] ?? "" : text
  }
}
