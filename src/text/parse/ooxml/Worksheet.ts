import { type BlockSink, oneLine } from "../BlockSink.ts"
import { CellMessages, type SheetCell, SheetRows } from "../SheetRows.ts"
import { isFalse, isTrue, scanXml, type XmlAttributes } from "../Xml.ts"
import { type CellFormat, plainNumber } from "./CellFormats.ts"

/** Shared strings of a workbook by index, rich text flattened, phonetic guides left out. */
export const readSharedStrings = (bytes: Uint8Array | undefined): ReadonlyArray<string> => {
  const strings: Array<string> = []
  if (bytes === undefined) return strings
  let text = ""
  let collecting = false
  let phonetic = false
  scanXml(bytes, {
    open(name) {
      if (name === "x:si") text = ""
      else if (name === "x:rPh") phonetic = true
      else if (name === "x:t") collecting = !phonetic
    },
    text(data) {
      if (collecting) text += data
    },
    close(name) {
      if (name === "x:t") collecting = false
      else if (name === "x:rPh") phonetic = false
      else if (name === "x:si") strings.push(cellText(text))
    }
  })
  return strings
}

/** Decodes characters that XML cannot hold, which are written `_x000D_` (ECMA-376 22.9.2.19). */
const cellText = (text: string): string =>
  oneLine(
    text.includes("_x")
      ? text.replace(/_x([0-9a-f]{4})_/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
      : text
  )

export interface Workbook {
  readonly strings: ReadonlyArray<string>
  readonly formats: ReadonlyArray<CellFormat>
  readonly maxCharacters: number
}

const marginElements = new Set([
  "x:oddHeader",
  "x:evenHeader",
  "x:firstHeader",
  "x:oddFooter",
  "x:evenFooter",
  "x:firstFooter"
])

/**
 * Reads the cells of a worksheet part in one pass over its XML, then the messages of its cells, its page headers and footers. Returns how
 * many formulas have no result, not even an empty one.
 */
export const readWorksheet = (bytes: Uint8Array, book: Workbook, sink: BlockSink): number => {
  const rows = new SheetRows(sink, book.maxCharacters)
  const margins = new Set<string>()
  const messages = new CellMessages()
  let validation: XmlAttributes = {}
  let inRanges = false
  let ranges = ""
  let row = 0
  let column = -1
  let cells: Array<SheetCell> = []
  let type = ""
  let style = 0
  let value = ""
  let formula: string | undefined
  let inFormula = false
  let hasValue = false
  let uncalculated = 0
  let collecting = false
  let phonetic = false
  scanXml(bytes, {
    open(name, attributes) {
      switch (name) {
        case "x:row":
          row = Number(attributes["r"] ?? row + 1)
          column = -1
          cells = []
          return
        case "x:c":
          column = columnOf(attributes["r"]) ?? column + 1
          type = attributes["t"] ?? "n"
          style = Number(attributes["s"] ?? 0)
          value = ""
          formula = undefined
          hasValue = false
          return
        case "x:f":
          formula = ""
          inFormula = true
          return
        case "x:v":
          hasValue = true
          collecting = true
          return
        case "x:t":
          collecting = !phonetic
          return
        case "x:rPh":
          phonetic = true
          return
        case "x:dataValidation":
        case "x14:dataValidation":
          validation = attributes
          ranges = attributes["sqref"] ?? ""
          return
        case "xm:sqref":
          inRanges = true
          return
        default:
          if (marginElements.has(name)) {
            value = ""
            collecting = true
          }
      }
    },
    text(data) {
      if (collecting) value += data
      else if (inFormula) formula += data
      else if (inRanges) ranges += data
    },
    close(name) {
      switch (name) {
        case "x:v":
        case "x:t":
          collecting = false
          return
        case "x:rPh":
          phonetic = false
          return
        case "x:f":
          inFormula = false
          return
        case "x:c": {
          // An empty text is a result, an empty number is not.
          const bare = formula !== undefined && value === "" && !(hasValue && type === "str")
          if (bare) uncalculated++
          const text = bare ? formula === "" ? "" : cellText(`=${formula}`) : shown(type, style, value, book)
          if (text !== "") cells.push([column, text])
          return
        }
        case "x:row":
          rows.row(row, inOrder(cells))
          return
        case "xm:sqref":
          inRanges = false
          return
        case "x:dataValidation":
        case "x14:dataValidation":
          addMessages(validation, ranges, messages)
          return
        default:
          if (marginElements.has(name)) {
            collecting = false
            margins.add(marginText(value))
          }
      }
    }
  })
  rows.end()
  messages.writeTo(sink)
  for (const margin of margins) sink.add("paragraph", margin)
  return uncalculated
}

/** Adds the messages of a validation, except those that are set not to be shown, which Excel never shows (18.3.1.32). */
const addMessages = (validation: XmlAttributes, ranges: string, messages: CellMessages): void => {
  const cells = ranges.split(/\s+/).filter((range) => range !== "")
  const add = (kind: "Input" | "Error", title = "", text = ""): void => messages.add(kind, cells, cellText(title), cellText(text))
  if (isTrue(validation["showInputMessage"])) add("Input", validation["promptTitle"], validation["prompt"])
  if (isTrue(validation["showErrorMessage"])) add("Error", validation["errorTitle"], validation["error"])
}

const shown = (type: string, style: number, value: string, book: Workbook): string => {
  switch (type) {
    case "s":
      return book.strings[Number(value)] ?? ""
    case "n":
      return value === "" ? "" : (book.formats[style] ?? plainNumber)(value)
    case "b":
      return value === "" ? "" : isFalse(value) ? "FALSE" : "TRUE"
    case "d":
      return value.replace("T", " ").replace(/ 00:00(?::00)?(?:\.0+)?Z?$/, "")
    default:
      return cellText(value)
  }
}

/** The 0-based column of a reference like `AB12`. */
const columnOf = (reference: string | undefined): number | undefined => {
  if (reference === undefined) return undefined
  let column = 0
  for (let i = 0; i < reference.length && i < 3; i++) {
    const letter = reference.charCodeAt(i) & ~0x20
    if (letter < 65 || letter > 90) break
    column = column * 26 + letter - 64
  }
  return column === 0 ? undefined : column - 1
}

const inOrder = (cells: Array<SheetCell>): ReadonlyArray<SheetCell> =>
  cells.every((cell, i) => i === 0 || (cells[i - 1]?.[0] ?? 0) < cell[0]) ? cells : cells.sort((a, b) => a[0] - b[0])

const marginCode = /&(?:&|"[^"]*"|K[\dA-F]{6}|\d+|[A-Z])/gi

/** The text of a page header: its three parts, without codes for fonts, dates and page numbers (18.3.1.46). */
export const marginText = (code: string): string =>
  oneLine(code.replace(marginCode, (match) => match === "&&" ? "&" : /^&[LCR]$/i.test(match) ? " " : ""))
