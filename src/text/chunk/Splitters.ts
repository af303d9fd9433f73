import type { BlockKind } from "../../domain/Document.ts"
import { characterStart, type TokenIndex } from "../Tokens.ts"
import { nextCharacter } from "./Graphemes.ts"
import type { Span } from "./Span.ts"

/**
 * Places inside a span where it may be cut, ascending: each is the start of the part after it. No part is to have more
 * tokens than `limit`, the first no more than `room`.
 */
type Splitter = (text: string, span: Span, tokens: TokenIndex, limit: number, room: number) => Iterable<number>

/** A splitter of everything a pattern ends on. */
const after = (pattern: RegExp): Splitter =>
  function*(text, { end, start }) {
    for (const match of text.slice(start, end).matchAll(pattern)) {
      yield start + match.index + match[0].length
    }
  }

const lines = after(/\n+/g)

const paragraphs = after(/\n[ \t]*\n\s*/g)

/** The start of each line that opens an item: with a bullet, or a number or letter with a point or bracket. */
const items = after(/^(?=[ \t]*(?:[-*+•◦▪‣–]|\(?(?:\d{1,3}|[A-Za-z])[.)])[ \t])/gm)

const sentenceBreaks = new Intl.Segmenter("und", { granularity: "sentence" })

/** Unicode's sentence ends (UAX #29), which know the full stops of Chinese, Japanese and the Indic scripts too. */
export const sentences: Splitter = function*(text, { end, start }) {
  for (const { index } of sentenceBreaks.segment(text.slice(start, end))) {
    if (index > 0) yield start + index
  }
}

/** Before each run of white space, which stays with what follows as tokens have it. */
const blanks: Splitter = function*(text, { end, start }) {
  for (const { index } of text.slice(start, end).matchAll(/(?<=\S)\s+(?=\S)/g)) yield start + index
}

const wordBreaks = new Intl.Segmenter("en", { granularity: "word" })

/** UTF-16 units looked at on either side of a place for the word that it is in. */
const nearby = 128

/** Unicode's word (UAX #29) that what is at an offset is of; ICU finds those of scripts without blanks by its dictionaries. */
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
 * Pieces of tokens that are whole words, which several of them may be: `CamelCase`, `snake_case`, `e.g.`. Where a piece is
 * over the limit, also between its words; inside a word only where that is over it.
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

/** `end`, or half as far, and so on, until what is before it fits; at least one character. */
const fitting = (text: string, tokens: TokenIndex, start: number, end: number, limit: number): number => {
  let cut = end
  while (tokens.count(start, cut) > limit && cut > nextCharacter(text, start)) {
    cut = Math.max(nextCharacter(text, start), characterStart(text, start + ((cut - start) >>> 1)))
  }
  return cut
}

/** The ways to cut a block that is too large, coarsest first. The last one always gets under the limit. */
export const splitters: Readonly<Record<BlockKind, ReadonlyArray<Splitter>>> = {
  heading: [lines, sentences, blanks, words],
  paragraph: [paragraphs, sentences, lines, blanks, words],
  list: [items, lines, sentences, blanks, words],
  table: [lines, blanks, words],
  code: [paragraphs, lines, blanks, words],
  pageBreak: []
}
