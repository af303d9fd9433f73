import { SSF } from "@e965/xlsx"
import { oneLine, rowLine } from "../BlockSink.ts"
import { characters } from "./Drawings.ts"

/** Types of records (MS-OGRAPH, 2.3.1). */
const types = { begin: 0x0809, number: 0x0003, text: 0x0004, seriesText: 0x100d } as const

/** The type in the second part of a Microsoft Graph chart's header. */
const graph = 0x8000

/** Most rows and most columns of a datasheet. */
const mostCells = 4_000

export interface Graph {
  /** The datasheet, one line for each row. */
  readonly table: string
  /** Titles and names that are not in the datasheet. */
  readonly texts: ReadonlyArray<string>
}

/** The content of a Microsoft Graph chart; `undefined` where the stream is a workbook. */
export const graphIn = (stream: Buffer): Graph | undefined => {
  const rows = new Map<number, Map<number, string>>()
  const texts = new Set<string>()
  let isGraph = false
  for (let at = 0; at + 4 <= stream.length;) {
    const type = stream.readUInt16LE(at)
    const record = stream.subarray(at + 4, at + 4 + stream.readUInt16LE(at + 2))
    at += 4 + stream.readUInt16LE(at + 2)
    if (type === types.begin && record.length >= 4) isGraph ||= record.readUInt16LE(2) === graph
    else if (!isGraph) continue
    else if (type === types.seriesText && record.length > 4) texts.add(stringAt(record, 2))
    else if ((type === types.number && record.length >= 15) || (type === types.text && record.length > 9)) {
      const [row, column] = [record.readUInt16LE(0), record.readUInt16LE(2)]
      if (row >= mostCells || column >= mostCells) continue
      const cells = rows.get(row) ?? new Map<number, string>()
      rows.set(row, cells.set(column, type === types.text ? stringAt(record, 7) : shown(record.readDoubleLE(7), record[5]!)))
    }
  }
  if (!isGraph) return undefined
  const columns = [...new Set([...rows.values()].flatMap((cells) => [...cells.keys()]))].toSorted((a, b) => a - b)
  const lines = [...rows].toSorted(([a], [b]) => a - b).map(([, cells]) => rowLine(columns.map((column) => cells.get(column) ?? "")))
  const inCells = new Set([...rows.values()].flatMap((cells) => [...cells.values()]))
  return { table: lines.filter((line) => line !== "").join("\n"), texts: [...texts].filter((text) => text !== "" && !inCells.has(text)) }
}

/** Formats numbered from here on are the document's own. */
const ownFormats = 50

const shown = (value: number, format: number): string => {
  if (format === 0 || format >= ownFormats) return String(value)
  try {
    return oneLine(String(SSF.format(format, value)))
  } catch {
    return String(value)
  }
}

/** A counted string: the number of characters, whether they are wide, and the characters. */
const stringAt = (record: Buffer, at: number): string => oneLine(characters(record, at + 2, (record[at + 1] ?? 0) & 1, record[at] ?? 0))
