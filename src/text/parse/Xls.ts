import * as codePages from "@e965/xlsx/dist/cpexcel.full.mjs"
import { type CellObject, read, set_cptable, type WorkSheet } from "@e965/xlsx"
import type { Remark } from "../../domain/Document.ts"
import { BlockWriter, oneLine } from "./BlockSink.ts"
import { DocumentBuilder } from "./DocumentBuilder.ts"
import { ReadFailure } from "./ReadFailure.ts"
import type { Reader } from "./Reader.ts"
import { type SheetCell, SheetRows, underHeading } from "./SheetRows.ts"

set_cptable(codePages)

/**
 * Workbooks in Excel's binary formats (.xls of every version, .xlsb) and those of Apple's Numbers. A sheet is a page
 * under its name, hidden ones too; cells as they are shown, comments after them.
 */
export const xls: Reader = ({ bytes, format, limits }) => {
  const book = open(bytes)
  if (book.SheetNames.length > limits.pages) {
    throw new ReadFailure("limit", `${book.SheetNames.length} sheets, more than ${limits.pages}`)
  }
  const builder = new DocumentBuilder(limits.characters)
  const writer = new BlockWriter(builder)
  const remarks: Array<Remark> = []
  book.SheetNames.forEach((name, i) => {
    writer.page(i + 1)
    const sheet = book.Sheets[name]
    if (sheet === undefined) return
    const hidden = (book.Workbook?.Sheets?.[i]?.Hidden ?? 0) !== 0
    if (hidden) remarks.push({ kind: "hidden", text: `sheet ${name}`, pages: [i + 1] })
    const sink = underHeading(hidden ? `${oneLine(name)} (hidden)` : oneLine(name), writer)
    const rows = new SheetRows(sink, limits.characters)
    const comments: Array<string> = []
    eachRow(sheet, (number, cells) => {
      const texts: Array<SheetCell> = []
      cells.forEach((cell, column) => {
        const text = oneLine(cell?.w ?? (cell?.v === undefined ? "" : String(cell.v)))
        if (text !== "" && cell?.t !== "z") texts.push([column, text])
        for (const { a = "", t = "" } of cell?.c ?? []) {
          const note = oneLine(t)
          if (note !== "") comments.push(`Comment on ${columnName(column)}${number + 1}${a === "" ? "" : ` by ${oneLine(a)}`}: ${note}`)
        }
      })
      rows.row(number, texts)
    })
    rows.end()
    for (const comment of comments) sink.add("paragraph", comment)
  })
  writer.end()
  const { Author: author, Title: title } = book.Props ?? {}
  return builder.build({
    format,
    pages: book.SheetNames.length,
    title: title === undefined || oneLine(title) === "" ? undefined : oneLine(title),
    author: author === undefined || oneLine(author) === "" ? undefined : oneLine(author),
    remarks: remarks.length === 0 ? undefined : remarks
  })
}

const open = (bytes: Uint8Array) => {
  try {
    return read(bytes, { type: "buffer", dense: true, cellFormula: false, cellHTML: false, cellStyles: false, UTC: true })
  } catch (error) {
    const why = error instanceof Error ? error.message : ""
    if (/password|encrypt/i.test(why)) throw new ReadFailure("encrypted", "the workbook is protected by a password")
    throw new ReadFailure("corrupt", "the workbook is damaged")
  }
}

/** Rows that have cells; `dense` sheets keep them as arrays with gaps. */
const eachRow = (sheet: WorkSheet, take: (number: number, cells: ReadonlyArray<CellObject | undefined>) => void): void => {
  const rows: ReadonlyArray<ReadonlyArray<CellObject | undefined> | undefined> = sheet["!data"] ?? []
  // Gaps are skipped: a sheet may claim a million rows.
  rows.forEach((cells, number) => {
    if (cells !== undefined) take(number, cells)
  })
}

/** `A`, `Z`, `AA` of a column from 0. */
const columnName = (column: number): string =>
  (column >= 26 ? columnName(Math.floor(column / 26) - 1) : "") + String.fromCharCode(65 + column % 26)
