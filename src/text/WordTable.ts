/**
 * Words as UTF-8 bytes, numbered 0, 1, 2, … in the order they are added. Looking up a known word allocates no string and touches two cache
 * lines: for loops over every word of every document.
 */
export class WordTable {
  #bytes = new Uint8Array(1 << 16)
  /** Word `i` is `bytes.subarray(starts[i], starts[i + 1])`. */
  #starts = new Uint32Array(1 << 12)
  #hashes = new Int32Array(1 << 12)
  /**
   * Slots by hash: 0 where free, otherwise number + 1, with as many bits of the hash above it as fit, so that a slot of another word is
   * skipped without touching its cache line. A power of two, kept small so that the table stays in the processor's cache.
   */
  #slots = new Int32Array(1 << 13)
  /** Mask of the bits of a slot that hold the number. */
  #numberMask = (1 << 14) - 1
  #size = 0

  /** How many words the table has, which is the number that the next new word gets. */
  get size(): number {
    return this.#size
  }

  /** The number of the word `bytes` from `start` to `end`, whose hash is `hash`. An unknown word is added. */
  idOf(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const starts = this.#starts
    const own = this.#bytes
    const length = end - start
    const slots = this.#slots
    const numberMask = this.#numberMask
    const mask = slots.length - 1
    let slot = spread(hash) & mask
    for (;; slot = (slot + 1) & mask) {
      const entry = slots[slot]!
      if (entry === 0) break
      if (((entry ^ hash) & ~numberMask) !== 0) continue
      const id = (entry & numberMask) - 1
      const from = starts[id]!
      if (starts[id + 1]! - from !== length) continue
      let i = 0
      while (i < length && own[from + i] === bytes[start + i]) i++
      if (i === length) return id
    }
    slots[slot] = (this.#size + 1) | (hash & ~numberMask)
    return this.#add(bytes.subarray(start, end), hash)
  }

  clear(): void {
    this.#slots.fill(0)
    this.#size = 0
  }

  #add(word: Uint8Array, hash: number): number {
    const id = this.#size++
    const from = this.#starts[id]!
    while (from + word.length > this.#bytes.length) this.#bytes = grown(this.#bytes)
    this.#bytes.set(word, from)
    this.#hashes[id] = hash
    this.#starts[id + 1] = from + word.length
    if (this.#size + 1 === this.#starts.length) {
      this.#starts = grown(this.#starts)
      this.#hashes = grown(this.#hashes)
    }
    if (this.#size > this.#slots.length * mostFull) this.#rehash()
    return id
  }

  #rehash(): void {
    const slots = new Int32Array(this.#slots.length * 2)
    const mask = slots.length - 1
    this.#slots = slots
    // There are fewer words than slots.
    this.#numberMask = slots.length * 2 - 1
    for (let id = 0; id < this.#size; id++) {
      const hash = this.#hashes[id]!
      let slot = spread(hash) & mask
      while (slots[slot] !== 0) slot = (slot + 1) & mask
      slots[slot] = (id + 1) | (hash & ~this.#numberMask)
    }
  }
}

/**
 * Largest share of slots in use. A fuller table searches more slots, but they lie side by side in memory; an emptier one would not fit the
 * cache.
 */
const mostFull = 0.7

/**
 * Seed of FNV-1a, which goes byte by byte so that a caller who reads the bytes anyway can hash them on the way. Signed, as are all hashes
 * derived from it.
 */
export const hashSeed = 0x811c9dc5 | 0
/** Continues a hash with one byte. */
export const hashed = (hash: number, byte: number): number => Math.imul(hash ^ byte, 0x01000193)

export const hashOf = (bytes: Uint8Array, start: number, end: number): number => {
  let hash = hashSeed
  for (let i = start; i < end; i++) hash = hashed(hash, bytes[i]!)
  return hash
}

/** Mixes the high bits in: the low bits of FNV depend on the low bits of the bytes only. */
const spread = (hash: number): number => hash ^ (hash >>> 15)

/** A copy of an array with twice its length. */
export const grown = <A extends Uint8Array | Uint16Array | Uint32Array | Int32Array | Float64Array>(array: A): A => {
  // Every typed array's own constructor takes a length.
  const next = new (array.constructor as new(length: number) => A)(array.length * 2)
  next.set(array)
  return next
}

const utf8 = new TextEncoder()
let scratch = new Uint8Array(1 << 16)

/** Bytes of the shared buffer; a text whose UTF-8 may take more gets its own. */
const mostScratch = 1 << 20

/** A text as UTF-8, in a buffer that the caller may change and that the next call overwrites. */
export const utf8Of = (text: string): Uint8Array => {
  // UTF-8 takes at most 3 bytes for a UTF-16 unit.
  if (text.length * 3 > mostScratch) return utf8.encode(text)
  while (text.length * 3 > scratch.length) scratch = grown(scratch)
  return scratch.subarray(0, utf8.encodeInto(text, scratch).written)
}
