import type { DatabaseSync } from "node:sqlite"
import { preparedVectors, type ReadVector } from "../store/Checksum.ts"
import { cosinesWith, inverseNorm, isMostlyZeros, unpackVector } from "../store/Vector.ts"
import type { ByteCache } from "../../../search/ByteCache.ts"
import { type Columns, columnsOf, weightsOf } from "./ColumnSums.ts"
import type { CorpusIndex, Segment } from "./CorpusIndex.ts"
import { addCodes, bytesOfCode, coded, codedBytes, type CodedBlock, codeQuery } from "./VectorCodes.ts"

/** Chunks of a block: its partial sums stay in the processor's nearest cache. */
const blockChunks = 4_096

/** Vectors that are read at once, at most, … */
const readAtOnce = 256
/** … of rows that are so many times as many, at most. */
const farApart = 8

/** Vectors of neighbouring chunks by component, so that a query reads only the components it has. */
interface Block extends Omit<Columns, "sums"> {
  /** Where the machine has no wide registers, all is reckoned one by one. */
  readonly sums: Columns["sums"] | undefined
  readonly count: number
  /** 1 over the norm of each chunk's integers; 0 for a zero vector. */
  readonly inverseNorms: Float32Array
}

/**
 * A block's vectors as they were read: what one question needs, which is all that many a process asks. Making
 * columns of them takes as long again as to read them, and is for the next question.
 */
type ReadVectors = ReadonlyArray<Uint8Array | undefined>

/** Dimensions from which on vectors as they were read have no more than twice the bytes of their columns. */
const leastKept = 200

/** Bytes of an array over others. */
const bytesOfView = 200

/** Cosines of a query with every chunk of a corpus: exact, over the vectors as they are stored. */
export class DenseScan {
  readonly #vectors: ReturnType<typeof preparedVectors>
  readonly #cache: ByteCache
  readonly #damaged: (chunk: number) => Error

  /** `damaged` makes what is thrown where a live chunk's vector is missing or not as it was written. */
  constructor(db: DatabaseSync, cache: ByteCache, damaged: (chunk: number) => Error) {
    this.#damaged = damaged
    this.#vectors = preparedVectors(db)
    this.#cache = cache
  }

  /**
   * By slot, in `out`, which is zero; dead chunks have some value too. `query` has norm 1, or is zero. Only the chunks of
   * `segments` are looked at.
   */
  cosines(index: CorpusIndex, segments: ReadonlyArray<Segment>, query: Float32Array, out: Float64Array): Float64Array {
    const components = componentsOf(query)
    if (components.length === 0) return out
    const cached = this.#hasColumns(segments, query.length)
    const cosineOf = cosinesWith(query, cached ? "scanned" : "exact")
    forEachBlock(segments, out, (segment, first, block) => {
      if (!cached) return this.#reckon(index, segment, first, cosineOf, block)
      const vectors = this.#readFirst(index, segments, segment, first, query.length)
      if (vectors === undefined) addColumns(block, this.#block(index, segment, first, query.length), query, components)
      else addVectors(block, vectors, cosineOf)
    })
    return out
  }

  /**
   * Like {@link cosines}, but each off by at most what it gives: 0 where they are the same. Undefined, and nothing in `out`,
   * where that is not the faster.
   */
  nearly(index: CorpusIndex, segments: ReadonlyArray<Segment>, query: Float32Array, out: Float64Array): number | undefined {
    const components = componentsOf(query)
    if (components.length === 0 || !this.#hasColumns(segments, query.length)) return undefined
    const { error, scale, weights } = weightsOf(query, components)
    const cosineOf = cosinesWith(query, "scanned")
    let off = 0
    forEachBlock(segments, out, (segment, first, into) => {
      const vectors = this.#readFirst(index, segments, segment, first, query.length)
      if (vectors !== undefined) return addVectors(into, vectors, cosineOf)
      const block = this.#block(index, segment, first, query.length)
      if (block.sums === undefined) return addColumns(into, block, query, components)
      addScaled(into, block.sums(components, weights), block.inverseNorms, 1 / scale)
      // The inverse norms are kept in 24 bits.
      off = error + 1e-7
    })
    return off
  }

  /** Blocks that push one another out of the cache would be made anew for every query. */
  #hasColumns(segments: ReadonlyArray<Segment>, dimensions: number): boolean {
    return numbersOf(segments, dimensions) <= this.#cache.limit / 2
  }

  /** Whether {@link estimates} is the faster: of many vectors with few zeros, whose codes fit in memory. */
  hasCodes(segments: ReadonlyArray<Segment>, dimensions: number): boolean {
    const numbers = numbersOf(segments, dimensions)
    const [first] = segments
    return first !== undefined && numbers > mostScanned &&
      (numbers / dimensions) * bytesOfCode(dimensions) <= this.#cache.limit / 2 && !this.#isSparse(first)
  }

  /** Like {@link cosines}, but about: from codes of the vectors. */
  estimates(index: CorpusIndex, segments: ReadonlyArray<Segment>, query: Float32Array, out: Float64Array): void {
    if (segments.length === 0) return
    const prepared = codeQuery(query)
    forEachBlock(segments, out, (segment, first, block) => {
      const codes = this.#cache.get(`k${segment.id} ${first}`, () => this.#code(index, segment, first, query.length), codedBytes)
      addCodes(block, codes, prepared)
    })
  }

  /** By its first vector: those of one embedder are alike. */
  #isSparse(segment: Segment): boolean {
    return this.#cache.get(
      `z${segment.id}`,
      () => {
        const first = segment.embeddings[0] ?? 0
        return isMostlyZeros(this.#vectors(first, first)[0]?.packed ?? new Uint8Array(0))
      },
      () => 0
    )
  }

  /** Reads every vector of a block. */
  #reckon(index: CorpusIndex, segment: Segment, first: number, cosineOf: (packed: Uint8Array) => number, out: Float64Array): void {
    this.#forEachVector(index, segment, first, (chunk, packed) => {
      out[chunk] = cosineOf(packed)
    })
  }

  #code(index: CorpusIndex, segment: Segment, first: number, dimensions: number): CodedBlock {
    return coded(this.#vectorsOf(index, segment, first), dimensions)
  }

  #vectorsOf(index: CorpusIndex, segment: Segment, first: number): ReadVectors {
    const vectors = Array.from<Uint8Array | undefined>({ length: Math.min(blockChunks, segment.chunks.length - first) })
    this.#forEachVector(index, segment, first, (chunk, packed) => {
      vectors[chunk] = packed
    })
    return vectors
  }

  /** The vectors of a block that no question has looked at, which are kept until the next one does; not so many that they push each other out. */
  #readFirst(
    index: CorpusIndex,
    segments: ReadonlyArray<Segment>,
    segment: Segment,
    first: number,
    dimensions: number
  ): ReadVectors | undefined {
    const read = readKey(segment, first)
    if (dimensions < leastKept || numbersOf(segments, dimensions) > this.#cache.limit / 8) return undefined
    if (this.#cache.has(columnsKey(segment, first)) || this.#cache.has(read)) return undefined
    const vectors = this.#vectorsOf(index, segment, first)
    this.#cache.put(read, vectors, vectors.reduce((sum, vector) => sum + (vector === undefined ? 0 : vector.length + bytesOfView), 0))
    return vectors
  }

  #block(index: CorpusIndex, segment: Segment, first: number, dimensions: number): Block {
    return this.#cache.get(
      columnsKey(segment, first),
      () => this.#columns(index, segment, first, dimensions),
      (block) => block.columns.byteLength + block.inverseNorms.byteLength
    )
  }

  #columns(index: CorpusIndex, segment: Segment, first: number, dimensions: number): Block {
    const count = Math.min(blockChunks, segment.chunks.length - first)
    const { columns, stride, sums } = columnsOf(dimensions, count) ??
      { columns: new Int8Array(dimensions * count), stride: count, sums: undefined }
    const inverseNorms = new Float32Array(count)
    const put = (chunk: number, packed: Uint8Array): void => {
      inverseNorms[chunk] = inverseNorm(unpackVector(packed, dimensions, columns, chunk, stride))
    }
    const read = this.#cache.take<ReadVectors>(readKey(segment, first))
    if (read === undefined) this.#forEachVector(index, segment, first, put)
    else read.forEach((packed, chunk) => packed === undefined ? undefined : put(chunk, packed))
    return { columns, stride, sums, count, inverseNorms }
  }

  /** Calls `visit` with the place in the block of each chunk from `first` on, and its vector. */
  #forEachVector(index: CorpusIndex, segment: Segment, first: number, visit: (chunk: number, packed: Uint8Array) => void): void {
    const embeddings = segment.embeddings.subarray(first, first + blockChunks)
    // Chunks by their vectors' ids: each vector is read once, and most lie side by side.
    const order = Array.from(embeddings.keys()).sort((a, b) => (embeddings[a] as number) - (embeddings[b] as number))
    let next = 0
    // A dead chunk's vector may be gone already: it counts as zero.
    const missing = (place: number): void => {
      const chunk = first + (order[place] as number)
      if (index.live[segment.offset + chunk] === 1) throw this.#damaged(segment.chunks[chunk] as number)
    }
    for (const { id, intact, packed } of this.#rows(order.map((i) => embeddings[i] as number))) {
      while ((embeddings[order[next] as number] as number) < id) missing(next++)
      if (embeddings[order[next] as number] === id && !intact) missing(next)
      for (; embeddings[order[next] as number] === id; next++) visit(order[next] as number, packed)
    }
    while (next < order.length) missing(next++)
  }

  /** The vectors with these ids, which ascend; others may be among them. */
  *#rows(ids: ReadonlyArray<number>): Generator<ReadVector> {
    let next = 0
    while (next < ids.length) {
      const first = next
      const from = ids[first] as number
      while (next < ids.length && next - first < readAtOnce && (ids[next] as number) - from < farApart * (next - first + 1)) next++
      const to = ids[next - 1] as number
      // Chunks of the same text have the same vector.
      while (ids[next] === to) next++
      yield* this.#vectors(from, to)
    }
  }
}

const columnsKey = ({ id }: Segment, first: number): string => `v${id} ${first}`
const readKey = ({ id }: Segment, first: number): string => `r${id} ${first}`

/** Components of a corpus's vectors up to which they are all multiplied with a question's: some milliseconds. */
const mostScanned = 8 << 20

const numbersOf = (segments: ReadonlyArray<Segment>, dimensions: number): number =>
  segments.reduce((sum, segment) => sum + segment.chunks.length, 0) * dimensions

/** Those of a question that are not zero. */
const componentsOf = (query: Float32Array): ReadonlyArray<number> => {
  const components: Array<number> = []
  for (let d = 0; d < query.length; d++) if (query[d] !== 0) components.push(d)
  return components
}

/** What columns of them come to, to the last bit: of zeros, nothing is added. */
const addVectors = (out: Float64Array, vectors: ReadVectors, cosineOf: (packed: Uint8Array) => number): void => {
  for (let i = 0; i < vectors.length; i++) {
    const vector = vectors[i]
    if (vector !== undefined) out[i] = cosineOf(vector)
  }
}

const addScaled = (out: Float64Array, sums: Int32Array, inverseNorms: Float32Array, scale: number): void => {
  for (let i = 0; i < out.length; i++) out[i] = (sums[i] as number) * scale * (inverseNorms[i] as number)
}

/** Calls `visit` with each block of the segments, by the place of its first chunk, and its part of `out`, which is by slot. */
const forEachBlock = (
  segments: ReadonlyArray<Segment>,
  out: Float64Array,
  visit: (segment: Segment, first: number, out: Float64Array) => void
): void => {
  for (const segment of segments) {
    for (let first = 0; first < segment.chunks.length; first += blockChunks) {
      const count = Math.min(blockChunks, segment.chunks.length - first)
      visit(segment, first, out.subarray(segment.offset + first, segment.offset + first + count))
    }
  }
}

/** Four components a pass: the sums are loaded and stored a quarter as often. */
const addColumns = (out: Float64Array, block: Block, query: Float32Array, components: ReadonlyArray<number>): void => {
  const { columns, count, inverseNorms, stride } = block
  const whole = components.length - (components.length % 4)
  for (let c = 0; c < whole; c += 4) {
    const [d0, d1, d2, d3] = [
      components[c] as number,
      components[c + 1] as number,
      components[c + 2] as number,
      components[c + 3] as number
    ]
    const [q0, q1, q2, q3] = [query[d0] as number, query[d1] as number, query[d2] as number, query[d3] as number]
    const [c0, c1, c2, c3] = [d0 * stride, d1 * stride, d2 * stride, d3 * stride]
    for (let i = 0; i < count; i++) {
      out[i] = (out[i] as number) + q0 * (columns[c0 + i] as number) + q1 * (columns[c1 + i] as number) +
        q2 * (columns[c2 + i] as number) + q3 * (columns[c3 + i] as number)
    }
  }
  for (let c = whole; c < components.length; c++) {
    const d = components[c] as number
    const q = query[d] as number
    for (let i = 0; i < count; i++) out[i] = (out[i] as number) + q * (columns[d * stride + i] as number)
  }
  for (let i = 0; i < count; i++) out[i] = (out[i] as number) * (inverseNorms[i] as number)
}
