import type { BlockKind } from "../../domain/Document.ts"
import { characterStart, type TokenIndex } from "../Tokens.ts"
import { nextCharacter } from "./Graphemes.ts"
import type { Span } from "./Span.ts"

/**
 * Places inside a span where it may be cut, ascending: each is the start of the part after it. No part should have more tokens than
 * `limit`, and the first no more than `room`.
 */
type Splitter = (text: string, span: Span, tokens: TokenIndex, limit: number, room: number) => Iterable<number>

/** A splitter that cuts at the end of every match of a pattern. */
const after = (pattern: RegExp): Splitter =>
  function*(text, { end, start }) {
    for (const match of text.slice(start, end).matchAll(pattern)) {
      yield start + match.index + match[0].length
    }
  }

const lines = after(/\n+/g)

const paragraphs = after(/\n[ \t]*\n\s*/g)

/** The start of each line that opens a list item: with a bullet, or a number or letter followed by a full stop or bracket. */
const items = after(/^(?=[ \t]*(?:[-*+•◦▪‣–]|\(?(?:\d{1,3}|[A-Za-z])[.)])[ \t])/gm)

const sentenceBreaks = new Intl.Segmenter("und", { granularity: "sentence" })

/** Unicode's sentence boundaries (UAX #29), which know the full stops of Chinese, Japanese and the Indic scripts too. */
export const sentences: Splitter = function*(text, { end, start }) {
  for (const { index } of sentenceBreaks.segment(text.slice(start, end))) {
    if (index > 0) yield start + index
  }
}

/** Before each run of white space, which stays with the text after it, as in tokens. */
const blanks: Splitter = function*(text, { end, start }) {
  for (const { index } of text.slice(start, end).matchAll(/(?<=\S)\s+(?=\S)/g)) yield start + index
}

const wordBreaks = new Intl.Segmenter("en", { granularity: "word" })

/** UTF-16 units examined on either side of a place to find the word around it. */
const nearby = 128

/** The word (UAX #29) that an offset falls in. ICU finds words of scripts without spaces by its dictionaries. */
const wordAt = (text: string, offset: number): Span => {
  const from = characterStart(text, Math.max(0, offset - nearby))
  const found = wordBreaks.segment(text.slice(from, offset + nearby)).containing(offset - from)
  const start = from + (found?.index ?? offset - from)
  return { start, end: start + (found?.segment.length ?? 0) }
}

/** Where the first word at or after an offset ends. */
export const firstWordEnd = (text: string, start: number): number =>
  wordAt(text, start + Math.max(0, text.slice(start, start + nearby).search(/\S/))).end

/**
 * Cuts between pieces of tokens that are whole words: a word may be several pieces, such as `CamelCase`, `snake_case`, `e.g.`. A piece over
 * the limit is also cut between its words, and inside a word only where that is over it.
 */
const words: Splitter = function*(text, { end, start }, tokens, limit, room) {
  let last = start
  // The last piece may reach past the span.
  for (const piece of [...tokens.pieceEnds(start, end), end]) {
    const bound = piece >= end ? end : wordAt(text, piece).start
    while (last < bound) {
      const most = last === start ? room : limit
      const fits = fitting(text, tokens, last, bound, most)
      let cut = fits < bound ? wordAt(text, fits).start : bound
      if (cut <= last) {
        const whole = Math.min(bound, wordAt(text, last).end)
        cut = tokens.count(last, whole) <= most ? whole : fits
      }
      yield cut
      last = cut
    }
  }
}

/** `end`, or half as far, and so on, until the text before it fits; at least one character. */
const fitting = (text: string, tokens: TokenIndex, start: number, end: number, limit: number): number => {
  let cut = end
  while (tokens.count(start, cut) > limit && cut > nextCharacter(text, start)) {
    cut = Math.max(nextCharacter(text, start), characterStart(text, start + ((cut - start) >>> 1)))
  }
  return cut
}

/** Ways to cut a block that is too large, coarsest first. The last one always gets below the limit. */
export const splitters: Readonly<Record<BlockKind, ReadonlyArray<Splitter>>> = {
  heading: [lines, sentences, blanks, words],
  paragraph: [paragraphs, sentences, lines, blanks, words],
  list: [items, lines, sentences, blanks, words],
  table: [lines, blanks, words],
  code: [paragraphs, lines, blanks, words],
  pageBreak: []
}
