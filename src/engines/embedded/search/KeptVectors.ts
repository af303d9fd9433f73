import type { DatabaseSync } from "node:sqlite"
import { preparedVectorsOf } from "../store/Checksum.ts"
import type { Rounding } from "../store/Vector.ts"
import type { Segment } from "./CorpusIndex.ts"
import { codeOver, pageBytes } from "./Scores.ts"

/** Bytes of a block, in which vectors lie one behind the other: components are numbered in 16 bits, so that some always fit. */
const blockBytes = 1 << 20

/** Bytes that all vectors together may have: places are 32 bits. */
const mostBytes = 2 ** 31

/**
 * An unpacked vector begins with its number of pairs, its number of plain values and the sum of its squares, 32 bits each. Where it is
 * mostly zeros it has pairs of bytes, how many components are skipped and the value of the next; else a value for each component.
 */
const headBytes = 12

const mostDimensions = 0x1_0000

/** Cosines that are computed at once, and vectors that are read at once. */
const mostAtOnce = 256

/** Where in memory the question lies, the places of vectors, their cosines, a packed vector, and the blocks. */
const queryAt = 0
const placesAt = queryAt + 4 * mostDimensions
const cosinesAt = placesAt + 4 * mostAtOnce
const packedAt = placesAt + pageBytes
const blocksAt = packedAt + 3 * pageBytes

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
  readonly #read: ReturnType<typeof preparedVectorsOf>
  readonly #mostBlocks: number
  readonly #damaged: (chunk: number) => Error
  readonly #memory = new WebAssembly.Memory({ initial: blocksAt / pageBytes })
  readonly #code = codeOver(this.#memory)
  #bytes = Buffer.from(this.#memory.buffer)
  #young = nothing()
  #old = nothing()
  /** Blocks to be used again, and those to be used again once nobody has found a vector in them. */
  readonly #free: Array<number> = []
  #left: ReadonlyArray<number> = []

  /** `damaged` makes what is thrown where a vector is missing or not as it was written. */
  constructor(db: DatabaseSync, bytes: number, damaged: (chunk: number) => Error) {
    this.#read = preparedVectorsOf(db)
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
      const wanted = Array.from(slots.subarray(first, first + mostAtOnce), (slot) => slot - offset)
      const places = this.#find(wanted.map((at) => chunks[at] as number), wanted.map((at) => embeddings[at] as number), query.length)
      const { buffer } = this.#memory
      new Float32Array(buffer, queryAt).set(query)
      new Uint32Array(buffer, placesAt).set(places)
      this.#code.cosines(queryAt, placesAt, places.length, cosinesAt, rounding === "scanned" ? 1 : 0)
      out.set(new Float64Array(buffer, cosinesAt, places.length), first)
    }
  }

  /** Adds the vector of a chunk, by its number, which is never used twice, and the row of its vector, which may be, as one of length 1 to `sums`. */
  addTo(sums: Float32Array, chunk: number, embedding: number): void {
    const at = this.#find([chunk], [embedding], sums.length)[0] as number
    const bytes = this.#bytes
    const [pairs, all, squares] = [bytes.readUInt32LE(at), bytes.readUInt32LE(at + 4), bytes.readUInt32LE(at + 8)]
    if (squares === 0) return
    const scale = 1 / Math.sqrt(squares)
    const values = at + headBytes
    let component = 0
    for (let pair = values; pair < values + 2 * pairs; pair += 2) {
      component += bytes[pair] as number
      sums[component++]! += bytes.readInt8(pair + 1) * scale
    }
    for (; component < all; component++) sums[component]! += bytes.readInt8(values + component) * scale
  }

  /** Where the vectors of chunks begin, by the chunks' numbers and the rows of their vectors, until the next call. */
  #find(chunks: ReadonlyArray<number>, embeddings: ReadonlyArray<number>, dimensions: number): Uint32Array {
    this.#free.push(...this.#left)
    this.#left = []
    const missing: Array<number> = []
    const places = Uint32Array.from(chunks, (chunk, i) => {
      const place = this.#young.places.get(chunk) ?? this.#old.places.get(chunk)
      if (place === undefined) missing.push(i)
      return place ?? 0
    })
    if (missing.length === 0) return places
    const read = new Map(this.#read(missing.map((i) => embeddings[i] as number)).map((vector) => [vector.id, vector]))
    for (const i of missing) {
      const chunk = chunks[i] as number
      const vector = read.get(embeddings[i] as number)
      if (vector?.intact !== true) throw this.#damaged(chunk)
      places[i] = this.#keep(chunk, vector.packed, dimensions)
    }
    return places
  }

  #keep(chunk: number, packed: Uint8Array, dimensions: number): number {
    this.#bytes.set(packed, packedAt)
    if (this.#young.next + headBytes + 3 * dimensions > this.#young.end) this.#open()
    const at = this.#young.next
    this.#young.next += this.#code.unpack(packedAt, packed.length, dimensions, at)
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
    this.#bytes = Buffer.from(this.#memory.buffer)
    return block
  }
}
