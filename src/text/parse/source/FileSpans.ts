import { isUtf8 } from "node:buffer"
import { partitionPoint } from "../../PartitionPoint.ts"
import { decode } from "../Decode.ts"
import type { FormatKey } from "../Formats.ts"
import { htmlCharset } from "../Html.ts"
import type { ParseInput } from "../Parse.ts"
import { betweenParts, parseParts } from "../Parts.ts"
import type { ByteSpan, Limits, Located, Locating, Quoted } from "../../Prepared.ts"
import { sniff } from "../Sniff.ts"
import { align, isWord, type Piece, piecesOf } from "./Align.ts"
import { htmlVisible } from "./HtmlVisible.ts"
import { markdownVisible } from "./MarkdownVisible.ts"
import { Visible } from "./Visible.ts"

/** Formats that are read much as they are written, most words in order: a quote of them must stand in the file in one piece. */
const written: ReadonlySet<FormatKey> = new Set<FormatKey>(["text", "code", "rst", "asciidoc", "org", "latex"])

/**
 * Where quotes of a file's parsed text stand in the file: from the first byte to the last, including the marks between them. Undefined for
 * a quote that the file does not contain (any more), and for formats whose bytes are not text. Throws a ReadFailure where the file cannot
 * be parsed.
 */
export const fileSpans = async (input: ParseInput, quotes: ReadonlyArray<Quoted>): Promise<ReadonlyArray<ByteSpan | undefined>> => {
  const nowhere = quotes.map(() => undefined)
  const format = sniff(input.bytes, input.name, input.limits, input.mimeType)
  const isMarked = format === "markdown" || format === "html"
  if (!isMarked && !written.has(format)) return nowhere
  const parts: Array<string> = []
  for await (const { document } of parseParts({ ...input, format })) parts.push(document.text)
  const text = parts.join(betweenParts)
  const original = decode(input.bytes, format === "html" ? htmlCharset : undefined)
  const byteAt = bytesOf(input.bytes, original)
  if (byteAt === undefined) return nowhere
  // Byte spans refer to the parsed text, whose UTF-16 units are compared.
  const parsed = Buffer.from(text)
  const source = original.replace(/\r\n?/g, "\n")
  const visible = format === "markdown"
    ? markdownVisible(source)
    : format === "html"
    ? htmlVisible(original, new Visible())
    : new Visible()
  if (!isMarked) visible.verbatim(source, 0, source.length)
  const originalAt = format === "html" ? (at: number): number => at : unixLinesOf(original)
  const told = piecesOf(text)
  const seen = piecesOf(visible.text)
  const places = align(told, seen)
  return quotes.map(({ byteEnd, byteStart, quote }) => {
    if (parsed.toString("utf8", byteStart, byteEnd) !== quote) return undefined
    const start = parsed.toString("utf8", 0, byteStart).length
    const end = start + quote.length
    const found = spanIn({ start, end }, told, seen, places, isMarked)
    if (found === undefined) return undefined
    const span = visible.span(found.start, found.end)
    const from = format === "markdown" ? withLabel(source, span.start, text.slice(start, told[found.first]!.start)) : span.start
    return { byteStart: byteAt(originalAt(from)), byteEnd: byteAt(originalAt(span.end)) }
  })
}

/** {@link fileSpans}, in the form in which the text pool calls it. */
export const locate = async ({ content, mimeType, name, quotes }: Locating, limits: Limits): Promise<Located> => ({
  spans: await fileSpans({ bytes: content, name, mimeType, limits }, quotes)
})

/**
 * The visible characters that correspond to a stretch of parsed text. All of its words must be among them, except for the numbers of a
 * list.
 */
const spanIn = (
  { end, start }: { readonly start: number; readonly end: number },
  told: ReadonlyArray<Piece>,
  seen: ReadonlyArray<Piece>,
  places: Int32Array,
  isMarked: boolean
): { readonly start: number; readonly end: number; readonly first: number } | undefined => {
  let first = -1
  let last = -1
  for (
    let at = partitionPoint(told.length, (at) => told[at]!.start + told[at]!.text.length <= start);
    at < told.length && told[at]!.start < end;
    at++
  ) {
    const { text } = told[at]!
    if (places[at] === -1) {
      if (isWord(text) && !(/^\d+$/.test(text) && /^[.)]$/.test(told[at + 1]?.text ?? ""))) return undefined
      continue
    }
    if (!isMarked && last !== -1) {
      for (let between = places[last]! + 1; between < places[at]!; between++) if (isWord(seen[between]!.text)) return undefined
    }
    if (first === -1) first = at
    last = at
  }
  if (first === -1) return undefined
  const [head, tail] = [told[first]!, told[last]!]
  const words = told.slice(first, last + 1).flatMap(({ text }, at) => isWord(text) && places[first + at] !== -1 ? [text] : [])
  const whole = wholeRun(words, seen, places[first]!, places[last]!)
  if (whole === "scattered") return undefined
  if (whole !== undefined) return { first, ...whole }
  return {
    first,
    start: seen[places[first]!]!.start + Math.max(0, start - head.start),
    end: seen[places[last]!]!.start + Math.min(tail.text.length, end - tail.start)
  }
}

/**
 * Where words that were found with others between them stand in one piece, there or nearby: text that was left out may start with the same
 * words, such as a row of a table. Undefined where no others stand between them, or only a few: a note, a line number. `scattered` where
 * most words there are others.
 */
const wholeRun = (
  words: ReadonlyArray<string>,
  seen: ReadonlyArray<Piece>,
  from: number,
  to: number
): { readonly start: number; readonly end: number } | "scattered" | undefined => {
  const among = seen.slice(from, to + 1).filter(({ text }) => isWord(text))
  if (words.length === 0 || among.length === words.length) return undefined
  const around = 4 * words.length + mostBetween
  for (const pieces of [among, seen.slice(Math.max(0, from - around), to + 1 + around).filter(({ text }) => isWord(text))]) {
    for (let at = 0; at + words.length <= pieces.length; at++) {
      if (!words.every((word, k) => pieces[at + k]!.text === word)) continue
      const last = pieces[at + words.length - 1]!
      return { start: pieces[at]!.start, end: last.start + last.text.length }
    }
  }
  return among.length > 2 * words.length + mostBetween ? "scattered" : undefined
}

/** Most words between those of a short quote. */
const mostBetween = 8

/** Extends a quote that starts with a list item's mark to include the mark in the source. */
const withLabel = (source: string, start: number, told: string): number => {
  if (told.trim() === "") return start
  const line = source.slice(source.lastIndexOf("\n", start - 1) + 1, start)
  return start - (/(?:[-*+]|\d{1,9}[.)])[ \t]+[*_`~[]*$/.exec(line)?.[0].length ?? 0)
}

/** A function from UTF-16 offsets in a file's decoded text to bytes; undefined for charsets whose characters differ in bytes. */
const bytesOf = (bytes: Uint8Array, text: string): ((at: number) => number) | undefined => {
  const [a, b, c] = bytes
  if (isUtf8(bytes)) {
    const mark = a === 0xef && b === 0xbb && c === 0xbf ? 3 : 0
    return (at) => mark + Buffer.byteLength(text.slice(0, at))
  }
  if (bytes.length === text.length) return (at) => at
  const mark = (a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff) ? 2 : 0
  return bytes.length === mark + 2 * text.length ? (at) => mark + 2 * at : undefined
}

/** A function from offsets in a text with `\n` line ends to offsets in the original. */
const unixLinesOf = (original: string): (at: number) => number => {
  // Offsets in the text without the `\r`s, so that each one passed adds a unit.
  const ends = Array.from(original.matchAll(/\r\n/g), ({ index }, before) => index + 1 - before)
  return (at) => at + partitionPoint(ends.length, (line) => ends[line]! <= at)
}
