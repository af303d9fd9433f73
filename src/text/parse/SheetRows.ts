import type { Remark } from "../../domain/Document.ts"
import { type BlockSink, type BlockWriter, oneLine, rowLine } from "./BlockSink.ts"
import { hiddenPage } from "./HiddenText.ts"
import { ReadFailure } from "./ReadFailure.ts"

/** A cell with text, and its column, 0-based. */
export type SheetCell = readonly [column: number, text: string]

/** Rows that are examined before the columns of a table are settled. */
const windowRows = 256

/**
 * Turns the filled cells of a sheet, added row by row, into tables. An empty row ends a table, columns that are empty all the way down are
 * left out, and empty cells in between keep their place. Memory follows the filled cells, never the size that a sheet claims.
 */
export class SheetRows {
  readonly #sink: BlockSink
  readonly #maxCharacters: number
  #window: Array<ReadonlyArray<SheetCell>> = []
  #columns: ReadonlyArray<number> | undefined
  #lines: Array<string> = []
  #characters = 0
  #single = true
  #last: number | undefined

  constructor(sink: BlockSink, maxCharacters: number) {
    this.#sink = sink
    this.#maxCharacters = maxCharacters
  }

  /** Adds a row by its number; `cells` are in the order of their columns. Rows without cells may be omitted. */
  row(number: number, cells: ReadonlyArray<SheetCell>): void {
    if (cells.length === 0) return
    if (this.#last !== undefined && number !== this.#last + 1) this.end()
    this.#last = number
    this.#single &&= cells.length === 1 && this.#window.length === 0 && this.#lines.length === 0
    if (this.#columns === undefined) {
      this.#window.push(cells)
      if (this.#window.length === windowRows) this.#settle()
    } else {
      this.#line(cells, this.#columns)
    }
  }

  /** Writes the open table. Call it after the last row. */
  end(): void {
    this.#settle()
    if (this.#lines.length > 0) this.#sink.add(this.#single ? "paragraph" : "table", this.#lines.join("\n"))
    this.#lines = []
    this.#columns = undefined
    this.#single = true
    this.#last = undefined
  }

  #settle(): void {
    const rows = this.#window
    this.#window = []
    const columns = Array.from(new Set(rows.flatMap((cells) => cells.map(([column]) => column)))).sort((a, b) => a - b)
    const filled = rows.reduce((sum, cells) => sum + cells.length, 0)
    // Cells scattered over a sheet are not a table; aligning them would cost more than they contain.
    this.#columns ??= rows.length * columns.length > 8 * filled + 64 ? [] : columns
    for (const cells of rows) this.#line(cells, this.#columns)
  }

  #line(cells: ReadonlyArray<SheetCell>, columns: ReadonlyArray<number>): void {
    const texts: Array<string> = []
    let next = 0
    for (const [column, text] of cells) {
      while (next < columns.length && (columns[next] ?? 0) < column) {
        texts.push("")
        next++
      }
      if (columns[next] === column) next++
      texts.push(text)
    }
    const line = rowLine(texts)
    this.#characters += line.length + 1
    if (this.#characters > this.#maxCharacters) {
      throw new ReadFailure("limit", `more than ${this.#maxCharacters} characters of text`)
    }
    this.#lines.push(line)
  }
}

/** The letters of a 0-based column: `A`, `Z`, `AA`. */
export const columnName = (column: number): string =>
  (column >= 26 ? columnName(Math.floor(column / 26) - 1) : "") + String.fromCharCode(65 + column % 26)

/** Cells as people name them, from 0-based columns and rows: `B2`, `B2:C9`. */
export const rangeName = (column: number, row: number, lastColumn: number, lastRow: number): string => {
  const first = `${columnName(column)}${row + 1}`
  return column === lastColumn && row === lastRow ? first : `${first}:${columnName(lastColumn)}${lastRow + 1}`
}

/** Most ranges shown with a message. */
const mostRanges = 3

/** The messages that a sheet shows for entering a cell or an invalid value: each text once, with the cells that have it. */
export class CellMessages {
  readonly #ranges = new Map<string, Array<string>>()

  add(kind: "Input" | "Error", ranges: ReadonlyArray<string>, title = "", text = ""): void {
    const words = [oneLine(title), oneLine(text)].filter((each) => each !== "").join(": ")
    if (words === "") return
    const key = `${kind} ${words}`
    const known = this.#ranges.get(key) ?? []
    // One more than are shown, which marks that there are more.
    known.push(...ranges.slice(0, mostRanges + 1 - known.length))
    this.#ranges.set(key, known)
  }

  writeTo(sink: BlockSink): void {
    for (const [key, ranges] of this.#ranges) {
      const at = key.indexOf(" ")
      const cells = `${ranges.slice(0, mostRanges).join(", ")}${ranges.length > mostRanges ? ", …" : ""}`
      sink.add("paragraph", `${key.slice(0, at)} message${cells === "" ? "" : ` on ${cells}`}: ${key.slice(at + 1)}`)
    }
    this.#ranges.clear()
  }
}

/** A sheet of a workbook; its page counts from 1. */
export interface SheetFacts {
  readonly name: string
  readonly page: number
  readonly hidden: boolean
}

/** Starts a sheet: returns the sink for its content, under its name, which also notes that the document hides it; a remark does too. */
export const sheetSink = ({ hidden, name, page }: SheetFacts, writer: BlockWriter, remarks: Array<Remark>): BlockSink => {
  const shown = oneLine(name)
  writer.page(page)
  if (hidden) remarks.push(hiddenPage(`sheet ${shown}`, page))
  return underHeading(hidden ? `${shown} (hidden)` : shown, writer)
}

/** The remark that a workbook came without the results of its formulas: nothing has calculated it since it was written. */
export const uncalculated = (formulas: number): ReadonlyArray<Remark> =>
  formulas === 0 ? [] : [{
    kind: "cut",
    text: `results of ${formulas === 1 ? "a formula" : `${formulas} formulas`}, which the file does not keep: the formulas are shown`
  }]

/** Writes a sheet's name as a heading once the sheet turns out to have content. */
const underHeading = (heading: string, sink: BlockSink): BlockSink => {
  let pending = true
  const begin = (): void => {
    if (pending) sink.add("heading", heading, 1)
    pending = false
  }
  return {
    add(kind, text, level) {
      if (text.trim() === "") return
      begin()
      sink.add(kind, text, level)
    },
    item(depth, label, text) {
      if (text.trim() === "") return
      begin()
      sink.item(depth, label, text)
    }
  }
}
