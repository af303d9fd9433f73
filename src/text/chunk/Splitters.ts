import type { BlockKind } from "../../domain/Document.ts"
import { characterStart, type TokenIndex } from "../Tokens.ts"
import { nextCharacter } from "./Graphemes.ts"
import type { Span } from "./Span.ts"

/** Places inside a span where it may be cut, ascending: each is the start of the part after it. */
type Splitter = (text: string, span: Span, tokens: TokenIndex, limit: number) => Iterable<number>

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

/** Words with the space before them; where one is over the limit, also inside it. */
const words: Splitter = function*(text, { end, start }, tokens, limit) {
  let last = start
  // The last piece may reach past the span.
  for (const piece of [...tokens.pieceEnds(start, end), end]) {
    while (last < piece) {
      const cut = fitting(text, tokens, last, piece, limit)
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
  heading: [lines, sentences, words],
  paragraph: [paragraphs, sentences, lines, words],
  list: [items, lines, sentences, words],
  table: [lines, words],
  code: [paragraphs, lines, words],
  pageBreak: []
}
