/**
 * Words as UTF-8 bytes, numbered 0, 1, 2, … in the order they come. Looking up a word that was met before makes no
 * string and touches two lines of memory: for the loops that see every word of every document.
 */
export class WordTable {
  #bytes = new Uint8Array(1 << 16)
  /** Word `i` is `bytes.subarray(starts[i], starts[i + 1])`. */
  #starts = new Uint32Array(1 << 12)
  #hashes = new Int32Array(1 << 12)
  /**
   * By hash: number + 1, or 0 where free, and above it as much of the hash as there is room for, so that a slot of another
   * word is passed without touching its line of memory. A power of two, and few: they are to stay in the processor's cache.
   */
  #slots = new Int32Array(1 << 13)
  /** The bits of a slot that are a number. */
  #numberMask = (1 << 14) - 1
  #size = 0

  /** How many words there are: the number that the next new one gets. */
  get size(): number {
    return this.#size
  }

  /** The number of `bytes` from `start` to `end`, whose hash is `hash`; a word that is not there is added. */
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
    // Fewer words than slots.
    this.#numberMask = slots.length * 2 - 1
    for (let id = 0; id < this.#size; id++) {
      const hash = this.#hashes[id]!
      let slot = spread(hash) & mask
      while (slots[slot] !== 0) slot = (slot + 1) & mask
      slots[slot] = (id + 1) | (hash & ~this.#numberMask)
    }
  }
}

/** Share of the slots: what a full table searches more lies side by side in memory, and what an emptier one reads is not in the cache. */
const mostFull = 0.7

/** FNV-1a, byte by byte, so that whoever reads the bytes can hash them on the way. Signed, as all that comes of it is. */
export const hashSeed = 0x811c9dc5 | 0
export const hashed = (hash: number, byte: number): number => Math.imul(hash ^ byte, 0x01000193)

export const hashOf = (bytes: Uint8Array, start: number, end: number): number => {
  let hash = hashSeed
  for (let i = start; i < end; i++) hash = hashed(hash, bytes[i]!)
  return hash
}

/** The low bits of FNV depend on the low bits of the bytes only. */
const spread = (hash: number): number => hash ^ (hash >>> 15)

/** Twice the room, the same content. */
export const grown = <A extends Uint8Array | Uint16Array | Uint32Array | Int32Array | Float64Array>(array: A): A => {
  // Every typed array is made from a length by its own constructor.
  const next = new (array.constructor as new(length: number) => A)(array.length * 2)
  next.set(array)
  return next
}

const utf8 = new TextEncoder()
let scratch = new Uint8Array(1 << 16)

/** Texts whose UTF-8 may take more than this have a buffer of their own. */
const mostScratch = 1 << 20

/** A text as UTF-8, in a buffer that the caller may change and that the next call overwrites. */
export const utf8Of = (text: string): Uint8Array => {
  // UTF-8 takes at most 3 bytes for a UTF-16 unit.
  if (text.length * 3 > mostScratch) return utf8.encode(text)
  while (text.length * 3 > scratch.length) scratch = grown(scratch)
  return scratch.subarray(0, utf8.encodeInto(text, scratch).written)
}
