import type { Remark } from "../../../domain/Document.ts"
import type { Limits } from "../../Prepared.ts"
import { BlockBuffer, type BlockWriter, type BlockSink } from "../BlockSink.ts"
import { ReadFailure } from "../ReadFailure.ts"
import { CellMessages, rangeName, type SheetCell, SheetRows, sheetSink, uncalculated } from "../SheetRows.ts"
import { childElements, eachElement, type XmlElement } from "../Xml.ts"
import { cellsOf, repeats, Story, type StoryContext } from "./Story.ts"

/** Writes the sheets of a spreadsheet, each as a page under its name, and returns how many there are. Adds to the remarks. */
export const writeSheets = (
  content: Uint8Array,
  context: StoryContext,
  writer: BlockWriter,
  limits: Limits,
  remarks: Array<Remark>
): number => {
  let count = 0
  let formulas = 0
  let sheet: Sheet | undefined
  const validations: Validations = new Map()
  const end = (): void => {
    if (sheet !== undefined) formulas += sheet.end()
  }
  eachElement(content, (name, parent, attributes) => {
    if (name === "table:table" && sheetParents.has(parent)) {
      end()
      count++
      if (count > limits.pages) throw new ReadFailure("limit", `more than ${limits.pages} sheets`)
      const facts = {
        name: attributes["table:name"] ?? "",
        page: count,
        hidden: context.styles.hides(attributes["table:style-name"])
      }
      sheet = new Sheet(context, sheetSink(facts, writer, remarks), limits.characters, validations)
    }
    return name === "table:table-row" || name === "table:shapes" || name === "office:forms" || name === "table:content-validation"
  }, (element) => {
    if (element.name === "table:content-validation") validations.set(element.attributes["table:name"] ?? "", messagesOf(element, context))
    else if (element.name === "table:table-row") sheet?.row(element)
    else sheet?.shapes(element)
  })
  end()
  remarks.push(...uncalculated(formulas))
  return count
}

const sheetParents = new Set(["office:spreadsheet", "office:body"])

type Message = readonly [kind: "Input" | "Error", title: string, text: string]

/** The messages of cells by the name of their validation: all validations precede the sheets. */
type Validations = Map<string, ReadonlyArray<Message>>

const messagesOf = (validation: XmlElement, context: StoryContext): ReadonlyArray<Message> =>
  childElements(validation).flatMap((child): ReadonlyArray<Message> => {
    const kind = child.name === "table:help-message" ? "Input" : child.name === "table:error-message" ? "Error" : undefined
    if (kind === undefined || child.attributes["table:display"] !== "true") return []
    return [[kind, child.attributes["table:title"] ?? "", new Story(context).cellText(child)]]
  })

class Sheet {
  readonly #story: Story
  readonly #sink: BlockSink
  readonly #rows: SheetRows
  readonly #after = new BlockBuffer()
  readonly #validations: Validations
  readonly #messages = new CellMessages()
  #number = 0
  #uncalculated = 0

  constructor(context: StoryContext, sink: BlockSink, maxCharacters: number, validations: Validations) {
    this.#story = new Story(context)
    this.#sink = sink
    this.#validations = validations
    this.#rows = new SheetRows(sink, maxCharacters)
  }

  row(row: XmlElement): void {
    const claimed = claimedOf(row, "table:number-rows-repeated")
    const cells: Array<SheetCell> = []
    let column = 0
    for (const cell of cellsOf(row)) {
      const text = this.#cell(cell)
      const claimedColumns = claimedOf(cell, "table:number-columns-repeated")
      const messages = this.#validations.get(cell.attributes["table:content-validation-name"] ?? "") ?? []
      const range = messages.length === 0 ? "" : rangeName(column, this.#number, column + claimedColumns - 1, this.#number + claimed - 1)
      for (const [kind, title, words] of messages) this.#messages.add(kind, [range], title, words)
      const times = repeats(cell, "table:number-columns-repeated", text)
      if (text !== "") { for (let i = 0; i < times; i++) cells.push([column + i, text]) }
      column += claimedColumns
    }
    const times = cells.length === 0 ? 0 : repeats(row, "table:number-rows-repeated", "filled")
    for (let i = 0; i < times; i++) this.#rows.row(this.#number + i, cells)
    this.#number += claimed
  }

  /** Collects shapes drawn over the sheet and controls of its forms; their text follows the cells. */
  shapes(element: XmlElement): void {
    this.#story.block(element, this.#after)
  }

  /** Ends the sheet. Call it after the last row. Returns how many formulas have no result. */
  end(): number {
    this.#rows.end()
    this.#messages.writeTo(this.#sink)
    this.#after.moveTo(this.#sink)
    return this.#uncalculated
  }

  /** The text that the cell shows; dates as ISO 8601, whatever the locale. Comments and shapes are collected. */
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
    const value = text === "" ? valueOf(cell) : text
    const formula = cell.attributes["table:formula"]
    if (value !== undefined || paragraphs.length > 0 || formula === undefined) return value ?? ""
    this.#uncalculated++
    return formula.replace(/^[a-z]+:(?==)/, "")
  }
}

/** How many rows or columns an element stands for, filled or not, limited to the size of a sheet. */
const claimedOf = ({ attributes }: XmlElement, name: string): number =>
  Math.min(Math.max(Math.trunc(Number(attributes[name] ?? 1)) || 1, 1), mostRows)

const mostRows = 1_048_576

/** The value of a cell, shown or not. OpenOffice.org 1 had it under other names. */
const valueOf = ({ attributes }: XmlElement): string | undefined =>
  ["value", "string-value", "boolean-value", "time-value"]
    .flatMap((name) => [attributes[`office:${name}`], attributes[`table:${name}`]])
    .find((value) => value !== undefined)
