import { decodePart } from "../Decode.ts"
import { marginText } from "../ooxml/Worksheet.ts"
import { CellMessages, rangeName } from "../SheetRows.ts"

/** The texts of a sheet besides its cells. */
export interface SheetTexts {
  /** Text boxes, and titles and names in its charts. */
  readonly texts: ReadonlyArray<string>
  readonly header: string
  readonly footer: string
  readonly messages: CellMessages
}

/** Types of records (MS-XLS, 2.3). */
const types = {
  eof: 0x0a,
  header: 0x14,
  footer: 0x15,
  filePass: 0x2f,
  continue: 0x3c,
  object: 0x5d,
  sheet: 0x85,
  drawings: 0xeb,
  text: 0x1b6,
  validation: 0x1be,
  begin: 0x809,
  chartText: 0x100d
} as const

const excel97 = 0x600
/** The type of a comment's box, whose text is read with its cell. */
const commentBox = 0x19

interface Record {
  readonly type: number
  readonly content: Buffer
}

function* records(stream: Buffer, from: number): Generator<Record> {
  for (let at = from; at + 4 <= stream.length;) {
    const end = at + 4 + stream.readUInt16LE(at + 2)
    yield { type: stream.readUInt16LE(at), content: stream.subarray(at + 4, end) }
    at = end
  }
}

/**
 * The texts of a binary workbook's sheets besides their cells, in order, and the stream in which it keeps its pictures; both empty for an
 * encrypted workbook.
 */
export const drawingsOf = (stream: Buffer): { readonly sheets: ReadonlyArray<SheetTexts>; readonly pictures: Buffer } => {
  const places: Array<number> = []
  const pictures: Array<Buffer> = []
  let version = excel97
  let previous = 0
  for (const { content, type } of records(stream, 0)) {
    if (type === types.begin && content.length >= 2) version = content.readUInt16LE(0)
    if (type === types.filePass) return { sheets: [], pictures: Buffer.alloc(0) }
    if (type === types.sheet && content.length >= 4) places.push(content.readUInt32LE(0))
    if (type === types.drawings || (type === types.continue && previous === types.drawings)) pictures.push(content)
    if (type !== types.continue) previous = type
    if (type === types.eof) break
  }
  return { sheets: places.map((place) => sheetTexts(stream, place, version)), pictures: Buffer.concat(pictures) }
}

const sheetTexts = (stream: Buffer, place: number, version: number): SheetTexts => {
  const texts: Array<string> = []
  const messages = new CellMessages()
  let [header, footer] = ["", ""]
  let depth = 0
  let object = 0
  // Characters that are still to come of an interrupted text.
  let missing = 0
  let text = ""
  for (const { content, type } of records(stream, place)) {
    if (type === types.continue && missing > 0) {
      const part = characters(content, 1, (content[0] ?? 0) & 1, missing)
      missing -= part.length
      text += part
      if (missing === 0 || part === "") {
        texts.push(text)
        missing = 0
      }
      continue
    }
    missing = 0
    if (type === types.begin) depth++
    else if (type === types.eof && --depth <= 0) break
    else if (type === types.header) header ||= running(content, version)
    else if (type === types.footer) footer ||= running(content, version)
    else if (type === types.object) object = content.length >= 6 ? content.readUInt16LE(4) : 0
    else if (type === types.validation) addMessages(content, messages)
    else if (type === types.text && object !== commentBox && content.length >= 12) {
      missing = content.readUInt16LE(10)
      text = ""
    } else if (type === types.chartText && version >= excel97 && content.length > 4) {
      texts.push(characters(content, 4, content[3]! & 1, content[2]!))
    }
  }
  return { texts: texts.map((one) => one.replace(/[\0-\x08\x0b-\x1f]/g, " ").trim()).filter((one) => one !== ""), header, footer, messages }
}

/** Flag of a validation that shows a message on input (MS-XLS, 2.4.94; MS-XLSB, 2.4.378). */
export const showsInput = 1 << 18
/** Flag of a validation that shows a message on an error (MS-XLS, 2.4.94; MS-XLSB, 2.4.378). */
export const showsError = 1 << 19

/** Adds the messages of a validation: flags, four texts, two formulas with their lengths in front, ranges (MS-XLS, 2.4.94). */
const addMessages = (content: Buffer, messages: CellMessages): void => {
  if (content.length < 4) return
  const flags = content.readUInt32LE(0)
  let at = 4
  const texts: Array<string> = []
  while (texts.length < 4 && at + 3 <= content.length) {
    const [count, wide] = [content.readUInt16LE(at), content[at + 2]! & 1]
    texts.push(characters(content, at + 3, wide, count).replaceAll("\0", ""))
    at += 3 + count * (1 + wide)
  }
  for (let formula = 0; formula < 2 && at + 4 <= content.length; formula++) at += 4 + content.readUInt16LE(at)
  const count = at + 2 <= content.length ? content.readUInt16LE(at) : 0
  const ranges: Array<string> = []
  for (let place = at + 2; ranges.length < count && place + 8 <= content.length; place += 8) {
    // First and last row, first and last column.
    const bound = (i: number): number => content.readUInt16LE(place + 2 * i)
    ranges.push(rangeName(bound(2), bound(0), bound(3), bound(1)))
  }
  const [inputTitle, errorTitle, input, error] = texts
  if ((flags & showsInput) !== 0) messages.add("Input", ranges, inputTitle, input)
  if ((flags & showsError) !== 0) messages.add("Error", ranges, errorTitle, error)
}

/** Decodes characters of one byte or two. */
export const characters = (content: Buffer, from: number, wide: number, most: number): string =>
  wide === 1 ? content.toString("utf16le", from, from + most * 2) : content.toString("latin1", from, from + most)

const running = (content: Buffer, version: number): string => {
  if (content.length < 2) return ""
  const text = version >= excel97 && content.length > 3
    ? characters(content, 3, content[2]! & 1, content.readUInt16LE(0))
    : decodePart(content.subarray(1, 1 + content[0]!))
  return marginText(text)
}
