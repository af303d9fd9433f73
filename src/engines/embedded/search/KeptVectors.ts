import type { DatabaseSync } from "node:sqlite"
import { preparedVector } from "../store/Checksum.ts"
import type { Rounding } from "../store/Vector.ts"
import type { Segment } from "./CorpusIndex.ts"
import { codeOver, pageBytes } from "./Scores.ts"

/** Bytes of a block, in which vectors lie one behind the other: components are numbered in 16 bits, so that some always fit. */
const blockBytes = 1 << 20

/** Bytes that all vectors together may have: places are 32 bits. */
const mostBytes = 2 ** 31

/**
 * An unpacked vector begins with how many components it has and whether they are numbered, 16 bits each, and the sum of their
 * squares, 32 bits. Then come their numbers, where most of the vector is zeros, and their values, a byte each.
 */
const headBytes = 8

const mostDimensions = 0x1_0000

/** Cosines that are reckoned at once. */
const mostAtOnce = 256

/** Where in memory the question lies, the places of vectors, their cosines, a packed vector, and the blocks. */
const queryAt = 0
const placesAt = queryAt + 4 * mostDimensions
const cosinesAt = placesAt + 4 * mostAtOnce
const packedAt = placesAt + pageBytes
const blocksAt = packedAt + 2 * pageBytes

/** Where vectors begin, by number of chunk, and where the blocks are that they lie in. */
interface Generation {
  readonly places: Map<number, number>
  readonly blocks: Array<number>
  /** Where there is room in the last block, and where that ends. */
  next: number
  end: number
}

const nothing = (): Generation => ({ places: new Map(), blocks: [], next: 0, end: 0 })

/**
 * Vectors of single chunks, checked and unpacked when they are read and then kept, in one memory with the code that multiplies
 * them: a question needs hundreds, each twice. Up to a number of bytes in two generations; when the younger is full, the elder goes.
 */
export class KeptVectors {
  readonly #vector: ReturnType<typeof preparedVector>
  readonly #mostBlocks: number
  readonly #damaged: (chunk: number) => Error
  readonly #memory = new WebAssembly.Memory({ initial: blocksAt / pageBytes })
  readonly #code = codeOver(this.#memory)
  #words = new Uint16Array(this.#memory.buffer)
  #values = new Int8Array(this.#memory.buffer)
  #bytes = new Uint8Array(this.#memory.buffer)
  #young = nothing()
  #old = nothing()
  /** Blocks to be used again, and those to be used again once nobody has found a vector in them. */
  readonly #free: Array<number> = []
  #left: ReadonlyArray<number> = []

  /** `damaged` makes what is thrown where a vector is missing or not as it was written. */
  constructor(db: DatabaseSync, bytes: number, damaged: (chunk: number) => Error) {
    this.#vector = preparedVector(db)
    this.#mostBlocks = Math.max(1, Math.floor(Math.min(bytes, mostBytes) / 2 / blockBytes))
    this.#damaged = damaged
  }

  /** Cosines with chunks of a segment, by their slots, into `out`. `query` has norm 1 or is zero. */
  cosines(
    { chunks, embeddings, offset }: Segment,
    slots: Int32Array,
    query: Float32Array,
    rounding: Rounding,
    out: Float64Array
  ): void {
    for (let first = 0; first < slots.length; first += mostAtOnce) {
      const count = Math.min(mostAtOnce, slots.length - first)
      const places = new Uint32Array(count)
      this.#begin()
      for (let i = 0; i < count; i++) {
        const ordinal = (slots[first + i] as number) - offset
        places[i] = this.#find(chunks[ordinal] as number, embeddings[ordinal] as number, query.length)
      }
      const { buffer } = this.#memory
      new Float32Array(buffer, queryAt).set(query)
      new Uint32Array(buffer, placesAt).set(places)
      this.#code.cosines(queryAt, placesAt, count, cosinesAt, rounding === "scanned" ? 1 : 0)
      out.set(new Float64Array(buffer, cosinesAt, count), first)
    }
  }

  /** Adds the vector of a chunk, by its number, which is never used twice, and the row of its vector, which may be, as one of length 1 to `sums`. */
  addTo(sums: Float32Array, chunk: number, embedding: number): void {
    this.#begin()
    const at = this.#find(chunk, embedding, sums.length)
    const words = this.#words
    const values = this.#values
    const word = at >> 1
    const squares = (words[word + 2] as number) + 65_536 * (words[word + 3] as number)
    if (squares === 0) return
    const scale = 1 / Math.sqrt(squares)
    const count = words[word] as number
    const numbered = words[word + 1] === 1
    const numbers = (at + headBytes) >> 1
    const first = at + headBytes + (numbered ? 2 * count : 0)
    for (let i = 0; i < count; i++) sums[numbered ? words[numbers + i] as number : i]! += (values[first + i] as number) * scale
  }

  /** Before vectors are found: where those are that were found before does not count any more. */
  #begin(): void {
    if (this.#left.length === 0) return
    this.#free.push(...this.#left)
    this.#left = []
  }

  /** Where a vector begins, until the next {@link #begin}. */
  #find(chunk: number, embedding: number, dimensions: number): number {
    return this.#young.places.get(chunk) ?? this.#old.places.get(chunk) ?? this.#keep(chunk, this.#read(chunk, embedding), dimensions)
  }

  #read(chunk: number, embedding: number): Uint8Array {
    const packed = this.#vector(embedding)
    if (packed === undefined) throw this.#damaged(chunk)
    return packed
  }

  #keep(chunk: number, packed: Uint8Array, dimensions: number): number {
    this.#bytes.set(packed, packedAt)
    // Its numbers are 16 bits each: it begins at an even place.
    const most = headBytes + dimensions + dimensions % 2
    if (this.#young.next + most > this.#young.end) this.#open()
    const at = this.#young.next
    const taken = this.#code.unpack(packedAt, packed.length, dimensions, at)
    this.#young.next += taken + taken % 2
    this.#young.places.set(chunk, at)
    return at
  }

  #open(): void {
    if (this.#young.blocks.length >= this.#mostBlocks) {
      this.#left = [...this.#left, ...this.#old.blocks]
      this.#old = this.#young
      this.#young = nothing()
    }
    const block = this.#free.pop() ?? this.#grow()
    this.#young.blocks.push(block)
    this.#young.next = block
    this.#young.end = block + blockBytes
  }

  #grow(): number {
    const block = this.#memory.grow(blockBytes / pageBytes) * pageBytes
    this.#words = new Uint16Array(this.#memory.buffer)
    this.#values = new Int8Array(this.#memory.buffer)
    this.#bytes = new Uint8Array(this.#memory.buffer)
    return block
  }
}
