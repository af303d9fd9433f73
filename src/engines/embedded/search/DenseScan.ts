import type { DatabaseSync } from "node:sqlite"
import { preparedVectors, type ReadVector } from "../store/Checksum.ts"
import { cosinesWith, inverseNorm, isMostlyZeros, unpackVector } from "../store/Vector.ts"
import type { ByteCache } from "../../../search/ByteCache.ts"
import { type Columns, columnsOf, weightsOf } from "./ColumnSums.ts"
import type { CorpusIndex, Segment } from "./CorpusIndex.ts"
import { addCodes, bytesOfCode, coded, codedBytes, type CodedBlock, codeQuery } from "./VectorCodes.ts"

/** Chunks per block: few enough that a block's partial sums stay in the processor's nearest cache. */
const blockChunks = 4_096

/** Most vectors that one query to the database reads. */
const readAtOnce = 256
/** Most rows that such a query may span, as a multiple of the vectors it is for. */
const farApart = 8

/** Vectors of neighbouring chunks, stored by component, so that a query reads only the components it has. */
interface Block extends Omit<Columns, "sums"> {
  /** Undefined where the machine has no wide registers: sums are then computed one by one. */
  readonly sums: Columns["sums"] | undefined
  readonly count: number
  /** 1 divided by the norm of each chunk's integers; 0 for a zero vector. */
  readonly inverseNorms: Float32Array
}

/**
 * A block's packed vectors, as they are stored. They are enough for the first question, which is the only one in many processes.
 * Turning them into columns takes as long again as reading them, and is left to the second question.
 */
type ReadVectors = ReadonlyArray<Uint8Array | undefined>

/** Least number of dimensions at which packed vectors take no more than twice the bytes of their columns. */
const leastKept = 200

/** Bytes of a typed array itself, besides its contents. */
const bytesOfView = 200

/** Computes the cosines of a query vector with every chunk of a corpus, exactly, from the stored vectors. */
export class DenseScan {
  readonly #vectors: ReturnType<typeof preparedVectors>
  readonly #cache: ByteCache
  readonly #damaged: (chunk: number) => Error

  /** `damaged` makes the error that is thrown where a live chunk's vector is missing or not as it was written. */
  constructor(db: DatabaseSync, cache: ByteCache, damaged: (chunk: number) => Error) {
    this.#damaged = damaged
    this.#vectors = preparedVectors(db)
    this.#cache = cache
  }

  /**
   * Writes the cosines of the chunks of `segments` into `out`, by slot, and returns it. `out` must be zero, `query` must have norm 1 or be
   * zero. Dead chunks get some value too.
   */
  cosines(index: CorpusIndex, segments: ReadonlyArray<Segment>, query: Float32Array, out: Float64Array): Float64Array {
    const components = componentsOf(query)
    if (components.length === 0) return out
    const cached = this.#hasColumns(segments, query.length)
    const cosineOf = cosinesWith(query, cached ? "scanned" : "exact")
    forEachBlock(segments, out, (segment, first, block) => {
      if (!cached) return this.#compute(index, segment, first, cosineOf, block)
      const vectors = this.#readFirst(index, segments, segment, first, query.length)
      if (vectors === undefined) addColumns(block, this.#block(index, segment, first, query.length), query, components)
      else addVectors(block, vectors, cosineOf)
    })
    return out
  }

  /**
   * Like {@link cosines}, but approximate: returns the largest possible error of a cosine, 0 where they are exact. Returns undefined and
   * leaves `out` alone where this would not be faster.
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
      // Inverse norms have 24 bits of precision.
      off = error + 1e-7
    })
    return off
  }

  /** Whether all columns fit in the cache: blocks that evict each other would be made again for every query. */
  #hasColumns(segments: ReadonlyArray<Segment>, dimensions: number): boolean {
    return numbersOf(segments, dimensions) <= this.#cache.limit / 2
  }

  /** Whether {@link estimates} is faster: it is for many vectors with few zeros whose codes fit in the cache. */
  hasCodes(segments: ReadonlyArray<Segment>, dimensions: number): boolean {
    const numbers = numbersOf(segments, dimensions)
    const [first] = segments
    return first !== undefined && numbers > mostScanned &&
      (numbers / dimensions) * bytesOfCode(dimensions) <= this.#cache.limit / 2 && !this.#isSparse(first)
  }

  /** Like {@link cosines}, but estimates from the codes of the vectors. */
  estimates(index: CorpusIndex, segments: ReadonlyArray<Segment>, query: Float32Array, out: Float64Array): void {
    if (segments.length === 0) return
    const prepared = codeQuery(query)
    forEachBlock(segments, out, (segment, first, block) => {
      const codes = this.#cache.get(`k${segment.id} ${first}`, () => this.#code(index, segment, first, query.length), codedBytes)
      addCodes(block, codes, prepared)
    })
  }

  /** Whether a segment's vectors are mostly zeros, judged by the first one: vectors of one embedder are alike. */
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

  /** Computes a block's cosines from the stored vectors, without keeping them. */
  #compute(index: CorpusIndex, segment: Segment, first: number, cosineOf: (packed: Uint8Array) => number, out: Float64Array): void {
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

  /**
   * The packed vectors of a block that no question has used before. They are kept for the next question, which makes columns of them.
   * Undefined where the block was used before, or where they are too large to keep.
   */
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

  /** Calls `visit` with each chunk's place in the block that starts at `first`, and the chunk's vector. */
  #forEachVector(index: CorpusIndex, segment: Segment, first: number, visit: (chunk: number, packed: Uint8Array) => void): void {
    const embeddings = segment.embeddings.subarray(first, first + blockChunks)
    // Chunks in the order of their vectors' ids: each vector is read once, and most of them are neighbours.
    const order = Array.from(embeddings.keys()).sort((a, b) => (embeddings[a] as number) - (embeddings[b] as number))
    let next = 0
    // The vector of a dead chunk may be deleted already, and counts as zero.
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

  /** The vectors with these ascending ids; others may be among them. */
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

/** Numbers in a corpus's vectors up to which every one is multiplied with the question's, which takes some milliseconds. */
const mostScanned = 8 << 20

const numbersOf = (segments: ReadonlyArray<Segment>, dimensions: number): number =>
  segments.reduce((sum, segment) => sum + segment.chunks.length, 0) * dimensions

/** The components of a query vector that are not zero. */
const componentsOf = (query: Float32Array): ReadonlyArray<number> => {
  const components: Array<number> = []
  for (let d = 0; d < query.length; d++) if (query[d] !== 0) components.push(d)
  return components
}

/** Computes the cosines of packed vectors. The result equals that of {@link addColumns} to the last bit, as zeros add nothing. */
const addVectors = (out: Float64Array, vectors: ReadVectors, cosineOf: (packed: Uint8Array) => number): void => {
  for (let i = 0; i < vectors.length; i++) {
    const vector = vectors[i]
    if (vector !== undefined) out[i] = cosineOf(vector)
  }
}

const addScaled = (out: Float64Array, sums: Int32Array, inverseNorms: Float32Array, scale: number): void => {
  for (let i = 0; i < out.length; i++) out[i] = (sums[i] as number) * scale * (inverseNorms[i] as number)
}

/** Calls `visit` for each block of the segments, with its first chunk's place in the segment and its part of `out`, which is by slot. */
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

/** Adds up four components per pass, so that the sums are loaded and stored a quarter as often. */
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
