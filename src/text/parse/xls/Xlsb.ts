import type { OfficePackage } from "../ooxml/Package.ts"
import { CellMessages, rangeName } from "../SheetRows.ts"
import { showsError, showsInput } from "./Drawings.ts"

/** Types of records (MS-XLSB, 2.3.1). */
const types = { validation: 64, sheet: 156, newValidation: 1053 } as const

/** The records of a part. They have types of one byte or two, and lengths of one to four, seven bits each (MS-XLSB, 2.1.4). */
function* records(part: Buffer): Generator<{ readonly type: number; readonly content: Buffer }> {
  let at = 0
  const number = (most: number): number => {
    let value = 0
    for (let i = 0; i < most && at < part.length; i++) {
      const byte = part[at++]!
      value += (byte & 0x7f) << (7 * i)
      if (byte < 0x80) break
    }
    return value
  }
  while (at < part.length) {
    const type = number(2)
    const length = number(4)
    yield { type, content: part.subarray(at, at + length) }
    at += length
  }
}

const bufferOf = (bytes: Uint8Array | undefined): Buffer =>
  bytes === undefined ? Buffer.alloc(0) : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** Texts with their lengths in front, one after the other; a length of 0xffffffff means an empty text (MS-XLSB, 2.5.166). */
const textsAt = (content: Buffer, from: number, most: number): ReadonlyArray<string> => {
  const texts: Array<string> = []
  for (let at = from; texts.length < most && at + 4 <= content.length;) {
    const length = content.readUInt32LE(at)
    const end = at + 4 + (length === 0xffff_ffff ? 0 : length * 2)
    texts.push(content.toString("utf16le", at + 4, Math.min(end, content.length)))
    at = end
  }
  return texts
}

/** The parts of the sheets in the order of the workbook; `undefined` for a sheet that names none. */
export const sheetParts = (pack: OfficePackage): ReadonlyArray<string | undefined> => {
  const parts: Array<string | undefined> = []
  for (const { content, type } of records(bufferOf(pack.part(pack.main)))) {
    if (type === types.sheet) parts.push(pack.target(pack.main, textsAt(content, 8, 1)[0]))
  }
  return parts
}

/** The messages of a sheet's validations: flags, ranges, four texts (MS-XLSB, 2.4.378). */
export const messagesOf = (sheet: Uint8Array | undefined): { readonly messages: CellMessages; readonly unread: number } => {
  const messages = new CellMessages()
  let unread = 0
  for (const { content, type } of records(bufferOf(sheet))) {
    if (type === types.newValidation) unread++
    if (type !== types.validation || content.length < 8) continue
    const flags = content.readUInt32LE(0)
    const count = Math.min(content.readUInt32LE(4), Math.floor((content.length - 8) / 16))
    const ranges = Array.from({ length: count }, (_, i) => {
      // First and last row, first and last column.
      const bound = (at: number): number => content.readUInt32LE(8 + 16 * i + 4 * at)
      return rangeName(bound(2), bound(0), bound(3), bound(1))
    })
    const [errorTitle, error, inputTitle, input] = textsAt(content, 8 + 16 * count, 4)
    if ((flags & showsInput) !== 0) messages.add("Input", ranges, inputTitle, input)
    if ((flags & showsError) !== 0) messages.add("Error", ranges, errorTitle, error)
  }
  return { messages, unread }
}
