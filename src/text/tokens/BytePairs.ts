import { ByteTable, hashOf } from "./ByteTable.ts"

/** Pieces whose counts are kept, so that a word of several tokens is merged once: 1 MB, then they are forgotten. */
const keptPieces = 32_768
const keptBytes = 512 * 1024
const keptLength = 32

const none = 0x7fffffff

/** Counts the tokens of pieces as byte-pair encoding does: it joins the pair of lowest rank, leftmost first. */
export class BytePairs {
  /** Tokens by rank. */
  readonly #vocabulary: ByteTable
  readonly #kept = new ByteTable(keptPieces, keptBytes)
  readonly #keptCounts = new Uint16Array(keptPieces)
  /** Start of each part, one more for the end, and the rank of each part joined with the next. */
  readonly #starts: Int32Array
  readonly #ranks: Int32Array

  /** For pieces of at most `longest` bytes. */
  constructor(vocabulary: ByteTable, longest: number) {
    this.#vocabulary = vocabulary
    this.#starts = new Int32Array(longest + 1)
    this.#ranks = new Int32Array(longest + 1)
  }

  /** Tokens of the first `length` bytes, whose hash is `hash`. */
  count(bytes: Uint8Array, length: number, hash: number): number {
    if (this.#vocabulary.find(bytes, 0, length, hash) >= 0) return 1
    const kept = length > keptLength ? -1 : this.#kept.find(bytes, 0, length, hash)
    if (kept >= 0) return this.#keptCounts[kept]!
    const count = this.#merge(bytes, length)
    if (length > keptLength) return count
    if (!this.#kept.add(bytes, length, hash)) this.#kept.clear()
    else this.#keptCounts[this.#kept.count - 1] = count
    return count
  }

  /** Where each token of the first `length` bytes starts. Overwritten by the next call of any kind. */
  starts(bytes: Uint8Array, length: number): Int32Array {
    return this.#starts.subarray(0, this.#merge(bytes, length))
  }

  /** Leaves the tokens' starts in `#starts` and answers how many they are. Quadratic in the length at worst. */
  #merge(bytes: Uint8Array, length: number): number {
    const starts = this.#starts
    const ranks = this.#ranks
    let parts = length
    for (let i = 0; i <= length; i++) starts[i] = i
    for (let i = 0; i < length; i++) ranks[i] = this.#joined(bytes, i, parts)
    for (;;) {
      let lowest = none
      let at = -1
      for (let i = 0; i < parts - 1; i++) {
        if (ranks[i]! < lowest) {
          lowest = ranks[i]!
          at = i
        }
      }
      if (at < 0) return parts
      starts.copyWithin(at + 1, at + 2, parts + 1)
      ranks.copyWithin(at + 1, at + 2, parts)
      parts--
      ranks[at] = this.#joined(bytes, at, parts)
      if (at > 0) ranks[at - 1] = this.#joined(bytes, at - 1, parts)
    }
  }

  /** The rank of part `i` and the next as one token. */
  #joined(bytes: Uint8Array, i: number, parts: number): number {
    if (i + 2 > parts) return none
    const start = this.#starts[i]!
    const end = this.#starts[i + 2]!
    const rank = this.#vocabulary.find(bytes, start, end, hashOf(bytes, start, end))
    return rank < 0 ? none : rank
  }
}
