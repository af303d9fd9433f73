import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import type o200k from "js-tiktoken/ranks/o200k_base"
import { assetPath } from "./Assets.ts"
import { BytePairs } from "./tokens/BytePairs.ts"
import { hashed, hashOf, hashSeed } from "./tokens/ByteTable.ts"
import { openEncoding, packEncoding } from "./tokens/Encoding.ts"
import { KeptCounts } from "./tokens/KeptCounts.ts"
import { keyLength, PlainPieces } from "./tokens/PlainPieces.ts"

/**
 * Byte-pair encoding is quadratic on a piece without a break, so no piece longer than this many UTF-16 units is merged
 * whole. Shorter ones, and so ordinary text, count exactly what tiktoken counts.
 */
const maxPiece = 256

/** How much text the pattern is shown at a time, in UTF-16 units: on runs of tens of millions it overflows its stack. */
const maxSeen = 1 << 18

/** How much of it at first: often a few pieces are all that is asked for. */
const firstSeen = 1 << 12

/** Of `'ll` and its kin, which are of the word before them. */
const longestEnding = 3

interface Reader {
  /** Matches the piece at its `lastIndex`. */
  readonly pattern: RegExp
  readonly pairs: BytePairs
}

let loaded: Reader | undefined

/** Made when a token is first asked for, never on import: a program that counts nothing must not pay for it. */
const reader = (): Reader => {
  if (loaded !== undefined) return loaded
  const { pattern, vocabulary } = openEncoding(encodingFile())
  loaded = { pattern: new RegExp(pattern, "uy"), pairs: new BytePairs(vocabulary, piece.length) }
  return loaded
}

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
  let total = 0
  eachPiece(text, (_end, count) => {
    total += count
    return false
  })
  return total
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
    let ends = new Uint32Array(Math.max(16, text.length >> 2))
    let totals = new Uint32Array(ends.length)
    let pieces = 0
    let total = 0
    eachPiece(text, (end, count) => {
      if (pieces === ends.length) {
        ends = grown(ends)
        totals = grown(totals)
      }
      total += count
      ends[pieces] = end
      totals[pieces] = total
      pieces++
      return false
    })
    this.#ends = ends
    this.#totals = totals
    this.#pieces = pieces
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
      eachPiece(this.text.slice(start, end), (at, tokens) => {
        count += tokens
        while (this.#ends[piece]! < start + at) piece++
        met = this.#ends[piece] === start + at
        return met
      })
    }
    return met && this.#ends[piece]! <= end ? { piece, count } : undefined
  }
}

/** The bytes of the piece at hand, its hash aside: UTF-8 takes at most 3 for a UTF-16 unit. */
const piece = new Uint8Array(maxPiece * 3)
const utf8 = new TextEncoder()
const isSpace = /\s/

/** The text that the pattern is shown. */
const plain = new PlainPieces(maxSeen)
const kept = new KeptCounts()

/** Calls `visit` with the end offset and the token count of each piece of `text`, until it answers true. */
const eachPiece = (text: string, visit: (end: number, count: number) => boolean): void => {
  const { pairs, pattern } = reader()
  const countPlain = (start: number, end: number): number => countPiece(pairs, start, end)
  let most = firstSeen
  for (let from = 0; from < text.length; most = maxSeen) {
    const seen = text.slice(from, characterStart(text, from + most))
    const isLast = from + seen.length === text.length
    plain.show(seen, !isLast)
    let at = 0
    while (at < seen.length) {
      let end = plain.endOf(at)
      const isPlain = end >= 0
      if (!isPlain) {
        pattern.lastIndex = at
        // The pattern's alternatives cover every character; the fallback only keeps a change of it from looping here.
        end = pattern.test(seen) ? pattern.lastIndex : at + 1
        // There may be more of this piece: see on from its start.
        if (end > seen.length - longestEnding && !isLast && (at > 0 || most < maxSeen)) break
      }
      while (at < end) {
        const cut = end - at > maxPiece ? characterStart(seen, at + maxPiece) : end
        const count = isPlain && cut - at <= keyLength ? kept.of(plain, at, cut, countPlain) : countPiece(pairs, at, cut, seen)
        if (visit(from + cut, count)) return
        at = cut
      }
    }
    from += at
  }
}

/** Of a piece in view, which is plain where no text is given. */
const countPiece = (pairs: BytePairs, start: number, end: number, seen?: string): number => {
  const { units } = plain
  let hash = hashSeed
  for (let i = start; i < end; i++) {
    const unit = units[i]!
    if (unit > 0x7f && seen !== undefined) {
      const length = writePiece(seen, start, end)
      return pairs.count(piece, length, hashOf(piece, 0, length))
    }
    piece[i - start] = unit
    hash = hashed(hash, unit)
  }
  return pairs.count(piece, end - start, hash)
}

/** Puts the UTF-8 of `text.slice(start, end)` into `piece`; answers how many bytes. */
const writePiece = (text: string, start: number, end: number): number => utf8.encodeInto(text.slice(start, end), piece).written

/** Where the tokens of a piece start, each rounded down to whole characters. */
const tokenStarts = (text: string, start: number, end: number): Uint32Array => {
  const bytes = reader().pairs.starts(piece, writePiece(text, start, end))
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

const grown = (array: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> => {
  const next = new Uint32Array(array.length * 2)
  next.set(array)
  return next
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
