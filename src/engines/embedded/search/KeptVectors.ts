import type { DatabaseSync } from "node:sqlite"
import { preparedVector } from "../store/Checksum.ts"
import { roundedCosine, type Rounding, unpackSparse, unpackVector } from "../store/Vector.ts"

/** Bytes of a block: vectors lie in blocks one behind the other, as an array of its own costs each as much as its bytes. */
const blockBytes = 1 << 20

/**
 * Unpacked vectors. Each begins with words of 16 bits: how many components it has, whether they are numbered, and the sum of
 * their squares in two. Then come their numbers, where most of the vector is zeros, and their values, a byte each.
 */
interface Block {
  readonly words: Uint16Array
  readonly values: Int8Array
}

const headBytes = 8

/** Where vectors lie, by number of chunk: block times {@link blockBytes}, and the place in it. */
interface Generation {
  readonly places: Map<number, number>
  readonly blocks: Array<Block>
  /** Place in the last block. */
  end: number
}

const nothing = (): Generation => ({ places: new Map(), blocks: [], end: blockBytes })

/**
 * Vectors of single chunks, checked and unpacked when they are read and then kept: a question needs hundreds, each twice. Up
 * to a number of bytes in two generations; when the younger is full, the elder goes.
 */
export class KeptVectors {
  readonly #vector: ReturnType<typeof preparedVector>
  readonly #blocks: number
  readonly #damaged: (chunk: number) => Error
  #young = nothing()
  #old = nothing()
  /** Room to unpack a vector in. */
  #numbers = new Uint16Array(0)
  #values = new Int8Array(0)
  /** The one that the last vector that was asked for is in. */
  #block: Block = { words: new Uint16Array(0), values: new Int8Array(0) }

  /** `damaged` makes what is thrown where a vector is missing or not as it was written. */
  constructor(db: DatabaseSync, bytes: number, damaged: (chunk: number) => Error) {
    this.#vector = preparedVector(db)
    this.#blocks = Math.max(1, Math.floor(bytes / 2 / blockBytes))
    this.#damaged = damaged
  }

  /** Of a chunk, by its number, which is never used twice, and the row of its vector, which may be. `query` has norm 1 or is zero. */
  cosine(chunk: number, embedding: number, query: Float32Array, rounding: Rounding = "exact"): number {
    const at = this.#find(chunk, embedding, query.length)
    const block = this.#block
    return roundedCosine(dotAt(block, at, query), squaresAt(block, at), rounding)
  }

  /** Adds the vector as one of length 1 to `sums`. */
  addTo(sums: Float32Array, chunk: number, embedding: number): void {
    const at = this.#find(chunk, embedding, sums.length)
    const { values, words } = this.#block
    const squares = squaresAt(this.#block, at)
    if (squares === 0) return
    const scale = 1 / Math.sqrt(squares)
    const count = words[at >> 1] as number
    const numbers = numbersAt(this.#block, at)
    const first = valuesAt(this.#block, at)
    for (let i = 0; i < count; i++) sums[numbers === undefined ? i : words[numbers + i] as number]! += (values[first + i] as number) * scale
  }

  /** Where a vector begins in {@link #block}. */
  #find(chunk: number, embedding: number, dimensions: number): number {
    const young = this.#young.places.get(chunk)
    const place = young ?? this.#old.places.get(chunk)
    if (place === undefined) return this.#keep(chunk, this.#read(chunk, embedding), dimensions)
    this.#block = (young === undefined ? this.#old : this.#young).blocks[Math.floor(place / blockBytes)] as Block
    return place % blockBytes
  }

  #read(chunk: number, embedding: number): Uint8Array {
    const packed = this.#vector(embedding)
    if (packed === undefined) throw this.#damaged(chunk)
    return packed
  }

  #keep(chunk: number, packed: Uint8Array, dimensions: number): number {
    if (this.#numbers.length < dimensions) {
      this.#numbers = new Uint16Array(dimensions)
      this.#values = new Int8Array(dimensions)
    }
    const numbers = this.#numbers
    const values = this.#values
    const sparse = unpackSparse(packed, dimensions, numbers, values)
    const numbered = sparse !== undefined && sparse * 3 < dimensions
    const count = numbered ? sparse : dimensions
    let squares = 0
    if (numbered) { for (let i = 0; i < count; i++) squares += (values[i] as number) * (values[i] as number) }
    else squares = unpackVector(packed, dimensions, values.fill(0))
    const at = this.#room(headBytes + (numbered ? 2 * count : 0) + count)
    const block = this.#block
    const word = at >> 1
    block.words[word] = count
    block.words[word + 1] = numbered ? 1 : 0
    block.words[word + 2] = squares & 0xffff
    block.words[word + 3] = squares >>> 16
    if (numbered) block.words.set(numbers.subarray(0, count), word + headBytes / 2)
    block.values.set(values.subarray(0, count), valuesAt(block, at))
    this.#young.places.set(chunk, (this.#young.blocks.length - 1) * blockBytes + at)
    return at
  }

  /** Where so many bytes fit, in the last block of the young. No vector fills a block: components are numbered in 16 bits. */
  #room(bytes: number): number {
    const even = bytes + bytes % 2
    if (this.#young.end + even > blockBytes) {
      if (this.#young.blocks.length >= this.#blocks) {
        this.#old = this.#young
        this.#young = nothing()
      }
      const block = new ArrayBuffer(blockBytes)
      this.#young.blocks.push({ words: new Uint16Array(block), values: new Int8Array(block) })
      this.#young.end = 0
    }
    const at = this.#young.end
    this.#young.end += even
    this.#block = this.#young.blocks.at(-1) as Block
    return at
  }
}

const squaresAt = ({ words }: Block, at: number): number => (words[(at >> 1) + 2] as number) + 65_536 * (words[(at >> 1) + 3] as number)

/** The word where the components' numbers begin; undefined where they are not numbered. */
const numbersAt = ({ words }: Block, at: number): number | undefined => words[(at >> 1) + 1] === 0 ? undefined : (at + headBytes) >> 1

const valuesAt = ({ words }: Block, at: number): number =>
  at + headBytes + (words[(at >> 1) + 1] === 0 ? 0 : 2 * (words[at >> 1] as number))

/** Components ascend, as they do wherever a cosine is reckoned: every sum is the same to the last bit. */
const dotAt = (block: Block, at: number, query: Float32Array): number => {
  const { values, words } = block
  const count = words[at >> 1] as number
  const numbers = numbersAt(block, at)
  const first = valuesAt(block, at)
  let dot = 0
  if (numbers === undefined) {
    for (let i = 0; i < count; i++) dot += (query[i] as number) * (values[first + i] as number)
  } else {
    for (let i = 0; i < count; i++) dot += (query[words[numbers + i] as number] as number) * (values[first + i] as number)
  }
  return dot
}
