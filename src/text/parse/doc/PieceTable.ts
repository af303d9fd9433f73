import { ReadFailure } from "../ReadFailure.ts"

export const damaged = (): ReadFailure => new ReadFailure("corrupt", "the Word document is damaged")

/** A stretch of a document's text. */
interface Piece {
  readonly characters: number
  /** Offset of the piece in the document's stream; from Word 97 on with a flag for one byte a character. */
  readonly place: number
}

/** The pieces of a text in their order: after any formats, first character positions, then offsets (MS-DOC, 2.8.35). */
export const pieceTable = (table: Buffer): ReadonlyArray<Piece> => {
  let at = 0
  while (table[at] === 1 && at + 3 <= table.length) at += 3 + table.readUInt16LE(at + 1)
  if (table[at] !== 2 || at + 5 > table.length) throw damaged()
  const count = Math.floor((table.readUInt32LE(at + 1) - 4) / 12)
  const first = at + 5
  const places = first + (count + 1) * 4
  if (count < 0 || places + count * 8 > table.length) throw damaged()
  return Array.from({ length: count }, (_, i) => ({
    characters: Math.max(0, table.readUInt32LE(first + i * 4 + 4) - table.readUInt32LE(first + i * 4)),
    place: table.readUInt32LE(places + i * 8 + 2)
  }))
}
