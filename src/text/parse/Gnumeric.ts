import { gunzipSync } from "node:zlib"
import type { Remark } from "../../domain/Document.ts"
import type { Limits } from "../Prepared.ts"
import { BlockBuffer, type BlockSink, BlockWriter } from "./BlockSink.ts"
import { DocumentBuilder } from "./DocumentBuilder.ts"
import { type CellFormat, formatOf, plainNumber } from "./ooxml/CellFormats.ts"
import { ReadFailure } from "./ReadFailure.ts"
import type { Reader } from "./Reader.ts"
import { CellMessages, rangeName, type SheetCell, SheetRows, sheetSink, uncalculated } from "./SheetRows.ts"
import { childElements, eachElement, textContent, type XmlElement } from "./Xml.ts"

/** Reads Gnumeric workbooks: XML, mostly in gzip. They store formulas without results, so the formula is shown. */
export const gnumeric: Reader = ({ bytes, format, limits }) => {
  const builder = new DocumentBuilder(limits.characters)
  const writer = new BlockWriter(builder)
  const remarks: Array<Remark> = []
  let pages = 0
  let hidden = false
  let formulas = 0
  let sheet: Sheet | undefined
  eachElement(unpacked(bytes, limits), (name, parent, attributes) => {
    if (name === "gnm:Sheet") {
      sheet?.end()
      sheet = undefined
      hidden = attributes["Visibility"]?.endsWith("HIDDEN") === true
    }
    return name === "gnm:Name" && parent === "gnm:Sheet" || name === "gnm:StyleRegion" || name === "gnm:Cell" || parent === "gnm:Objects"
  }, (element) => {
    if (element.name === "gnm:Name") {
      if (++pages > limits.pages) throw new ReadFailure("limit", `more than ${limits.pages} sheets`)
      sheet = new Sheet(sheetSink({ name: textContent(element), page: pages, hidden }, writer, remarks), limits.characters)
    } else if (element.name === "gnm:StyleRegion") sheet?.style(element)
    else if (element.name !== "gnm:Cell") sheet?.object(element)
    else if (sheet?.cell(element) === true) formulas++
  })
  sheet?.end()
  writer.end()
  remarks.push(...uncalculated(formulas))
  return builder.build({ format, pages, remarks })
}

const unpacked = (bytes: Uint8Array, { expansion, unpackedBytes }: Limits): Uint8Array => {
  if (bytes[0] !== 0x1f) return bytes
  const most = Math.min(unpackedBytes, Math.max(2 ** 20, bytes.length * expansion))
  try {
    return gunzipSync(bytes, { maxOutputLength: most })
  } catch (error) {
    if (error instanceof RangeError) throw new ReadFailure("limit", `unpacks to more than ${most} bytes`)
    throw error
  }
}

/** Most regions of dates and percentages that are searched for each number. */
const mostRegions = 1_000

/** A region of cells whose numbers have their own format. */
interface Region {
  readonly columns: readonly [from: number, to: number]
  readonly rows: readonly [from: number, to: number]
  readonly format: CellFormat
}

/** Styles of a validation that shows no message. */
const noError = new Set(["0", "GNM_VALIDATION_STYLE_NONE"])

const numberTypes = new Set(["30", "40"])

class Sheet {
  readonly #sink: BlockSink
  readonly #rows: SheetRows
  readonly #objects = new BlockBuffer()
  readonly #messages = new CellMessages()
  readonly #regions: Array<Region> = []
  #number = -1
  #cells: Array<SheetCell> = []

  constructor(sink: BlockSink, maxCharacters: number) {
    this.#sink = sink
    this.#rows = new SheetRows(this.#sink, maxCharacters)
  }

  style({ attributes, children }: XmlElement): void {
    const style = children.find((child) => typeof child !== "string" && child.name === "gnm:Style")
    const at = (name: string): number => Number(attributes[name] ?? 0)
    if (typeof style === "object") this.#message(style, rangeName(at("startCol"), at("startRow"), at("endCol"), at("endRow")))
    const code = typeof style === "object" ? style.attributes["Format"] ?? "General" : "General"
    if (code === "General" || this.#regions.length >= mostRegions) return
    this.#regions.push({
      columns: [at("startCol"), at("endCol")],
      rows: [at("startRow"), at("endRow")],
      format: formatOf(code, false)
    })
  }

  #message(style: XmlElement, range: string): void {
    for (const { attributes: { Message = "", Style = "", Title = "" }, name } of childElements(style)) {
      if (name === "gnm:InputMessage") this.#messages.add("Input", [range], Title, Message)
      else if (name === "gnm:Validation" && !noError.has(Style)) this.#messages.add("Error", [range], Title, Message)
    }
  }

  /** Reads comments, text boxes and buttons. */
  object({ attributes }: XmlElement): void {
    const text = attributes["Text"] ?? attributes["Label"] ?? ""
    const author = attributes["Author"] ?? ""
    this.#objects.add("paragraph", author === "" || text.startsWith(author) ? text : `Comment by ${author}: ${text}`)
  }

  /** Adds a cell; cells come row by row. Returns whether it is a formula without its result. */
  cell(element: XmlElement): boolean {
    const [row, column] = [Number(element.attributes["Row"] ?? 0), Number(element.attributes["Col"] ?? 0)]
    if (row !== this.#number) this.#endRow()
    this.#number = row
    const type = element.attributes["ValueType"]
    const raw = textContent(element)
    const text = numberTypes.has(type ?? "") ? this.#formatAt(row, column)(raw) : raw
    if (text.trim() !== "") this.#cells.push([column, text.replaceAll("\n", " ")])
    return type === undefined && (text.startsWith("=") || element.attributes["ExprID"] !== undefined)
  }

  end(): void {
    this.#endRow()
    this.#rows.end()
    this.#messages.writeTo(this.#sink)
    this.#objects.moveTo(this.#sink)
  }

  #endRow(): void {
    this.#rows.row(this.#number, this.#cells)
    this.#cells = []
  }

  #formatAt(row: number, column: number): CellFormat {
    return this.#regions.find(({ columns, rows }) => rows[0] <= row && row <= rows[1] && columns[0] <= column && column <= columns[1])
      ?.format ?? plainNumber
  }
}
