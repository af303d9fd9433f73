import type { DatabaseSync } from "node:sqlite"
import { areIntact, checkedColumns, columnAt, preparedValues } from "../store/Checksum.ts"
import { asBlob } from "../store/Rows.ts"
import { cosineOf, unpackVector } from "../store/Vector.ts"

/** Bytes of a block: vectors lie in blocks one behind the other, as an array of its own costs each as much as its bytes. */
const blockBytes = 1 << 20

const vectorAt = columnAt("embeddings", "vector")

/** Where vectors lie, by number of chunk: block times {@link blockBytes}, and the place in it. */
interface Generation {
  readonly places: Map<number, number>
  readonly blocks: Array<Uint8Array>
  /** Place in the last block. */
  end: number
}

const nothing = (): Generation => ({ places: new Map(), blocks: [], end: blockBytes })

/**
 * Vectors of single chunks, packed as they are stored, checked when they are read and then kept: a question needs
 * hundreds. Up to a number of bytes in two generations; when the younger is full, the elder goes.
 */
export class KeptVectors {
  readonly #row: ReturnType<typeof preparedValues>
  readonly #blocks: number
  readonly #damaged: (chunk: number) => Error
  #young = nothing()
  #old = nothing()

  /** `damaged` makes what is thrown where a vector is missing or not as it was written. */
  constructor(db: DatabaseSync, bytes: number, damaged: (chunk: number) => Error) {
    this.#row = preparedValues(db, `SELECT ${checkedColumns("embeddings")} FROM embeddings WHERE id = ?`)
    this.#blocks = Math.max(1, Math.floor(bytes / 2 / blockBytes))
    this.#damaged = damaged
  }

  /** Of a chunk, by its number, which is never used twice, and the row of its vector, which may be. */
  cosine(chunk: number, embedding: number, query: Float32Array): number {
    return this.#visit(chunk, embedding, (bytes, at, end) => cosineOf(bytes, query, at, end))
  }

  /** Adds the vector as one of length 1 to `sums`. */
  addTo(sums: Float32Array, chunk: number, embedding: number): void {
    this.#visit(chunk, embedding, (bytes, at, end) => {
      const integers = new Int8Array(sums.length)
      const squares = unpackVector(bytes.subarray(at, end), sums.length, integers)
      if (squares === 0) return
      const scale = 1 / Math.sqrt(squares)
      for (let d = 0; d < sums.length; d++) sums[d]! += (integers[d] as number) * scale
    })
  }

  #visit<A>(chunk: number, embedding: number, visit: (bytes: Uint8Array, at: number, end: number) => A): A {
    const young = this.#young.places.get(chunk)
    const place = young ?? this.#old.places.get(chunk)
    if (place === undefined) {
      const vector = this.#read(chunk, embedding)
      this.#keep(chunk, vector)
      return visit(vector, 0, vector.length)
    }
    const block = (young === undefined ? this.#old : this.#young).blocks[Math.floor(place / blockBytes)] as Uint8Array
    const at = place % blockBytes
    const start = at + 2
    return visit(block, start, start + (block[at] as number) + 256 * (block[at + 1] as number))
  }

  #read(chunk: number, embedding: number): Uint8Array {
    const row = this.#row.get(embedding)
    if (!areIntact("embeddings", row)) throw this.#damaged(chunk)
    return asBlob(row[vectorAt])
  }

  /** Behind its length, in two bytes. */
  #keep(chunk: number, vector: Uint8Array): void {
    if (vector.length >= 1 << 16) return
    if (this.#young.end + vector.length + 2 > blockBytes) {
      if (this.#young.blocks.length >= this.#blocks) {
        this.#old = this.#young
        this.#young = nothing()
      }
      this.#young.blocks.push(new Uint8Array(blockBytes))
      this.#young.end = 0
    }
    const { blocks, end, places } = this.#young
    const block = blocks.at(-1) as Uint8Array
    block[end] = vector.length & 0xff
    block[end + 1] = vector.length >> 8
    block.set(vector, end + 2)
    places.set(chunk, (blocks.length - 1) * blockBytes + end)
    this.#young.end = end + 2 + vector.length
  }
}
