import { BlockWriter, oneLine, rowLine } from "./BlockSink.ts"
import { openCompound, type Storage } from "./Compound.ts"
import { decodeAs, decodePart } from "./Decode.ts"
import { DocumentBuilder } from "./DocumentBuilder.ts"
import { damaged, pieceTable } from "./doc/PieceTable.ts"
import { type Paragraph, type Stories, word97 } from "./doc/Word97.ts"
import { embeddedInStorages, withEmbedded } from "./Embedded.ts"
import { WordNumbering } from "./ooxml/WordNumbering.ts"
import { ReadFailure } from "./ReadFailure.ts"
import type { Reader } from "./Reader.ts"

/** Reads documents of Word 6 to 2003: headings, paragraphs, tables, each header once, text boxes, notes and comments, embedded objects. */
export const doc: Reader = ({ bytes, format, inner, limits }) => {
  const root = openCompound(bytes)
  const builder = new DocumentBuilder(limits.characters)
  const writer = new BlockWriter(builder)
  const text = oldText(root)
  const stories = text === undefined ? word97(root) : undefined
  if (stories !== undefined) addStories(stories, writer)
  else addLines(text ?? "", writer)
  writer.end()
  const pool = root.storages.get("ObjectPool")?.storages.values() ?? []
  return withEmbedded(
    embeddedInStorages(pool, root.read("Data")),
    { builder, inner, limits },
    () => builder.build({ format, remarks: stories?.hidden.remarks })
  )
}

/** The first version that stores its text as Unicode, and its pieces in a separate stream. */
const firstUnicode = 0xc0

/** Offsets of flags and places in the file information block, whose first fields all versions share (MS-DOC, 2.5.1). */
const fib = { version: 2, flags: 10, characters: 20, text: 24, pieces: 0x160, least: 0x168 } as const
const flags = { pieces: 0x4, encrypted: 0x100 } as const
const macintosh = 256

/** The text of a document from before 1997, one byte a character, or two in an East Asian edition; `undefined` for later ones. */
const oldText = (root: Storage): string | undefined => {
  const stream = root.read("WordDocument")
  if (stream === undefined || stream.length < 32) throw damaged()
  const set = stream.readUInt16LE(fib.flags)
  if ((set & flags.encrypted) !== 0) throw new ReadFailure("encrypted", "the document is protected by a password")
  if (stream.readUInt16LE(fib.version) >= firstUnicode) return undefined
  if (stream.length < fib.least) throw damaged()
  const isInPieces = (set & flags.pieces) !== 0
  const ranges = isInPieces ? pieces(stream) : [[stream.readUInt32LE(fib.text), stream.readUInt32LE(fib.text + 4)] as const]
  // A piece has as many characters as its range is long.
  const wide = ranges.map(([from, to]) => unitsOf(stream, from, isInPieces ? to + to - from : to))
  // Text of one byte a character has no zeros.
  const isWide = wide.every((units) => units !== undefined) && wide.some(({ ends }) => ends)
  const bytes = Buffer.concat(isWide ? wide.map((units) => units.bytes) : ranges.map(([from, to]) => stream.subarray(from, to)))
  // The file names the language of its author, not of its text: the letters show which charset they are in.
  const text = stream.readUInt16LE(fib.characters) === macintosh ? decodeAs(bytes, "macintosh") : decodePart(bytes)
  // Cells and rows end with BEL, lines with VT, pages with FF; a field's code stands before its result.
  return text.replace(/\x13[^\x13-\x15]*\x14|[\x13-\x15]/g, "").replaceAll("\x07\x07", "\n").replaceAll("\x07", "\t")
    .replace(/[\v\f]/g, "\n")
}

const paragraphEnd = 0x0d

/**
 * The text of an East Asian edition, which stores each character in two bytes: its own, the second one first, or a single one and a zero.
 * `ends`: whether it has the end of a paragraph. `undefined` where a stretch is not such text.
 */
const unitsOf = (stream: Buffer, from: number, to: number): { readonly bytes: Buffer; readonly ends: boolean } | undefined => {
  if (to > stream.length || (to - from) % 2 !== 0) return undefined
  const bytes: Array<number> = []
  let ends = false
  for (let at = from; at < to; at += 2) {
    const [low, high] = [stream[at]!, stream[at + 1]!]
    if (high !== 0 && high < 0x80) return undefined
    ends ||= high === 0 && low === paragraphEnd
    bytes.push(...(high === 0 ? [low] : [high, low]))
  }
  return { bytes: Buffer.from(bytes), ends }
}

/** Where the pieces lie of a text that was saved in pieces. */
const pieces = (stream: Buffer): ReadonlyArray<readonly [from: number, to: number]> => {
  const from = stream.readUInt32LE(fib.pieces)
  return pieceTable(stream.subarray(from, from + stream.readUInt32LE(fib.pieces + 4)))
    .map(({ characters, place }) => [place, place + characters] as const)
}

const addStories = ({ body, boxes, comments, endnotes, footers, footnotes, headers, lists }: Stories, writer: BlockWriter): void => {
  const numbering = new WordNumbering(lists)
  // Sections repeat their headers and footers.
  const seen = new Set<string>()
  const once = (paragraphs: ReadonlyArray<Paragraph>): ReadonlyArray<Paragraph> =>
    paragraphs.filter(({ inTable, text }) => inTable || !seen.has(text) && seen.add(text))
  for (const story of [once(headers), body, boxes, footnotes, endnotes, comments, once(footers)]) addParagraphs(story, numbering, writer)
}

const deepestHeading = 6

const addParagraphs = (paragraphs: ReadonlyArray<Paragraph>, numbering: WordNumbering, writer: BlockWriter): void => {
  let cell: Array<string> = []
  let row: Array<string> = []
  let rows: Array<string> = []
  const endTable = (): void => {
    if (cell.length > 0) row.push(oneLine(cell.join(" ")))
    if (row.length > 0) rows.push(rowLine(row))
    const table = rows.filter((line) => line !== "").join("\n")
    if (table !== "") writer.add("table", table)
    cell = []
    row = []
    rows = []
  }
  for (const { ends, heading, inTable, list, text } of paragraphs) {
    const label = list === undefined || text === "" ? "" : numbering.next(String(list.id), list.level)
    const labelled = label === "" || label === "-" ? text : `${label} ${text}`
    if (!inTable) {
      endTable()
      if (heading !== undefined) writer.add("heading", oneLine(labelled), Math.min(deepestHeading, heading))
      else if (list !== undefined && label !== "") writer.item(list.level, label, text)
      else writer.add("paragraph", text)
      continue
    }
    if (ends === "row") {
      rows.push(rowLine(row))
      cell = []
      row = []
    } else {
      cell.push(labelled)
      if (ends === "cell") row.push(oneLine(cell.splice(0).join(" ")))
    }
  }
  endTable()
}

/** Adds each line as a paragraph; consecutive lines with tabs are the rows of a table. */
const addLines = (text: string, writer: BlockWriter): void => {
  let rows: Array<string> = []
  const endRows = (): void => {
    if (rows.length > 0) writer.add(rows.length === 1 ? "paragraph" : "table", rows.join("\n"))
    rows = []
  }
  for (const line of text.replace(/\r\n?/g, "\n").split("\n")) {
    // Control characters left by fields and pictures.
    const clean = line.replace(/[\u0001-\u0008\u000b-\u001f]/g, " ")
    if (/\S\t+\S/.test(clean)) rows.push(rowLine(clean.split("\t").map(oneLine)))
    else {
      endRows()
      writer.add("paragraph", clean.trim())
    }
  }
  endRows()
}
