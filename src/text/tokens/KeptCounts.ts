import type { PlainPieces } from "./PlainPieces.ts"

/** A power of two: 128 KB of keys, which stay in the processor's own cache where the vocabulary does not. */
const places = 1 << 13

/** Token counts of the plain pieces met lately, by their keys: one place for each hash, the youngest piece has it. */
export class KeptCounts {
  readonly #keys = new Int32Array(places * 4)
  /** 0 where free. */
  readonly #counts = new Uint8Array(places)

  /** The count of the piece whose key was read last, else what `count` says. */
  of(pieces: PlainPieces, at: number, end: number, count: (at: number, end: number) => number): number {
    pieces.readKey(at, end)
    const { key0, key1, key2, key3 } = pieces
    const hash = Math.imul(key0, 0x9e3779b1) + Math.imul(key1, 0x85ebca6b) + Math.imul(key2, 0xc2b2ae35) + Math.imul(key3, 0x27d4eb2f)
    const place = (hash ^ (hash >>> 15)) & (places - 1)
    const keys = this.#keys
    const first = place << 2
    const same = keys[first] === key0 && keys[first + 1] === key1 && keys[first + 2] === key2 && keys[first + 3] === key3
    if (same && this.#counts[place] !== 0) return this.#counts[place]!
    keys[first] = key0
    keys[first + 1] = key1
    keys[first + 2] = key2
    keys[first + 3] = key3
    // No piece has more tokens than bytes.
    return this.#counts[place] = count(at, end)
  }
}
