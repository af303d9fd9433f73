import { readFileSync } from "node:fs"
import { endianness } from "node:os"
import { assetPath } from "../Assets.ts"
import { openEncoding } from "./Encoding.ts"

/** The functions that the code of `assembly/Tokens.ts` exports. Addresses are in its memory. */
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

/** Most UTF-16 units of a stretch; the same as in the code. */
export const longestStretch = 1 << 18
/** Most UTF-16 units of a piece that is merged whole; the same as in the code. */
export const longestPiece = 256

const isBigEndian = endianness() === "BE"
const utf8 = new TextEncoder()

/**
 * Counts tokens stretch by stretch, in WebAssembly: a parser's process is too short-lived for so many loops of JavaScript to become fast,
 * and WebAssembly holds the 200,000 tokens of o200k in 4 MB, where an object of strings takes 80.
 */
export class TokenCounter {
  /** Pattern of the pieces that tokens are made of. Matches the piece at its `lastIndex`. */
  readonly pattern: RegExp
  readonly #code: Code
  readonly #units: Buffer
  readonly #piece: Uint8Array
  readonly #starts: Int32Array
  /** Where each piece of the stretch ends in the text. */
  readonly ends: Uint32Array
  /** Tokens of the text up to the end of each piece of the stretch. */
  readonly totals: Uint32Array

  constructor(encoding: Uint8Array) {
    const { lengths, pattern, tokens } = openEncoding(encoding)
    // `tokens.wasm` is compiled from one source, which exports these.
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

  /** Starts a text. */
  begin(): void {
    this.#code.begin()
  }

  /** Shows the text's next stretch, of at most {@link longestStretch} units. `goesOn`: more follows, which may belong to the last piece. */
  show(stretch: string, goesOn: boolean): void {
    const written = this.#units.write(stretch, "utf16le")
    if (isBigEndian) this.#units.subarray(0, written).swap16()
    this.#code.show(stretch.length, goesOn ? 1 : 0)
  }

  /**
   * Reads up to `most` pieces from an offset of the stretch on; `base` is where the stretch starts in the text. Returns the offset where it
   * stopped, or -1 minus that offset where only the pattern can find the next piece.
   */
  read(at: number, most: number, base: number): number {
    return this.#code.read(at, most, base)
  }

  /** Adds a piece of the stretch that the pattern found; `end` is where it ends in the text. */
  add(piece: string, end: number): void {
    this.#code.add(utf8.encodeInto(piece, this.#piece).written, end)
  }

  /** How many pieces of the stretch were read. */
  get pieces(): number {
    return this.#code.pieces()
  }

  /** Tokens of the text read so far. */
  get total(): number {
    return this.#code.total()
  }

  /** Where the tokens of a piece start, in bytes of its UTF-8. Overwritten by the next call of any kind. */
  starts(piece: string): Int32Array {
    return this.#starts.subarray(0, this.#code.split(utf8.encodeInto(piece, this.#piece).written))
  }
}
