import { endianness } from "node:os"

/** Kinds of ASCII characters as o200k's pattern tells them apart, of all others, and of the end of the text. */
const mark = 0
const blank = 1
const newline = 2
const digit = 3
const small = 4
const capital = 5
const foreign = 6
const nothing = 7

const kinds = Uint8Array.from({ length: 128 }, (_, unit) => {
  const character = String.fromCharCode(unit)
  if (/[\r\n]/.test(character)) return newline
  if (/\s/.test(character)) return blank
  return /\d/.test(character) ? digit : /[a-z]/.test(character) ? small : /[A-Z]/.test(character) ? capital : mark
})

const space = 0x20
const apostrophe = 0x27
const slash = 0x2f

/** Numbers are cut after so many digits. */
const longestNumber = 3

/** Bytes of a key, and so the most characters of a piece that has one. */
export const keyLength = 16
/** By length: all bits of each four bytes of a key that are not the piece's own. */
const beyond = Int32Array.from({ length: (keyLength + 1) * 4 }, (_, i) => {
  const own = Math.min(4, Math.max(0, (i >> 2) - (i & 3) * 4))
  return own === 4 ? 0 : -(2 ** (own * 8))
})

const isBigEndian = endianness() === "BE"

/**
 * A stretch of text as an array, which is read several times as fast as a string, and the pieces in it that are plain:
 * all ASCII, and nothing after them that the pattern might take in too.
 */
export class PlainPieces {
  /** UTF-16 units, and some more, so that a key may be read past the end. */
  readonly units: Uint16Array<ArrayBuffer>
  readonly #bytes: Buffer
  #length = 0
  #end = nothing
  /** The key of the piece read last: its characters, one byte each, then what no ASCII character is. */
  key0 = 0
  key1 = 0
  key2 = 0
  key3 = 0

  /** For stretches of at most `longest` units. */
  constructor(longest: number) {
    this.units = new Uint16Array(longest + keyLength)
    this.#bytes = Buffer.from(this.units.buffer)
  }

  /** `goesOn`: more text follows, which may belong to the last piece. */
  show(stretch: string, goesOn: boolean): void {
    const written = this.#bytes.write(stretch, "utf16le")
    if (isBigEndian) this.#bytes.subarray(0, written).swap16()
    this.#length = stretch.length
    this.#end = goesOn ? foreign : nothing
    this.units[stretch.length] = 0xffff
  }

  /** Where the piece that starts at an offset ends, -1 where that is for the pattern to say. */
  endOf(at: number): number {
    const units = this.units
    const first = this.#kind(at)
    if (first === foreign) return -1
    if (first === digit) return this.#number(at)
    if (first !== newline) {
      // A word takes in one character before it.
      const begin = first === small || first === capital ? at : at + 1
      let i = begin
      while (isCapital(units[i]!)) i++
      while (isSmall(units[i]!)) i++
      const next = this.#kind(i)
      if (next === foreign) return -1
      if (i > begin) return units[i] === apostrophe ? this.#contraction(i) : i
      if (first === mark || (next === mark && units[at] === space)) return this.#marks(i)
    }
    return this.#space(at)
  }

  /** Reads the {@link key0} of a piece of at most {@link keyLength} characters. */
  readKey(at: number, end: number): void {
    const units = this.units
    const length = (end - at) << 2
    this.key0 = units[at]! | (units[at + 1]! << 8) | (units[at + 2]! << 16) | (units[at + 3]! << 24) | beyond[length]!
    this.key1 = units[at + 4]! | (units[at + 5]! << 8) | (units[at + 6]! << 16) | (units[at + 7]! << 24) | beyond[length + 1]!
    this.key2 = units[at + 8]! | (units[at + 9]! << 8) | (units[at + 10]! << 16) | (units[at + 11]! << 24) | beyond[length + 2]!
    this.key3 = units[at + 12]! | (units[at + 13]! << 8) | (units[at + 14]! << 16) | (units[at + 15]! << 24) | beyond[length + 3]!
  }

  #kind(at: number): number {
    const unit = this.units[at]!
    return unit < 128 ? kinds[unit]! : at === this.#length ? this.#end : foreign
  }

  #number(at: number): number {
    let i = at + 1
    while (i < at + longestNumber && this.#kind(i) === digit) i++
    return i < at + longestNumber && this.#kind(i) === foreign ? -1 : i
  }

  /** `'s`, `'ll` and their kin, of which the pattern knows those of either case. */
  #contraction(at: number): number {
    if (this.#kind(at + 1) === foreign || this.#kind(at + 2) === foreign) return -1
    const second = this.units[at + 1]! | 0x20
    if ("stmd".includes(String.fromCharCode(second))) return at + 2
    return /^(?:re|ve|ll)$/i.test(String.fromCharCode(second, this.units[at + 2]!)) ? at + 3 : at
  }

  /** From the first mark on, or the one after it. */
  #marks(from: number): number {
    let i = from
    while (this.#kind(i) === mark) i++
    while (this.#kind(i) === newline || this.units[i] === slash) i++
    return this.#kind(i) === foreign ? -1 : i
  }

  /** Up to the last line end of a run, or all but its last blank, which belongs to what follows. */
  #space(at: number): number {
    let i = at
    let afterLine = -1
    for (let kind = this.#kind(i); kind === blank || kind === newline; kind = this.#kind(i)) {
      i++
      if (kind === newline) afterLine = i
    }
    const next = this.#kind(i)
    if (next === foreign) return -1
    if (afterLine >= 0) return afterLine
    return next === nothing || i === at + 1 ? i : i - 1
  }
}

const isCapital = (unit: number): boolean => unit >= 0x41 && unit <= 0x5a
const isSmall = (unit: number): boolean => unit >= 0x61 && unit <= 0x7a
