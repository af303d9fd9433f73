import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import type o200k from "js-tiktoken/ranks/o200k_base"
import { assetPath } from "./Assets.ts"
import { packEncoding } from "./tokens/Encoding.ts"
import { longestPiece, longestStretch, TokenCounter } from "./tokens/TokenCounter.ts"

/** Of `'ll` and its kin, which are of the word before them. */
const longestEnding = 3

let loaded: TokenCounter | undefined

/** Made when a token is first asked for, never on import: a program that counts nothing must not pay for it. */
const counter = (): TokenCounter => loaded ??= new TokenCounter(encodingFile())

/** From source it is made of what the package has. */
const encodingFile = (): Uint8Array => {
  const path = assetPath("o200k.bin", "js-tiktoken/ranks/o200k_base")
  if (path.endsWith(".bin")) return readFileSync(path)
  const ranks: typeof o200k = createRequire(import.meta.url)(path)
  return packEncoding(ranks)
}

/**
 * Tokens of `text` in o200k_base, what the OpenAI models since GPT-4o count. Special tokens written in the text are
 * text. Linear in the length of any input.
 */
export const countTokens = (text: string): number => {
  const reader = counter()
  readPieces(reader, text, all, () => false)
  return reader.total
}

/**
 * A text cut into pieces (words with their leading space, numbers, runs of punctuation or white space): what tokens
 * are made of, and never across. Answers how many tokens lie before an offset and where a token starts, without
 * keeping the tokens.
 */
export class TokenIndex {
  readonly text: string
  /** End offset of each piece, and tokens up to and including it. */
  readonly #ends: Uint32Array
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

  /** Tokens of `text.slice(start, end)` counted on its own. Does not read what lies between pieces cut at the ends. */
  count(start: number, end: number): number {
    const first = this.#resume(start, end)
    if (first === undefined) return countTokens(this.text.slice(start, end))
    // The piece that `end` falls in is read again, and the white space before it: the last blank of a run is a piece of
    // its own, or of the word after it, only where something follows.
    let last = firstAbove(this.#ends, this.#pieces, end) - 1
    for (let back = 0; back < 2 && last > first.piece; back++) {
      if (isSpace.test(this.text.charAt(this.#ends[last]! - 1))) last--
    }
    const whole = this.#totals[last]! - this.#totals[first.piece]!
    return first.count + whole + countTokens(this.text.slice(this.#ends[last], end))
  }

  /**
   * Where the token with this index starts, a UTF-16 offset; the text's length for the index past the last. A token
   * that starts inside a character gives the start of that character.
   */
  offsetOf(token: number): number {
    const piece = firstAbove(this.#totals, this.#pieces, token)
    if (piece === this.#pieces) return this.text.length
    const first = piece === 0 ? 0 : this.#totals[piece - 1]!
    return this.#startsIn(piece)[token - first]!
  }

  /** The first token that does not start before an offset. */
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

  /** Offsets at which the tokens of a piece start. Kept for one piece: a long one is asked for many times in a row. */
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
   * The first piece to end where a piece also ends when the text is read from `start` on, and the tokens up to there:
   * from there both readings are the same, as a piece does not depend on what stands before it. None before `end`:
   * undefined.
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

/** How much is read of a text: UTF-16 units at first, and how many pieces at a time. */
interface Pace {
  readonly units: number
  readonly pieces: number
}

const all: Pace = { units: longestStretch, pieces: longestStretch }

/** Where a few pieces are often all that is asked for. */
const few: Pace = { units: 1 << 8, pieces: 8 }

/** How many times as much of the text is read each time. */
const growth = 1 << 4

/** Reads a text's pieces, and calls `visit` with the first and the end of those of the reader that are new, until it answers true. */
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
        // The pattern's alternatives cover every character; the fallback only keeps a change of it from looping here.
        const end = pattern.test(seen) ? pattern.lastIndex : at + 1
        // There may be more of this piece: see on from its start.
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

/** Index of the first of `length` ascending values that is at least `value`. */
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
