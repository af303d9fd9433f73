import type { Storage } from "../Compound.ts"
import { partitionPoint } from "../../PartitionPoint.ts"
import { damaged, pieceTable } from "./PieceTable.ts"
import type { List } from "../ooxml/WordNumbering.ts"
import { type ListChange, type ListPlace, placeOf, readWordLists, styleLists } from "./WordLists.ts"
import { HiddenText } from "../HiddenText.ts"
import { symbolCharacter } from "../SymbolFonts.ts"

export interface Paragraph {
  readonly text: string
  /** Level of a heading, 1 to 9; undefined for other paragraphs. */
  readonly heading: number | undefined
  /** Its place in a list; undefined outside lists. */
  readonly list: ListPlace | undefined
  readonly inTable: boolean
  /** What the paragraph ends in a table: a cell, or a whole row. */
  readonly ends: "cell" | "row" | undefined
}

/** The texts of a document, each separate. */
export interface Stories {
  readonly body: ReadonlyArray<Paragraph>
  readonly headers: ReadonlyArray<Paragraph>
  readonly footers: ReadonlyArray<Paragraph>
  readonly footnotes: ReadonlyArray<Paragraph>
  readonly endnotes: ReadonlyArray<Paragraph>
  readonly comments: ReadonlyArray<Paragraph>
  readonly boxes: ReadonlyArray<Paragraph>
  /** The document's lists by number. */
  readonly lists: ReadonlyMap<string, List>
  readonly hidden: HiddenText
}

/** Offsets in the file information block (MS-DOC, 2.5): lengths of the texts, then offsets and lengths of the tables. */
const lengths = {
  body: 0x4c,
  footnotes: 0x50,
  headers: 0x54,
  macros: 0x58,
  comments: 0x5c,
  endnotes: 0x60,
  boxes: 0x64,
  headerBoxes: 0x68
} as const
const tables = {
  styles: 0xa2,
  headers: 0xf2,
  characters: 0xfa,
  paragraphs: 0x102,
  fonts: 0x112,
  pieces: 0x1a2,
  lists: 0x2e2,
  listOverrides: 0x2ea
} as const
const least = tables.pieces + 8

/** Codes of the properties that formatting changes (MS-DOC, 2.6). */
const change = { deleted: 0x0800, hidden: 0x083c, symbol: 0x6a09, inTable: 0x2416, row: 0x2417, level: 0x260a, list: 0x460b } as const

const pageBytes = 512

interface Run {
  readonly from: number
  readonly to: number
  readonly shown: boolean
  readonly hidden: boolean
  /** A character of a symbol font, by the font's number and its own code. */
  readonly symbol: readonly [font: number, code: number] | undefined
}

interface Look {
  readonly from: number
  readonly to: number
  readonly heading: number | undefined
  readonly list: ListPlace | undefined
  readonly inTable: boolean
  readonly row: boolean
}

/** One character of the text as it is shown, with its paragraph's format where it is the paragraph's last. */
interface Character {
  readonly text: string
  /** The character where it is hidden, and not left out for any other reason. */
  readonly hidden: string
  readonly code: number
  readonly place: number
}

/** The texts of a Word 97 to 2003 document, without deleted or hidden text. */
export const word97 = (root: Storage): Stories => {
  const stream = root.read("WordDocument")
  if (stream === undefined || stream.length < least) throw damaged()
  const table = root.read((stream.readUInt16LE(10) & 0x200) !== 0 ? "1Table" : "0Table")
  if (table === undefined) throw damaged()
  const part = (at: number): Buffer => table.subarray(numberAt(stream, at), numberAt(stream, at) + numberAt(stream, at + 4))
  const fonts = fontNames(part(tables.fonts))
  const characters = charactersOf(stream, part(tables.pieces), runsOf(stream, part(tables.characters)), fonts)
  const styles = styleLists(part(tables.styles), (bytes) => {
    const found: ListChange = {}
    for (const one of changes(bytes)) changeList(found, one)
    return found
  })
  const looks = looksOf(stream, part(tables.paragraphs), styles)
  const hidden = new HiddenText()
  let start = 0
  const next = (at: number): readonly [number, number] => {
    const from = start
    start += Math.max(0, stream.readInt32LE(at))
    return [from, start]
  }
  const paragraphs = ([from, to]: readonly [number, number]): ReadonlyArray<Paragraph> =>
    paragraphsOf(characters.slice(from, to), looks, hidden)
  const body = paragraphs(next(lengths.body))
  const footnotes = paragraphs(next(lengths.footnotes))
  const margins = next(lengths.headers)
  next(lengths.macros)
  const comments = paragraphs(next(lengths.comments))
  const endnotes = paragraphs(next(lengths.endnotes))
  const boxes = [...paragraphs(next(lengths.boxes)), ...paragraphs(next(lengths.headerBoxes))]
  const stories = marginStories(part(tables.headers), margins)
  return {
    body,
    footnotes,
    endnotes,
    comments,
    boxes,
    lists: readWordLists(
      table,
      part(tables.lists),
      numberAt(stream, tables.lists) + numberAt(stream, tables.lists + 4),
      part(tables.listOverrides)
    ),
    headers: stories.filter(({ footer }) => !footer).flatMap(({ range }) => paragraphs(range)),
    footers: stories.filter(({ footer }) => footer).flatMap(({ range }) => paragraphs(range)),
    hidden
  }
}

const numberAt = (bytes: Buffer, at: number): number => at + 4 <= bytes.length ? bytes.readUInt32LE(at) : 0

/** Headers and footers: after six stories that separate notes, each section has those of its even, odd and first pages. */
const marginStories = (places: Buffer, [from, to]: readonly [number, number]) =>
  Array.from({ length: Math.max(0, Math.floor(places.length / 4) - 1) }, (_, i) => ({
    footer: [2, 3, 5].includes((i - 6) % 6),
    range: [Math.min(to, from + numberAt(places, i * 4)), Math.min(to, from + numberAt(places, i * 4 + 4))] as const
  })).slice(6)

/** The characters of the pieces in their order, which have one byte or two a character. */
const charactersOf = (
  stream: Buffer,
  pieces: Buffer,
  runs: ReadonlyArray<Run>,
  fonts: ReadonlyArray<string>
): ReadonlyArray<Character> => {
  const found: Array<Character> = []
  for (const { characters, place } of pieceTable(pieces)) {
    const narrow = (place & 0x40000000) !== 0
    const from = narrow ? (place & 0x3fffffff) / 2 : place & 0x3fffffff
    const width = narrow ? 1 : 2
    // Offsets beyond the end come from a damaged list.
    const bytes = stream.subarray(from, from + characters * width)
    const text = narrow ? western.decode(bytes) : bytes.toString("utf16le")
    let run = firstAfter(runs, from)
    for (let k = 0; k < text.length; k++) {
      const here = from + k * width
      while (run < runs.length && runs[run]!.to <= here) run++
      const own = runs[run]
      const { hidden = false, shown = true, symbol }: Partial<Run> = own !== undefined && own.from <= here ? own : {}
      found.push({
        text: !shown ? "" : symbol === undefined ? text[k]! : symbolCharacter(fonts[symbol[0]] ?? "", symbol[1]),
        hidden: hidden ? text[k]! : "",
        code: text.charCodeAt(k),
        place: here
      })
    }
  }
  return found
}

const western = new TextDecoder("windows-1252")

/** Index of the first of the ascending ranges that ends after a position. */
const firstAfter = (ranges: ReadonlyArray<{ readonly to: number }>, place: number): number =>
  partitionPoint(ranges.length, (at) => ranges[at]!.to <= place)

/** Formatted stretches, from pages of 512 bytes: first the positions of the stretches, then where each format stands in the page. */
function* formatted(stream: Buffer, pages: Buffer, width: number) {
  const count = Math.floor((pages.length - 4) / 8)
  for (let i = 0; i < count; i++) {
    const at = (numberAt(pages, (count + 1) * 4 + i * 4) & 0x3fffff) * pageBytes
    const page = stream.subarray(at, at + pageBytes)
    const runs = page[pageBytes - 1] ?? 0
    if ((runs + 1) * 4 + runs * width > pageBytes) continue
    for (let k = 0; k < runs; k++) {
      yield {
        page,
        from: numberAt(page, k * 4),
        to: numberAt(page, k * 4 + 4),
        at: (page[(runs + 1) * 4 + k * width] ?? 0) * 2
      }
    }
  }
}

const runsOf = (stream: Buffer, pages: Buffer): ReadonlyArray<Run> =>
  [...formatted(stream, pages, 1)].map(({ at, from, page, to }) => {
    const run = { from, to, shown: true, hidden: false, symbol: undefined as Run["symbol"] }
    if (at === 0) return run
    for (const { code, value, operand } of changes(page.subarray(at + 1, at + 1 + (page[at] ?? 0)))) {
      // On, or the opposite of the style; no style has either turned on.
      if (code === change.deleted && (value & 1) === 1) run.shown = false
      if (code === change.hidden) run.hidden = (value & 1) === 1
      if (code === change.symbol && operand.length >= 4) run.symbol = [operand.readUInt16LE(0), operand.readUInt16LE(2)]
    }
    return { ...run, shown: run.shown && !run.hidden, hidden: run.shown && run.hidden }
  }).sort(inOrder)

/** Styles numbered from 1 to this are headings in every document. */
const mostHeadings = 9

const changeList = (
  found: ListChange,
  { code, operand, value }: { readonly code: number; readonly operand: Buffer; readonly value: number }
) => {
  if (code === change.level) found.level = value
  if (code === change.list && operand.length >= 2) found.id = operand.readUInt16LE(0)
}

const looksOf = (stream: Buffer, pages: Buffer, styles: ReadonlyArray<ListChange>): ReadonlyArray<Look> =>
  [...formatted(stream, pages, 13)].map(({ at, from, page, to }) => {
    const words = page[at] ?? 0
    const start = words === 0 ? at + 2 : at + 1
    const bytes = page.subarray(start, start + (words === 0 ? (page[at + 1] ?? 0) * 2 : words * 2 - 1))
    const style = at === 0 || bytes.length < 2 ? 0 : bytes.readUInt16LE(0)
    const look = { from, to, heading: style >= 1 && style <= mostHeadings ? style : undefined, inTable: false, row: false }
    const list: ListChange = {}
    for (const one of at === 0 ? [] : changes(bytes.subarray(2))) {
      if (one.code === change.inTable) look.inTable = one.value !== 0
      if (one.code === change.row) look.row = one.value !== 0
      changeList(list, one)
    }
    return { ...look, list: placeOf(list, styles[style]) }
  }).sort(inOrder)

const inOrder = (a: { readonly from: number }, b: { readonly from: number }): number => a.from - b.from

/** Bytes of an operand by the upper three bits of its code; 0 where the operand states its own length. */
const operandBytes = [1, 1, 2, 4, 2, 2, 0, 3] as const

function* changes(bytes: Buffer) {
  for (let at = 0; at + 3 <= bytes.length;) {
    const code = bytes.readUInt16LE(at)
    const fixed = operandBytes[code >> 13 as 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7]
    const length = fixed === 0 ? 1 + (bytes[at + 2] ?? 0) : fixed
    const operand = bytes.subarray(at + 2, at + 2 + length)
    yield { code, value: operand[0] ?? 0, operand }
    at += 2 + length
  }
}

const fontNames = (bytes: Buffer): ReadonlyArray<string> => {
  const names: Array<string> = []
  for (let at = 4; at < bytes.length; at += 1 + (bytes[at] ?? 0)) {
    names.push(bytes.toString("utf16le", Math.min(bytes.length, at + 40), at + 1 + (bytes[at] ?? 0)).replace(/\0.*$/s, ""))
  }
  return names
}

const codes = {
  cell: 7,
  line: 0x0b,
  page: 0x0c,
  paragraph: 0x0d,
  begin: 0x13,
  separate: 0x14,
  end: 0x15,
  hyphen: 0x1e,
  softHyphen: 0x1f
} as const

const paragraphsOf = (
  characters: ReadonlyArray<Character>,
  looks: ReadonlyArray<Look>,
  hiddenText: HiddenText
): ReadonlyArray<Paragraph> => {
  const found: Array<Paragraph> = []
  // Nested fields: the code of each, and whether its result has started.
  const fields: Array<{ code: string; shows: boolean }> = []
  let text = ""
  const add = (more: string): void => {
    const field = fields.at(-1)
    if (field === undefined || field.shows) text += more
    else field.code += more
  }
  const end = (place: number, isCell: boolean): void => {
    const look = looks[firstAfter(looks, place)]
    const own = look !== undefined && look.from <= place ? look : undefined
    found.push({
      text: text.trim(),
      heading: own?.heading,
      list: own?.list,
      inTable: own?.inTable === true || isCell,
      ends: own?.row === true ? "row" : isCell ? "cell" : undefined
    })
    text = ""
  }
  for (const { code, hidden, place, text: shown } of characters) {
    if (code === codes.begin) fields.push({ code: "", shows: false })
    else if (code === codes.separate) {
      const field = fields.at(-1)
      if (field !== undefined) field.shows = true
    } else if (code === codes.end) {
      const field = fields.pop()
      if (field?.shows === false) add(shownByCode(field.code))
    } else if (code === codes.cell || code === codes.paragraph || code === codes.page) end(place, code === codes.cell)
    else if (code === codes.line) add("\n")
    else if (code === codes.hyphen) add("-")
    else if (code === codes.softHyphen) continue
    else if (code >= 0x20 || code === 0x09) {
      add(shown)
      // Entries of indexes are hidden in the code of their field.
      if (fields.at(-1)?.shows !== false) hiddenText.add(hidden)
    }
  }
  if (text.trim() !== "") end(characters.at(-1)?.place ?? 0, false)
  return found
}

/** The text of fields without a result, which show part of their code: the label of a button, the parts of an equation. */
const shownByCode = (code: string): string => {
  const button = /^\s*MACROBUTTON\s+\S+\s+(.*)$/s.exec(code)
  if (button !== null) return button[1] ?? ""
  return /^\s*EQ\s/.test(code)
    ? code.replace(/^\s*EQ|\\\*\s*(?:"[^"]*"|\S+)|\\[a-z]+\d*(?:\s+\d+)?/gi, " ").replace(/[(),;\s]+/g, " ").trim()
    : ""
}
