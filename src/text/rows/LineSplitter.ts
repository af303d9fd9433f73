/** A line without its end, counted from 1; or why it could not be read. */
export type Line =
  | { readonly number: number; readonly text: string }
  | { readonly number: number; readonly problem: "long" | "encoding" }

const newline = 0x0a
const utf8 = new TextDecoder("utf-8", { fatal: true })

/**
 * Cuts bytes into lines, whatever pieces they arrive in, holding at most one line. A line of more than `maxBytes` is skipped and reported,
 * and so is one that is not UTF-8. Empty lines count and are left out; a byte order mark at the start is dropped.
 */
export class LineSplitter {
  readonly #maxBytes: number
  #held: Array<Uint8Array> = []
  #length = 0
  #number = 1

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** The lines that end in this piece. */
  push(piece: Uint8Array): ReadonlyArray<Line> {
    const lines: Array<Line> = []
    let start = 0
    for (;;) {
      const end = piece.indexOf(newline, start)
      if (end === -1) break
      this.#hold(piece.subarray(start, end))
      this.#end(lines)
      start = end + 1
    }
    this.#hold(piece.subarray(start))
    return lines
  }

  /** The text after the last line end. */
  finish(): ReadonlyArray<Line> {
    const lines: Array<Line> = []
    if (this.#length > 0) this.#end(lines)
    return lines
  }

  #hold(bytes: Uint8Array): void {
    this.#length += bytes.length
    // Of a line that is too long only that fact needs to be kept.
    if (this.#length > this.#maxBytes) this.#held = []
    else if (bytes.length > 0) this.#held.push(bytes)
  }

  #end(lines: Array<Line>): void {
    const number = this.#number
    if (this.#length > this.#maxBytes) lines.push({ number, problem: "long" })
    else {
      const text = decode(this.#held.length === 1 ? this.#held[0] ?? empty : Buffer.concat(this.#held, this.#length))
      if (text === undefined) lines.push({ number, problem: "encoding" })
      else if (text.trim() !== "") lines.push({ number, text })
    }
    this.#held = []
    this.#length = 0
    this.#number += 1
  }
}

const empty = new Uint8Array(0)

const decode = (bytes: Uint8Array): string | undefined => {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}
