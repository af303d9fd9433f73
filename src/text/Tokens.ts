import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import type o200k from "js-tiktoken/ranks/o200k_base"
import { assetPath } from "./Assets.ts"
import { packEncoding } from "./tokens/Encoding.ts"
import { longestPiece, longestStretch, TokenCounter } from "./tokens/TokenCounter.ts"

/** Length of `'ll` and similar endings, which belong to the word before them. */
const longestEnding = 3

let loaded: TokenCounter | undefined

/** The counter, created at the first call and never on import: a program that counts nothing must not pay for it. */
const counter = (): TokenCounter => loaded ??= new TokenCounter(encodingFile())

/** The encoding's file; from source, it is built from the package of the vocabulary. */
const encodingFile = (): Uint8Array => {
  const path = assetPath("o200k.bin", "js-tiktoken/ranks/o200k_base")
  if (path.endsWith(".bin")) return readFileSync(path)
  const ranks: typeof o200k = createRequire(import.meta.url)(path)
  return packEncoding(ranks)
}

/**
 * Number of tokens of `text` in o200k_base, the encoding of OpenAI models since GPT-4o. Special tokens written in the text count as plain
 * text. Takes time linear in the input.
 */
export const countTokens = (text: string): number => {
  const reader = counter()
  readPieces(reader, text, all, () => false)
  return reader.total
}

/**
 * A text divided into pieces (words with their leading space, numbers, runs of punctuation or white space); no token crosses the bounds of
 * a piece. Answers how many tokens precede an offset and where a token starts, without keeping the tokens.
 */
export class TokenIndex {
  readonly text: string
  /** End offset of each piece. */
  readonly #ends: Uint32Array
  /** Tokens of the text up to and including each piece. */
  readonly #totals: Uint32Array
  readonly #pieces: number
  #asked: { readonly piece: number; readonly starts: Uint32Array } | undefined

  constructor(text: string) {
    this.text = text
    const reader = counter()
    const ends: Array<Uint32Array> = []
    const totals: Array<Uint32Array> = []
    readPieces(reader, text, all, (first, end) => {
      ends.push(reader.ends.slice(first, end))
      totals.push(reader.totals.slice(first, end))
      return false
    })
    this.#ends = joined(ends)
    this.#totals = joined(totals)
    this.#pieces = this.#ends.length
  }

  /** Tokens of the whole text. */
  get total(): number {
    return this.#pieces === 0 ? 0 : this.#totals[this.#pieces - 1]!
  }

  /** Tokens of `text.slice(start, end)` counted on its own. Reads only the pieces that the ends cut. */
  count(start: number, end: number): number {
    const first = this.#resume(start, end)
    if (first === undefined) return countTokens(this.text.slice(start, end))
    // The piece containing `end` is read again, and the white space before it: the last blank of a run is a piece of its own, or part of
    // the next word, only where something follows.
    let last = firstAbove(this.#ends, this.#pieces, end) - 1
    for (let back = 0; back < 2 && last > first.piece; back++) {
      if (isSpace.test(this.text.charAt(this.#ends[last]! - 1))) last--
    }
    const whole = this.#totals[last]! - this.#totals[first.piece]!
    return first.count + whole + countTokens(this.text.slice(this.#ends[last], end))
  }

  /**
   * Where the token with this index starts, a UTF-16 offset; the text's length for the index past the last. For a token that starts inside
   * a character, the start of that character.
   */
  offsetOf(token: number): number {
    const piece = firstAbove(this.#totals, this.#pieces, token)
    if (piece === this.#pieces) return this.text.length
    const first = piece === 0 ? 0 : this.#totals[piece - 1]!
    return this.#startsIn(piece)[token - first]!
  }

  /** Index of the first token that starts at or after an offset. */
  tokenAt(offset: number): number {
    const piece = firstAtLeast(this.#ends, this.#pieces, offset)
    if (piece === this.#pieces) return this.total
    const first = piece === 0 ? 0 : this.#totals[piece - 1]!
    const starts = this.#startsIn(piece)
    return first + firstAtLeast(starts, starts.length, offset)
  }

  /** End offsets of the pieces that end in `(start, end]`. */
  pieceEnds(start: number, end: number): Uint32Array {
    return this.#ends.subarray(
      firstAbove(this.#ends, this.#pieces, start),
      firstAbove(this.#ends, this.#pieces, end)
    )
  }

  /** Offsets at which the tokens of a piece start. Cached for one piece: callers ask about a long one many times in a row. */
  #startsIn(piece: number): Uint32Array {
    if (this.#asked?.piece !== piece) {
      const start = piece === 0 ? 0 : this.#ends[piece - 1]!
      const single = this.#totals[piece]! - (piece === 0 ? 0 : this.#totals[piece - 1]!) === 1
      const starts = single ? Uint32Array.of(start) : tokenStarts(this.text, start, this.#ends[piece]!)
      this.#asked = { piece, starts }
    }
    return this.#asked.starts
  }

  /**
   * The first piece whose end is also the end of a piece when the text is read from `start` on, and the tokens up to there. From there on
   * both readings agree, as a piece does not depend on the text before it. Undefined where no such piece ends before `end`.
   */
  #resume(start: number, end: number): { readonly piece: number; readonly count: number } | undefined {
    let piece = firstAtLeast(this.#ends, this.#pieces, start)
    let count = 0
    let met = this.#ends[piece] === start
    if (!met) {
      const reader = counter()
      readPieces(reader, this.text.slice(start, end), few, (first, last) => {
        for (let i = first; i < last && !met; i++) {
          const at = start + reader.ends[i]!
          count = reader.totals[i]!
          while (this.#ends[piece]! < at) piece++
          met = this.#ends[piece] === at
        }
        return met
      })
    }
    return met && this.#ends[piece]! <= end ? { piece, count } : undefined
  }
}

const isSpace = /\s/

/** How much of a text is read at a time. */
interface Pace {
  /** UTF-16 units of the first stretch. */
  readonly units: number
  /** Pieces read at a time. */
  readonly pieces: number
}

const all: Pace = { units: longestStretch, pieces: longestStretch }

/** The pace where the caller often needs only a few pieces. */
const few: Pace = { units: 1 << 8, pieces: 8 }

/** Factor by which each stretch is longer than the one before. */
const growth = 1 << 4

/** Reads a text's pieces, and calls `visit` with the range of newly read ones, until it returns true. */
const readPieces = (reader: TokenCounter, text: string, { pieces, units }: Pace, visit: (first: number, end: number) => boolean): void => {
  const { pattern } = reader
  reader.begin()
  let most = units
  for (let from = 0; from < text.length; most = Math.min(most * growth, longestStretch)) {
    const seen = text.slice(from, characterStart(text, from + most))
    const isLast = from + seen.length === text.length
    reader.show(seen, !isLast)
    let at = 0
    let visited = 0
    while (at < seen.length) {
      const stopped = reader.read(at, pieces, from)
      at = stopped < 0 ? -1 - stopped : stopped
      if (stopped < 0) {
        pattern.lastIndex = at
        // The pattern's alternatives cover every character; the fallback keeps a later change of the pattern from looping here.
        const end = pattern.test(seen) ? pattern.lastIndex : at + 1
        // This piece may continue: show the next stretch from its start.
        if (end > seen.length - longestEnding && !isLast && (at > 0 || most < longestStretch)) break
        while (at < end) {
          const cut = end - at > longestPiece ? characterStart(seen, at + longestPiece) : end
          reader.add(seen.slice(at, cut), from + cut)
          at = cut
        }
      }
      const found = reader.pieces
      if (found - visited >= pieces) {
        if (visit(visited, found)) return
        visited = found
      }
    }
    if (visit(visited, reader.pieces)) return
    from += at
  }
}

/** Where the tokens of a piece start, each rounded down to whole characters. */
const tokenStarts = (text: string, start: number, end: number): Uint32Array => {
  const bytes = counter().starts(text.slice(start, end))
  const starts = new Uint32Array(bytes.length)
  let at = start
  let written = 0
  for (let token = 0; token < starts.length; token++) {
    for (;;) {
      const unit = text.codePointAt(at) ?? 0
      const width = unit < 0x80 ? 1 : unit < 0x800 ? 2 : unit < 0x10000 ? 3 : 4
      if (written + width > bytes[token]!) break
      written += width
      at += width === 4 ? 2 : 1
    }
    starts[token] = at
  }
  return starts
}

/** `offset`, or one less where it falls inside a surrogate pair. */
export const characterStart = (text: string, offset: number): number => {
  const unit = text.charCodeAt(offset)
  const inside = unit >= 0xdc00 && unit <= 0xdfff && isHighSurrogate(text.charCodeAt(offset - 1))
  return inside ? offset - 1 : offset
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff

const joined = (arrays: ReadonlyArray<Uint32Array>): Uint32Array => {
  if (arrays.length === 1) return arrays[0]!
  const whole = new Uint32Array(arrays.reduce((length, array) => length + array.length, 0))
  let at = 0
  for (const array of arrays) {
    whole.set(array, at)
    at += array.length
  }
  return whole
}

/** Index of the first of `length` ascending values that is at least `value`; `length` where none is. */
const firstAtLeast = (values: Uint32Array, length: number, value: number): number => {
  let low = 0
  let high = length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (values[middle]! < value) low = middle + 1
    else high = middle
  }
  return low
}

const firstAbove = (values: Uint32Array, length: number, value: number): number => firstAtLeast(values, length, value + 1)
