import * as codePages from "@e965/xlsx/dist/cpexcel.full.mjs"
import { type CellObject, read, set_cptable, type WorkSheet } from "@e965/xlsx"
import type { Remark } from "../../domain/Document.ts"
import type { Limits } from "../Prepared.ts"
import { type BlockSink, BlockWriter, oneLine } from "./BlockSink.ts"
import { isCompound, openCompound } from "./Compound.ts"
import { DocumentBuilder } from "./DocumentBuilder.ts"
import { type Embedded, embeddedInStorages, withEmbedded } from "./Embedded.ts"
import { plainNumber } from "./ooxml/CellFormats.ts"
import { openPackage } from "./ooxml/Package.ts"
import { sheetDrawings } from "./ooxml/SheetDrawings.ts"
import { ReadFailure } from "./ReadFailure.ts"
import type { Reader } from "./Reader.ts"
import { columnName, type SheetCell, SheetRows, sheetSink } from "./SheetRows.ts"
import { drawingsOf } from "./xls/Drawings.ts"
import { messagesOf, sheetParts } from "./xls/Xlsb.ts"

set_cptable(codePages)

/**
 * Reads workbooks in Excel's binary formats (.xls of every version, .xlsb). A sheet is a page under its name, hidden ones too: cells as
 * they are shown, then text boxes, charts and comments, then the page's header and footer.
 */
export const xls: Reader = ({ bytes, format, inner, limits }) => {
  const book = open(bytes)
  const remarks: Array<Remark> = []
  const beside = besideCells(bytes, limits, remarks)
  if (book.SheetNames.length > limits.pages) {
    throw new ReadFailure("limit", `${book.SheetNames.length} sheets, more than ${limits.pages}`)
  }
  const builder = new DocumentBuilder(limits.characters)
  const writer = new BlockWriter(builder)
  book.SheetNames.forEach((name, i) => {
    const sink = sheetSink({ name, page: i + 1, hidden: (book.Workbook?.Sheets?.[i]?.Hidden ?? 0) !== 0 }, writer, remarks)
    const sheet = book.Sheets[name]
    if (sheet === undefined) return
    const rows = new SheetRows(sink, limits.characters)
    const comments: Array<string> = []
    const shown = new Set<string>()
    eachRow(sheet, (number, cells) => {
      const texts: Array<SheetCell> = []
      cells.forEach((cell, column) => {
        const text = oneLine(shownIn(cell))
        if (text !== "" && cell?.t !== "z") {
          texts.push([column, text])
          shown.add(text)
        }
        for (const { a = "", t = "" } of cell?.c ?? []) {
          const note = oneLine(t)
          if (note !== "") comments.push(`Comment on ${columnName(column)}${number + 1}${a === "" ? "" : ` by ${oneLine(a)}`}: ${note}`)
        }
      })
      rows.row(number, texts)
    })
    rows.end()
    beside.write(i, sink, shown)
    for (const comment of comments) sink.add("paragraph", comment)
  })
  writer.end()
  const { Author: author, Title: title } = book.Props ?? {}
  return withEmbedded(beside.embedded, { builder, inner, limits }, () =>
    builder.build({
      format,
      pages: book.SheetNames.length,
      title: title === undefined || oneLine(title) === "" ? undefined : oneLine(title),
      author: author === undefined || oneLine(author) === "" ? undefined : oneLine(author),
      remarks
    }))
}

/** What a cell shows, but whole numbers with all their digits, which a wide enough cell shows: they may be identifiers. */
const shownIn = (cell: CellObject | undefined): string => {
  if (cell === undefined) return ""
  const { v, w, z } = cell
  const isShort = typeof v === "number" && Number.isInteger(v) && /^-?\d(?:\.\d+)?E\+\d+$/.test(w ?? "")
  if (isShort && (z === undefined || z === "General")) return plainNumber(String(v))
  return w ?? (v === undefined ? "" : String(v))
}

interface BesideCells {
  /** Writes what the sheet at this index has besides its cells, except for charts' texts that repeat cells. */
  readonly write: (sheet: number, sink: BlockSink, cells: ReadonlySet<string>) => void
  readonly embedded: Embedded
}

/** Reads what the library does not: text boxes, charts, margins, embedded objects and pictures. */
const besideCells = (bytes: Uint8Array, limits: Limits, remarks: Array<Remark>): BesideCells => {
  const nothing: BesideCells = { write: () => {}, embedded: { objects: [], pictures: [] } }
  if (bytes[0] === 0x50) {
    const pack = openPackage(bytes, limits, "xl/workbook.bin")
    const sheets = sheetParts(pack)
    return {
      write: (sheet, sink) => {
        const part = sheets[sheet]
        if (part === undefined) return
        const { messages, unread } = messagesOf(pack.part(part))
        messages.writeTo(sink)
        if (unread > 0) {
          remarks.push({ kind: "cut", text: `messages of ${unread} validations on sheet ${sheet + 1}, which refer to other sheets` })
        }
        sheetDrawings(pack, part, sink)
      },
      embedded: pack.embedded
    }
  }
  const root = isCompound(bytes) ? openCompound(bytes) : undefined
  const stream = root === undefined
    ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : root.read("Workbook") ?? root.read("Book")
  if (stream === undefined) return nothing
  const { pictures, sheets } = drawingsOf(stream)
  return {
    write: (sheet, sink, cells) => {
      const found = sheets[sheet]
      if (found === undefined) return
      const { footer, header, messages, texts } = found
      messages.writeTo(sink)
      for (const text of new Set(texts)) if (!cells.has(oneLine(text))) sink.add("paragraph", text)
      for (const text of [header, footer]) if (text !== "") sink.add("paragraph", text)
    },
    embedded: embeddedInStorages([...root?.storages ?? []].flatMap(([name, storage]) => name.startsWith("MBD") ? [storage] : []), pictures)
  }
}

const open = (bytes: Uint8Array) => {
  try {
    return withoutConsole(() =>
      read(bytes, { type: "buffer", dense: true, cellFormula: false, cellHTML: false, cellNF: true, cellStyles: false, UTC: true })
    )
  } catch (error) {
    const why = error instanceof Error ? error.message : ""
    if (/password|encrypt/i.test(why)) throw new ReadFailure("encrypted", "the workbook is protected by a password")
    throw new ReadFailure("corrupt", "the workbook is damaged")
  }
}

/** Runs `body` with a silent console: the library logs records and formulas of names that it does not know, neither of which is text. */
const withoutConsole = <A>(body: () => A): A => {
  const { error } = console
  console.error = () => {}
  try {
    return body()
  } finally {
    console.error = error
  }
}

/** Calls `take` with each row that has cells. `dense` sheets keep rows as arrays with gaps. */
const eachRow = (sheet: WorkSheet, take: (number: number, cells: ReadonlyArray<CellObject | undefined>) => void): void => {
  const rows: ReadonlyArray<ReadonlyArray<CellObject | undefined> | undefined> = sheet["!data"] ?? []
  // Gaps are skipped: a sheet may claim a million rows.
  rows.forEach((cells, number) => {
    if (cells !== undefined) take(number, cells)
  })
}
