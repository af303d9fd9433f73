/** Tables as parsed text has them: one line for each row, with bars between its cells. */

interface Line {
  readonly text: string
}

type Cells = ReadonlyArray<string>

const maxColumnCharacters = 60
const bars = /^[\s|:-]+$/

/** The cells of each line; a line of marks has none. Empty cells at the ends count where bars show them. */
export const cellsOf = (lines: ReadonlyArray<Line>): ReadonlyArray<Cells> => {
  const isFramed = lines.every(({ text }) => /^\|.*\|$/.test(text))
  return lines.map(({ text }) =>
    bars.test(text) ? [] : ` ${isFramed ? text.slice(1, -1) : text} `.split(/ \|(?= )/).map((cell) => cell.replace(/\s+/g, " ").trim())
  )
}

const isNumber = (cell: string): boolean => /^[\d.,%$€£-]+$/.test(cell)
const isYear = (cell: string): boolean => /^(?:19|20)\d\d$/.test(cell)

/**
 * The names of the columns, where the first row has them. `isStart` says that this row is known to be the table's first. Otherwise a
 * chunk may start within the table, and the row is taken for names only where it has no figure above a column of figures. The corner
 * above the names of rows may be empty.
 */
export const namesOf = (lines: ReadonlyArray<Line>, isStart: boolean): Cells | undefined => {
  const [names = [], ...rows] = cellsOf(lines).filter((cells) => cells.length > 0)
  const isOfFigures = (at: number): boolean =>
    rows.length > 1 && !/\d/.test(names[at]!) && rows.every((cells) => /\d/.test(cells[at] ?? ""))
  if (!isStart && !names.some((_, at) => isOfFigures(at))) return undefined
  const isName = (cell: string, at: number): boolean =>
    (cell !== "" || (at === 0 && names.length > 2)) && cell.length <= maxColumnCharacters &&
    (!isNumber(cell) || (isStart && at > 0 && isYear(cell)))
  return names.length > 1 && names.every(isName) ? names : undefined
}

/** A row as an answer shows it: each cell with the name of its column. */
const rowText = (cells: Cells, columns: Cells | undefined): string =>
  columns === undefined || cells.length > columns.length
    ? cells.join(" | ")
    : cells.flatMap((cell, at) => cell === "" ? [] : [columns[at] === "" ? cell : `${columns[at]}: ${cell}`]).join("; ")

/** The rows of a table without the names of its columns and lines of marks. */
export const rowsOf = <L extends Line>(
  lines: ReadonlyArray<L>,
  columns: Cells | undefined
): ReadonlyArray<{ readonly line: L; readonly cells: Cells; readonly text: string }> =>
  cellsOf(lines).flatMap((cells, at) =>
    cells.length === 0 || (columns !== undefined && cells.join("|") === columns.join("|"))
      ? []
      : [{ line: lines[at]!, cells, text: rowText(cells, columns) }]
  )
