import { displayWidth } from "effect/cli/CliOutput"
import { printable } from "../../domain/Text.ts"

export interface Column {
  readonly title: string
  readonly align?: "left" | "right"
  /** Whether the column may shrink when the terminal is narrow, widest column first; the longest cells keep both ends. */
  readonly flexible?: boolean
  /** Colours a cell by its text, after it was fitted to its width. */
  readonly paint?: (cell: string) => string
}

export type Rows = ReadonlyArray<ReadonlyArray<string>>

const gap = "  "
const narrowest = 12

/** Renders a plain table that fits `width` columns. Cells are one line each, without control characters. */
export const table = (columns: ReadonlyArray<Column>, rows: Rows, width: number): string => makeTable(columns, width)(rows)

/**
 * Renders a table in pieces, so that a table of any length takes constant memory. The first piece has the titles and sets
 * the least widths of the others.
 */
export const makeTable = (columns: ReadonlyArray<Column>, width: number): (rows: Rows) => string => {
  let least = columns.map(({ title }) => displayWidth(title))
  let titled = false
  return (rows) => {
    const cells = rows.map((row) => row.map(oneLine))
    const widths = fit(columns, columns.map((_, at) => Math.max(least[at] ?? 0, ...cells.map((row) => displayWidth(row[at] ?? "")))), width)
    least = widths
    const lines = cells.map((row) => line(columns, widths, row, true))
    if (titled) return lines.join("\n")
    titled = true
    return [line(columns, widths, columns.map(({ title }) => title), false), ...lines].join("\n")
  }
}

const oneLine = (text: string): string => printable(text.replace(/\s+/g, " "))

/** Shrinks the widest flexible columns to fit. */
const fit = (columns: ReadonlyArray<Column>, wanted: ReadonlyArray<number>, width: number): Array<number> => {
  const widths = [...wanted]
  let excess = widths.reduce((sum, w) => sum + w, 0) + gap.length * (columns.length - 1) - width
  while (excess > 0) {
    const flexible = columns.flatMap((column, at) => (column.flexible === true && (widths[at] ?? 0) > narrowest ? [at] : []))
    const widest = flexible.reduce<number | undefined>(
      (a, b) => (a === undefined || (widths[b] ?? 0) > (widths[a] ?? 0) ? b : a),
      undefined
    )
    if (widest === undefined) break
    widths[widest] = (widths[widest] ?? 0) - 1
    excess -= 1
  }
  return widths
}

const line = (columns: ReadonlyArray<Column>, widths: ReadonlyArray<number>, row: ReadonlyArray<string>, painted: boolean): string =>
  columns.map((column, at) => {
    const cell = row[at] ?? ""
    const width = widths[at] ?? 0
    const fitted = shorten(cell, width)
    const padding = " ".repeat(Math.max(0, width - displayWidth(fitted)))
    const shown = painted && column.paint !== undefined ? column.paint(fitted) : fitted
    return column.align === "right" ? padding + shown : shown + padding
  }).join(gap).trimEnd()

/** Shortens a text in the middle: in a path, the file name matters most. */
export const shorten = (text: string, width: number): string => {
  if (displayWidth(text) <= width) return text
  const characters = [...text]
  let head = Math.floor((width - 1) / 3)
  let tail = width - 1 - head
  const cut = () => `${characters.slice(0, head).join("")}…${characters.slice(characters.length - tail).join("")}`
  while (displayWidth(cut()) > width && tail > 1) {
    if (head > 0) head -= 1
    else tail -= 1
  }
  return cut()
}
