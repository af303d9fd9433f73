import type { Limits } from "../../Prepared.ts"
import { type BlockWriter, oneLine } from "../BlockSink.ts"
import { ReadFailure } from "../ReadFailure.ts"
import { type SheetCell, SheetRows } from "../SheetRows.ts"
import { scanXml, type XmlAttributes } from "../Xml.ts"
import { dateOf, shownNumber } from "./Table.ts"

/** Elements that a document keeps for its own construction, or that were removed from it. */
const aside = new Set(
  "sf:stylesheet key:theme-list key:master-slides sl:prototypes ls:prototypes sf:prototypes sf:ghost-text sf:change-del".split(" ")
)
const lineBreaks = new Set(["sf:br", "sf:lnbr", "sf:crbr", "sf:intratopicbr"])
const pageElements = new Set(["key:slide", "ls:workspace"])

interface Table {
  readonly rows: Array<Array<SheetCell>>
  column: number
}

/** Reads the XML that Pages, Keynote and Numbers wrote until 2012: texts in their order, and tables row by row. */
export const readIndexXml = (
  bytes: Uint8Array,
  writer: BlockWriter,
  limits: Limits
): { readonly title?: string; readonly pages?: number } => {
  const path: Array<string> = []
  let skipped = 0
  let pages = 0
  let title: string | undefined
  let inTitle = false
  let paragraph: string | undefined
  let table: Table | undefined
  let cell: string | undefined
  /** Texts of a menu in a cell, by id. */
  let choices: Map<string, string> | undefined
  /** The id whose text comes next. */
  let choice = ""

  const enterCell = (table: Table, attributes: XmlAttributes): void => {
    // How many columns it is to the right of the previous one, a signed byte; any other value starts a row.
    const step = (Number(attributes["sf:ct"] ?? 1) << 24) >> 24
    table.column += step
    if (table.rows.length === 0 || step <= 0) table.rows.push([])
    const { "sf:cell-date": date, "sf:v": value } = attributes
    cell = date !== undefined ? dateOf(Number(date)) : value === undefined ? "" : shownNumber(value)
  }
  const write = (text: string): void => {
    if (cell !== undefined) cell = `${cell} ${text}`
    else if (inTitle) {
      if (oneLine(text) !== "") title ??= oneLine(text)
      writer.add("heading", oneLine(text), 1)
    } else writer.add("paragraph", text.trim())
  }

  scanXml(bytes, {
    open(name, attributes) {
      const parent = path.at(-1)
      path.push(name)
      if (aside.has(name)) skipped++
      if (skipped > 0) return
      if (pageElements.has(name)) {
        if (++pages > limits.pages) throw new ReadFailure("limit", `more than ${limits.pages} slides or sheets`)
        writer.page(pages)
        writer.add("heading", oneLine(attributes["ls:workspace-name"] ?? ""), 1)
      } else if (name === "key:title-placeholder") inTitle = true
      else if (name === "sf:p") paragraph = ""
      else if (paragraph !== undefined && lineBreaks.has(name)) paragraph += "\n"
      else if (paragraph !== undefined && name === "sf:tab") paragraph += " "
      else if (name === "sf:datasource") table = { rows: [], column: 0 }
      else if (table !== undefined && parent === "sf:datasource") enterCell(table, attributes)
      else if (cell === undefined) return
      else if (name === "sf:menu-choices") choices = new Map()
      else if (name === "sf:proxied-cell-ref") {
        cell = choices?.get(attributes["sfa:IDREF"] ?? "") ?? ""
        choices = undefined
      } else if (choices !== undefined) {
        if (attributes["sfa:ID"] !== undefined) choice = attributes["sfa:ID"]
        if (name === "sf:ct") choices.set(choice, attributes["sfa:s"] ?? "")
      } else if (name === "sf:ct") cell = attributes["sfa:s"] ?? cell
      // The result of a formula.
      else if (name.startsWith("sf:r")) cell = attributes["sf:v"] === undefined ? cell : shownNumber(attributes["sf:v"])
    },
    text(text) {
      if (skipped === 0 && paragraph !== undefined) paragraph += text
    },
    close(name) {
      path.pop()
      if (aside.has(name)) skipped--
      else if (skipped > 0) return
      else if (name === "sf:p") {
        write(paragraph ?? "")
        paragraph = undefined
      } else if (name === "key:title-placeholder") inTitle = false
      else if (name === "sf:datasource" && table !== undefined) {
        const rows = new SheetRows(writer, limits.characters)
        for (const [at, cells] of table.rows.entries()) rows.row(at, cells)
        rows.end()
        table = undefined
      } else if (table !== undefined && cell !== undefined && path.at(-1) === "sf:datasource") {
        const text = oneLine(cell)
        if (text !== "") table.rows.at(-1)?.push([table.column, text])
        cell = undefined
      }
    }
  })
  return { title, pages: pages === 0 ? undefined : pages }
}
