import type { Context } from "../../domain/Retrieval.ts"
import { normalize, wordsOfNormal } from "./Words.ts"

export type UnitKind = "sentence" | "item" | "row" | "list"

/** The smallest piece of a context that an answer may quote. */
export interface Unit {
  readonly kind: UnitKind
  /** Index into the request's contexts. */
  readonly context: number
  /** UTF-16 span in the context's text: the quote, to the letter. */
  readonly start: number
  readonly end: number
  /** What the answer prints: one line, list marks taken off, a row's cells named by their column. */
  readonly display: string
  /** Text above that says what the unit is about: a heading or question line, a list's lead-in, a table's header. */
  readonly above: string
  /** Units since the last heading or the chunk's beginning. */
  readonly position: number
  /** Folded words of the quote, in order, and the same as a set. */
  readonly words: ReadonlyArray<string>
  readonly wordSet: ReadonlySet<string>
  /** The quote, normalised, for finding CJK words in it. */
  readonly normal: string
}

interface Line {
  readonly start: number
  readonly end: number
  readonly text: string
}

const bullet = /^[ \t]*(?:[-*+•◦▪‣·–]|\(?(?:\d{1,3}|[a-zA-Z])[.)]|（\d+）|\d+、)[ \t]+/u
const terminal = /[.!?:;。！？：；…][)"'”’»」』\]]*$/u
const abbreviations =
  /(?:^|[\s(])(?:\p{Lu}|Mrs?|Ms|Dr|Prof|St|Jr|Sr|vs|etc|e\.g|i\.e|cf|No|Nos|Fig|Eq|Sec|Art|approx|ca|al|Inc|Ltd|Co|Corp|z\.B|d\.h|u\.a|bzw|Nr|Abs|Abb|vgl|ggf|usw|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.\s*$/u
const sentences = new Intl.Segmenter("en", { granularity: "sentence" })

/** A list that is asked for as a whole is quoted as a whole up to this many characters. */
const maxListCharacters = 600
const maxHeadingCharacters = 120
const maxSentenceCharacters = 700

/** A document's own note marks, which would read as our citations: before a note, and after what it notes. */
const ownMark = /^\[\d{1,3}\]\s+/
const anyMark = /\s*\[\d{1,3}\]/g

/** Cuts the text of a context into units, in order. Linear in the text. */
export const unitsOf = (context: Context, index: number): Array<Unit> => {
  const text = context.text
  const units: Array<Unit> = []
  let above = ""
  let position = 0
  let leadIn: Line | undefined

  const push = (kind: UnitKind, from: number, end: number, over: string, display?: string): void => {
    const start = from + (ownMark.exec(text.slice(from, end))?.[0].length ?? 0)
    const quote = text.slice(start, end)
    const normal = normalize(quote)
    const words = wordsOfNormal(normal)
    if (words.length === 0) return
    units.push({
      kind,
      context: index,
      start,
      end,
      display: (display ?? oneLine(quote)).replace(anyMark, ""),
      above: over,
      position: position++,
      words,
      wordSet: new Set(words),
      normal
    })
  }

  const blocks = blocksOf(text)
  blocks.forEach((lines, number) => {
    const first = lines[0]!
    const last = lines.at(-1)!
    const next = blocks[number + 1]
    const lead = leadIn
    leadIn = undefined
    if (isTable(lines)) {
      pushRows(lines, above, push)
    } else if (isList(lines, next, lead !== undefined)) {
      const items = itemsOf(lines)
      if (lead !== undefined && last.end - lead.start <= maxListCharacters) {
        push("list", lead.start, last.end, above, `${oneLine(lead.text)} ${items.map(itemText).join("; ")}`)
      }
      const over = lead === undefined ? above : `${above}\n${lead.text}`
      for (const item of items) push("item", item.start, item.end, over, itemText(item))
    } else if (isHeading(lines) && next !== undefined) {
      // A lone line may be a heading or a fact ("Fax: 555 0100"); the latter is quotable too.
      if (/\d|: /.test(first.text) && !context.headings.includes(first.text)) push("sentence", first.start, first.end, above)
      above = first.text
      position = 0
    } else {
      const sentences = sentencesOf(text, lines)
      if (/[:：]$/u.test(last.text) && next !== undefined && isList(next, undefined, true)) leadIn = sentences.pop()
      for (const sentence of sentences) {
        if (/[?？]["'”’)]*$/u.test(sentence.text)) {
          // A question that the text asks is what its next sentences answer.
          above = sentence.text
          position = 0
        } else {
          push("sentence", sentence.start, sentence.end, above)
        }
      }
    }
  })
  return units
}

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim()
const itemText = (line: Line): string => oneLine(line.text.replace(bullet, ""))

/** Runs of lines between blank lines. */
const blocksOf = (text: string): Array<Array<Line>> => {
  const blocks: Array<Array<Line>> = []
  let current: Array<Line> = []
  let start = 0
  while (start <= text.length) {
    const newline = text.indexOf("\n", start)
    const stop = newline === -1 ? text.length : newline
    const raw = text.slice(start, stop)
    const line = raw.trim()
    if (line === "") {
      if (current.length > 0) blocks.push(current)
      current = []
    } else {
      const at = start + raw.indexOf(line)
      current.push({ start: at, end: at + line.length, text: line })
    }
    start = stop + 1
  }
  if (current.length > 0) blocks.push(current)
  return blocks
}

const isTable = (lines: ReadonlyArray<Line>): boolean =>
  lines.length > 1 && lines.filter((line) => line.text.includes(" | ")).length * 2 > lines.length

/** Marked lines; a single one only where a lead-in or another item shows that it is no numbered heading. */
const isList = (lines: ReadonlyArray<Line>, next: ReadonlyArray<Line> | undefined, led: boolean): boolean =>
  bullet.test(lines[0]!.text) && (led || lines.length > 1 || (next !== undefined && bullet.test(next[0]!.text)))

/** One line, short, ending in no punctuation; what stands under it is about it. */
const isHeading = (lines: ReadonlyArray<Line>): boolean => {
  const text = lines[0]!.text
  return lines.length === 1 && text.length <= maxHeadingCharacters && !terminal.test(text) && !text.includes(" | ")
}

/** Items of a list: a line with a mark and the unmarked lines under it. */
const itemsOf = (lines: ReadonlyArray<Line>): Array<Line> => {
  const items: Array<Line> = []
  for (const line of lines) {
    const previous = items.at(-1)
    if (previous === undefined || bullet.test(line.text)) items.push(line)
    else items[items.length - 1] = { start: previous.start, end: line.end, text: `${previous.text} ${line.text}` }
  }
  return items
}

const pushRows = (
  lines: ReadonlyArray<Line>,
  above: string,
  push: (kind: UnitKind, start: number, end: number, over: string, display?: string) => void
): void => {
  const cells = lines.map((line) => line.text.replace(/^\||\|$/g, "").split(" | ").map(oneLine))
  const header = cells[0]!
  const named = header.every((cell) => cell !== "" && !/^[\d.,%$€£-]+$/.test(cell))
  lines.forEach((line, index) => {
    const row = cells[index]!
    if (/^[\s|:-]+$/.test(line.text) || (index === 0 && named)) return
    const display = named && row.length === header.length
      ? row.map((cell, column) => (cell === "" ? "" : `${header[column]}: ${cell}`)).filter((cell) => cell !== "").join("; ")
      : oneLine(line.text)
    push("row", line.start, line.end, named ? `${above}\n${header.join(" ")}` : above, display)
  })
}

/** Sentences of a paragraph. A line end inside one is a space, unless the lines stand alone (key and value, verse). */
const sentencesOf = (text: string, lines: ReadonlyArray<Line>): Array<Line> => {
  const start = lines[0]!.start
  const end = lines.at(-1)!.end
  const standalone = lines.every((line, at) => line.text.length < 60 && (at === 0 || !/^\p{Ll}/u.test(line.text)))
  const flat = standalone ? text.slice(start, end) : text.slice(start, end).replaceAll("\n", " ")
  const found: Array<Line> = []
  let from = 0
  for (const { index, segment } of sentences.segment(flat)) {
    // The bracket of a note mark is taken for a closing one: `included.[1]` would be cut after `[`.
    const mark = segment.endsWith("[") ? /^\d{1,3}\]/.exec(flat.slice(index + segment.length)) : null
    const stop = index + segment.length + (mark?.[0].length ?? 0)
    const next = flat.slice(stop, stop + 1)
    if (stop < flat.length && (abbreviations.test(segment) || /^[\p{Ll},;)]/u.test(next)) && !segment.endsWith("\n")) continue
    const raw = flat.slice(from, stop)
    const body = raw.trim()
    if (body !== "") found.push(...bounded(text, start + from + raw.indexOf(body), body.length))
    from = stop
  }
  return found
}

/** Text without sentence ends (verse, logs, extracted tables) is cut at spaces. */
const bounded = (text: string, start: number, length: number): Array<Line> => {
  const pieces: Array<Line> = []
  const end = start + length
  for (let at = start; at < end;) {
    let stop = end
    if (end - at > maxSentenceCharacters) {
      const space = text.lastIndexOf(" ", at + maxSentenceCharacters)
      stop = space > at ? space : at + maxSentenceCharacters
    }
    pieces.push({ start: at, end: stop, text: text.slice(at, stop) })
    at = stop
    while (at < end && /\s/.test(text[at]!)) at++
  }
  return pieces
}
