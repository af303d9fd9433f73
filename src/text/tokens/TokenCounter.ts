import { readFileSync } from "node:fs"
import { endianness } from "node:os"
import { assetPath } from "../Assets.ts"
import { openEncoding } from "./Encoding.ts"

/** What the code of `assembly/Tokens.ts` offers. Places are in its memory. */
interface Code {
  readonly memory: { readonly buffer: ArrayBuffer }
  readonly reserve: (tokens: number, bytes: number) => void
  readonly lengthsAt: () => number
  readonly textsAt: () => number
  readonly enter: () => void
  readonly unitsAt: () => number
  readonly pieceAt: () => number
  readonly startsAt: () => number
  readonly endsAt: () => number
  readonly totalsAt: () => number
  readonly begin: () => void
  readonly show: (units: number, goesOn: number) => void
  readonly read: (at: number, most: number, base: number) => number
  readonly add: (bytes: number, end: number) => void
  readonly pieces: () => number
  readonly total: () => number
  readonly split: (bytes: number) => number
}

/** UTF-16 units of a stretch, and of a piece that is merged whole; as the code has it. */
export const longestStretch = 1 << 18
export const longestPiece = 256

const isBigEndian = endianness() === "BE"
const utf8 = new TextEncoder()

/**
 * Reads texts in stretches, by code in WebAssembly: a parser's process is too short for so many loops of JavaScript to
 * become fast, and its memory holds the 200,000 tokens of o200k in 4 MB, where an object of strings takes 80.
 */
export class TokenCounter {
  /** Of the pieces that tokens are made of. Matches the piece at its `lastIndex`. */
  readonly pattern: RegExp
  readonly #code: Code
  readonly #units: Buffer
  readonly #piece: Uint8Array
  readonly #starts: Int32Array
  /** Of the stretch's pieces: where each ends in its text, and the tokens of the text up to there. */
  readonly ends: Uint32Array
  readonly totals: Uint32Array

  constructor(encoding: Uint8Array) {
    const { lengths, pattern, tokens } = openEncoding(encoding)
    // What its one source compiles to.
    const code = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(assetPath("tokens.wasm", "./tokens/tokens.wasm"))))
      .exports as Code
    code.reserve(lengths.length, tokens.length)
    const { buffer } = code.memory
    new Uint8Array(buffer, code.lengthsAt()).set(lengths)
    new Uint8Array(buffer, code.textsAt()).set(tokens)
    code.enter()
    this.pattern = new RegExp(pattern, "uy")
    this.#code = code
    this.#units = Buffer.from(buffer, code.unitsAt(), longestStretch * 2)
    this.#piece = new Uint8Array(buffer, code.pieceAt(), longestPiece * 3)
    this.#starts = new Int32Array(buffer, code.startsAt(), longestPiece * 3)
    this.ends = new Uint32Array(buffer, code.endsAt(), longestStretch)
    this.totals = new Uint32Array(buffer, code.totalsAt(), longestStretch)
  }

  /** A text begins. */
  begin(): void {
    this.#code.begin()
  }

  /** The text's next stretch, of at most {@link longestStretch}. `goesOn`: more follows, which may belong to the last piece. */
  show(stretch: string, goesOn: boolean): void {
    const written = this.#units.write(stretch, "utf16le")
    if (isBigEndian) this.#units.subarray(0, written).swap16()
    this.#code.show(stretch.length, goesOn ? 1 : 0)
  }

  /**
   * Reads up to `most` pieces from an offset of the stretch on; `base` is where that is in the text. Answers where it
   * stopped, and -1 less than that where it stopped at what only the pattern can tell.
   */
  read(at: number, most: number, base: number): number {
    return this.#code.read(at, most, base)
  }

  /** Adds a piece of the stretch that the pattern told; `end` is where that is in the text. */
  add(piece: string, end: number): void {
    this.#code.add(utf8.encodeInto(piece, this.#piece).written, end)
  }

  /** How many pieces of the stretch were read. */
  get pieces(): number {
    return this.#code.pieces()
  }

  /** Tokens of the text, as far as it was read. */
  get total(): number {
    return this.#code.total()
  }

  /** Where the tokens of a piece start, in its UTF-8. Overwritten by the next call of any kind. */
  starts(piece: string): Int32Array {
    return this.#starts.subarray(0, this.#code.split(utf8.encodeInto(piece, this.#piece).written))
  }
}
