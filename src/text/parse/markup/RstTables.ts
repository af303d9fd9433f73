interface Table {
  readonly rows: ReadonlyArray<ReadonlyArray<string>>
  /** The line after the table. */
  readonly next: number
}

const gridRule = /^ *\+[-=+]+\+ *$/
const simpleRule = /^ *=+(?: +=+)+ *$/

/** Reads a table drawn with `+---+`; a cell that spans columns ends at a bar. Undefined where none starts. */
export const gridTable = (lines: ReadonlyArray<string>, at: number): Table | undefined => {
  if (!gridRule.test(lines[at] ?? "")) return undefined
  const rows: Array<ReadonlyArray<string>> = []
  let row: Array<string> = []
  let next = at
  for (; next < lines.length && /^ *[+|]/.test(lines[next]!); next++) {
    const line = lines[next]!
    if (/^ *\+/.test(line)) {
      if (row.length > 0) rows.push(row)
      row = []
      continue
    }
    const cells = line.trim().replace(/^\|/, "").replace(/\|$/, "").split("|")
    cells.forEach((cell, column) => {
      row[column] = `${row[column] ?? ""} ${cell.trim()}`.trim()
    })
  }
  if (row.length > 0) rows.push(row)
  return { rows, next }
}

/** Reads a table with columns under `===  ===`; a line whose first cell is empty continues the row above. Undefined where none starts. */
export const simpleTable = (lines: ReadonlyArray<string>, at: number): Table | undefined => {
  const rule = lines[at] ?? ""
  if (!simpleRule.test(rule)) return undefined
  const columns = [...rule.matchAll(/=+/g)].map((column) => column.index)
  const rows: Array<Array<string>> = []
  let rules = 1
  let next = at + 1
  for (; next < lines.length && rules < 3; next++) {
    const line = lines[next]!
    if (simpleRule.test(line)) {
      rules++
      if (rules === 2 && (lines[next + 1] ?? "").trim() === "") {
        next++
        break
      }
      continue
    }
    if (line.trim() === "" || /^ *-[- ]*$/.test(line)) continue
    const cells = columns.map((start, i) => line.slice(start, columns[i + 1]).trim())
    const last = rows.at(-1)
    if (cells[0] === "" && last !== undefined) {
      cells.forEach((cell, column) => {
        if (cell !== "") last[column] = `${last[column] ?? ""} ${cell}`.trim()
      })
    } else rows.push(cells)
  }
  return { rows, next }
}
