import { oneLine } from "../BlockSink.ts"
import type { SheetCell } from "../SheetRows.ts"
import { bytesOf, type Fields, type IWorkObject, messagesOf, numberOf, referencesOf, textOf } from "./Objects.ts"

type Objects = ReadonlyMap<number, IWorkObject>

/** A list that belongs to a table: texts, or objects, by the keys used in cells. */
type Entries = ReadonlyMap<number, Fields>

/** Rows of one tile, unless the table states another number. */
const tileRows = 256

/**
 * The filled cells of a table, row by row: texts, numbers, dates, durations and truth values as they are shown, without number formats and
 * formulas.
 *
 * @param payload returns the text of a cell with its own styles
 * @param comment receives the comments on cells
 */
export function* cellsOf(
  model: Fields,
  objects: Objects,
  payload: (id: number) => string,
  comment: (id: number) => void
): Generator<{ readonly row: number; readonly cells: ReadonlyArray<SheetCell> }> {
  const [store = []] = messagesOf(model, 4)
  const texts = entriesOf(store, 4, objects)
  const rich = entriesOf(store, 17, objects)
  const comments = entriesOf(store, 19, objects)
  const [tiles = []] = messagesOf(store, 3)
  const rowsOfTile = numberOf(tiles, 2) ?? tileRows
  for (const tile of messagesOf(tiles, 1)) {
    const first = (numberOf(tile, 1) ?? 0) * rowsOfTile
    const rows = referencesOf(tile, 2).flatMap((id) => messagesOf(objects.get(id)?.fields ?? [], 5))
    for (const row of rows.toSorted((a, b) => (numberOf(a, 1) ?? 0) - (numberOf(b, 1) ?? 0))) {
      const isNew = (bytesOf(row, 6)[0]?.length ?? 0) > 0
      const [buffer] = bytesOf(row, isNew ? 6 : 3)
      const [offsets] = bytesOf(row, isNew ? 7 : 4)
      if (buffer === undefined || offsets === undefined) continue
      const scale = isNew && (numberOf(row, 8) ?? 0) !== 0 ? 4 : 1
      const cells: Array<SheetCell> = []
      for (let column = 0; column * 2 + 1 < offsets.length; column++) {
        const offset = offsets.readUInt16LE(column * 2)
        if (offset === 0xffff || offset * scale + 12 > buffer.length) continue
        const cell = (isNew ? newCell : oldCell)(buffer.subarray(offset * scale))
        if (cell === undefined) continue
        const text = oneLine(
          cell.text !== undefined
            ? textOf(texts.get(cell.text) ?? [], 3) ?? ""
            : cell.rich !== undefined
            ? referencesOf(rich.get(cell.rich) ?? [], 9).map(payload).join(" ")
            : cell.shown ?? ""
        )
        if (text !== "") cells.push([column, text])
        if (cell.comment !== undefined) { for (const id of referencesOf(comments.get(cell.comment) ?? [], 10)) comment(id) }
      }
      yield { row: first + (numberOf(row, 1) ?? 0), cells }
    }
  }
}

const entriesOf = (store: Fields, field: number, objects: Objects): Entries =>
  new Map(
    referencesOf(store, field).flatMap((id) => messagesOf(objects.get(id)?.fields ?? [], 3)).map((entry) =>
      [numberOf(entry, 1) ?? 0, entry] as const
    )
  )

interface Cell {
  readonly shown?: string
  /** Key of its text in the list of texts. */
  readonly text?: number
  /** Key of its styled text in the list of styled texts. */
  readonly rich?: number
  /** Key of its comment in the list of comments. */
  readonly comment?: number
}

const cellTypes = { number: 2, text: 3, date: 5, truth: 6, duration: 7, rich: 9, currency: 10 }

const commentFlag = 0x80_000

/** A cell of the fifth form, since 2016: twelve bytes, of which the last four flag which fields follow, in order. */
const newCell = (cell: Buffer): Cell | undefined => {
  const flags = cell.readUInt32LE(8)
  let at = 12
  const field = <A>(bit: number, size: number, read: (at: number) => A): A | undefined => {
    if ((flags & bit) === 0) return undefined
    at += size
    return at > cell.length ? undefined : read(at - size)
  }
  const decimal = field(1, 16, (at) => decimalAt(cell, at))
  const double = field(2, 8, (at) => cell.readDoubleLE(at))
  const seconds = field(4, 8, (at) => cell.readDoubleLE(at))
  const text = field(8, 4, (at) => cell.readUInt32LE(at))
  const rich = field(0x10, 4, (at) => cell.readUInt32LE(at))
  // Styles, conditions, formulas, controls, formats.
  for (let bit = 0x20; bit < commentFlag; bit *= 2) field(bit, 4, () => undefined)
  const comment = field(commentFlag, 4, (at) => cell.readUInt32LE(at))
  return shownOf(cell[1] ?? 0, { comment, double: decimal ?? double, rich, seconds, text })
}

/** A cell of the third form, from 2013 to 2015. */
const oldCell = (cell: Buffer): Cell | undefined => {
  const version = cell[0] ?? 0
  const flags = cell.readUInt32LE(4)
  let at = version > 1 ? 12 : 8
  const field = <A>(size: number, read: (at: number) => A): A | undefined => {
    at += size
    return at > cell.length ? undefined : read(at - size)
  }
  at += 4 * bitsOf(flags & (version > 1 ? 0x0d8e : 0x018e))
  const rich = (flags & 0x200) === 0 ? undefined : field(4, (at) => cell.readUInt32LE(at))
  at += 4 * bitsOf(flags & (version > 1 ? 0x3000 : 0x1000))
  const text = (flags & 0x10) === 0 ? undefined : field(4, (at) => cell.readUInt32LE(at))
  const double = (flags & 0x20) === 0 ? undefined : field(8, (at) => cell.readDoubleLE(at))
  const seconds = (flags & 0x40) === 0 ? undefined : field(8, (at) => cell.readDoubleLE(at))
  return shownOf(cell[version >= 4 ? 1 : 2] ?? 0, { double, rich, seconds, text })
}

const bitsOf = (flags: number): number => flags.toString(2).replaceAll("0", "").length

interface Values {
  readonly double: number | undefined
  readonly seconds: number | undefined
  readonly text: number | undefined
  readonly rich: number | undefined
  readonly comment?: number | undefined
}

const shownOf = (type: number, { comment, double, rich, seconds, text }: Values): Cell => {
  switch (type) {
    case cellTypes.number:
    case cellTypes.currency:
      return { comment, shown: double === undefined ? "" : shownNumber(double) }
    case cellTypes.text:
      return { comment, text }
    case cellTypes.date:
      return { comment, shown: dateOf(seconds) }
    case cellTypes.truth:
      return { comment, shown: double === undefined ? "" : double > 0 ? "TRUE" : "FALSE" }
    case cellTypes.duration:
      return { comment, shown: double === undefined ? "" : `${double} s` }
    case cellTypes.rich:
      return { comment, rich }
    default:
      return { comment }
  }
}

/** A number without the noise of its last digits. */
export const shownNumber = (value: number | string): string => {
  const number = Number(value)
  return Number.isFinite(number) ? String(Number(number.toPrecision(15))) : String(value)
}

/** Seconds since 2001, without a time zone, as a date, with the time where there is one. */
export const dateOf = (seconds: number | undefined): string => {
  const date = new Date(Date.UTC(2001, 0, 1) + (seconds ?? Number.NaN) * 1_000)
  return Number.isNaN(date.getTime()) ? "" : date.toISOString().replace(/T00:00:00\.000Z$/, "").replace("T", " ").replace(/\.\d+Z$/, "")
}

/** The value of an IEEE 754 decimal128 with a binary significand; beyond 2^53 the nearest double. */
const decimalAt = (cell: Buffer, at: number): number => {
  const [low, high] = [cell[at + 14]!, cell[at + 15]!]
  const exponent = (((high & 0x7f) << 7) | (low >> 1)) - 0x1820
  let significand = low & 1
  for (let i = 13; i >= 0; i--) significand = significand * 256 + cell[at + i]!
  return Number(`${(high & 0x80) === 0 ? "" : "-"}${significand}e${exponent}`)
}
