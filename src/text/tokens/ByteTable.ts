/** Bits of a slot that are a string's number + 1; the others are its hash's. */
const numberBits = 18
const numberMask = 2 ** numberBits - 1

/**
 * Byte strings numbered in the order they are added, as typed arrays: the strings one after the other, and an open
 * hash table over them. The 200,000 tokens of o200k take 4 MB, where an object of strings takes 80.
 */
export class ByteTable {
  readonly #bytes: Uint8Array
  /** String `i` is `bytes.subarray(starts[i], starts[i + 1])`. */
  readonly #starts: Uint32Array
  /**
   * By hash: number + 1, 0 where free, and the upper bits of the hash, so that a slot of another string is passed without
   * touching its lines of memory. A power of two, at most half full.
   */
  readonly #slots: Int32Array
  readonly #mask: number
  #count = 0

  /** For at most `capacity` strings, of `bytes` together; a string that does not fit is not added. */
  constructor(capacity: number, bytes: number) {
    if (capacity >= numberMask) throw new RangeError(`a table of bytes has room for ${numberMask - 1} strings`)
    this.#bytes = new Uint8Array(bytes)
    this.#starts = new Uint32Array(capacity + 1)
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(capacity * 2)))
    this.#mask = this.#slots.length - 1
  }

  /** Of different strings, one after the other in `bytes`, by their lengths. */
  static of(lengths: Uint8Array, bytes: Uint8Array): ByteTable {
    const table = new ByteTable(lengths.length, bytes.length)
    table.#bytes.set(bytes)
    let end = 0
    for (let i = 0; i < lengths.length; i++) {
      const start = end
      end += lengths[i]!
      table.#starts[i + 1] = end
      table.#enter(i + 1, hashOf(bytes, start, end))
    }
    table.#count = lengths.length
    return table
  }

  get count(): number {
    return this.#count
  }

  /** The number of a string, -1 where it is not in the table. `hash` is of the same bytes. */
  find(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const starts = this.#starts
    const own = this.#bytes
    const length = end - start
    for (let slot = folded(hash) & this.#mask;; slot = (slot + 1) & this.#mask) {
      const entry = this.#slots[slot]!
      if (entry === 0) return -1
      if ((entry ^ hash) >>> numberBits !== 0) continue
      const found = (entry & numberMask) - 1
      const from = starts[found]!
      if (starts[found + 1]! - from !== length) continue
      let i = 0
      while (i < length && own[from + i] === bytes[start + i]) i++
      if (i === length) return found
    }
  }

  /** Adds a string that is not in the table. Answers false where it is full. */
  add(bytes: Uint8Array, length: number, hash: number): boolean {
    const from = this.#starts[this.#count]!
    if (this.#count === this.#starts.length - 1 || from + length > this.#bytes.length) return false
    for (let i = 0; i < length; i++) this.#bytes[from + i] = bytes[i]!
    this.#starts[++this.#count] = from + length
    this.#enter(this.#count, hash)
    return true
  }

  clear(): void {
    this.#slots.fill(0)
    this.#count = 0
  }

  #enter(entry: number, hash: number): void {
    let slot = folded(hash) & this.#mask
    while (this.#slots[slot] !== 0) slot = (slot + 1) & this.#mask
    this.#slots[slot] = entry | (hash & ~numberMask)
  }
}

/** FNV-1a, byte by byte, so that whoever reads the bytes can hash them on the way. Signed, as all that comes of it is. */
export const hashSeed = 0x811c9dc5 | 0
export const hashed = (hash: number, byte: number): number => Math.imul(hash ^ byte, 0x01000193)

export const hashOf = (bytes: Uint8Array, start: number, end: number): number => {
  let hash = hashSeed
  for (let i = start; i < end; i++) hash = hashed(hash, bytes[i]!)
  return hash
}

/** The low bits of FNV depend on the low bits of the bytes only. */
const folded = (hash: number): number => hash ^ (hash >>> 15)
