import { unpackVector } from "../store/Vector.ts"

/**
 * One bit for each component of neighbouring chunks' vectors, which says on which side of their mean it lies. A bit is a thirty-second
 * of a number to read, and enough to find the few hundred chunks whose cosines are worth computing.
 */
export interface CodedBlock {
  /** Bits of components `8 j` to `8 j + 7` of chunk `i`: byte `j * chunks + i`. */
  readonly codes: Uint8Array
  /** Mean of the vectors, each scaled to length 1. */
  readonly mean: Float32Array
  /** Factor by chunk that brings the bits, read as -1 and 1, as near as possible to the chunk's vector minus the mean. */
  readonly gains: Float32Array
}

/** Bytes of a coded block. */
export const codedBytes = ({ codes, gains, mean }: CodedBlock): number => codes.byteLength + gains.byteLength + mean.byteLength

/** Bytes of one vector in a coded block, roughly. */
export const bytesOfCode = (dimensions: number): number => (dimensions >> 3) + 5

/** Codes packed vectors. Deleted ones are undefined, and coded as zero. */
export const coded = (vectors: ReadonlyArray<Uint8Array | undefined>, dimensions: number): CodedBlock => {
  const integers = new Int8Array(dimensions)
  const inverseNorms = new Float64Array(vectors.length)
  const sums = new Float64Array(dimensions)
  let there = 0
  vectors.forEach((packed, i) => {
    const squares = packed === undefined ? 0 : unpackVector(packed, dimensions, integers.fill(0))
    if (squares === 0) return
    there++
    const inverse = inverseNorms[i] = 1 / Math.sqrt(squares)
    for (let d = 0; d < dimensions; d++) sums[d]! += (integers[d] as number) * inverse
  })
  const mean = Float32Array.from(sums, (sum) => sum / (there || 1))
  const codes = new Uint8Array(((dimensions + 7) >> 3) * vectors.length)
  const gains = new Float32Array(vectors.length)
  vectors.forEach((packed, i) => {
    const inverse = inverseNorms[i] as number
    if (packed === undefined || inverse === 0) return
    unpackVector(packed, dimensions, integers.fill(0))
    let squares = 0
    let magnitudes = 0
    for (let d = 0; d < dimensions; d++) {
      const rest = (integers[d] as number) * inverse - (mean[d] as number)
      squares += rest * rest
      magnitudes += Math.abs(rest)
      if (rest > 0) codes[(d >> 3) * vectors.length + i]! |= 1 << (d & 7)
    }
    gains[i] = magnitudes === 0 ? 0 : squares / magnitudes
  })
  return { codes, mean, gains }
}

/** A query vector prepared for codes. */
export interface CodeQuery {
  readonly query: Float32Array
  /** At `256 * place + byte`: the sum of the components whose bits are set in that byte at that place. */
  readonly sums: Float32Array
  /** Sum of all components. */
  readonly total: number
}

/** Prepares a query vector for {@link addCodes}. */
export const codeQuery = (query: Float32Array): CodeQuery => {
  const places = (query.length + 7) >> 3
  const sums = new Float32Array(places * 256)
  for (let place = 0; place < places; place++) {
    for (let byte = 1; byte < 256; byte++) {
      const lowest = 31 - Math.clz32(byte & -byte)
      sums[place * 256 + byte] = (sums[place * 256 + (byte & (byte - 1))] as number) + (query[place * 8 + lowest] ?? 0)
    }
  }
  return { query, sums, total: query.reduce((sum, value) => sum + value, 0) }
}

/** Writes estimates of the query's cosines with a block's chunks into `out`, which must be zero, reading four bytes of each per pass. */
export const addCodes = (out: Float64Array, { codes, gains, mean }: CodedBlock, { query, sums, total }: CodeQuery): void => {
  const count = gains.length
  const places = codes.length / count
  let place = 0
  for (; place + 4 <= places; place += 4) {
    const [s0, s1, s2, s3] = [place * 256, place * 256 + 256, place * 256 + 512, place * 256 + 768]
    const [c0, c1, c2, c3] = [place * count, (place + 1) * count, (place + 2) * count, (place + 3) * count]
    for (let i = 0; i < count; i++) {
      out[i] = (out[i] as number) + (sums[s0 + (codes[c0 + i] as number)] as number) + (sums[s1 + (codes[c1 + i] as number)] as number) +
        (sums[s2 + (codes[c2 + i] as number)] as number) + (sums[s3 + (codes[c3 + i] as number)] as number)
    }
  }
  for (; place < places; place++) {
    for (let i = 0; i < count; i++) out[i] = (out[i] as number) + (sums[place * 256 + (codes[place * count + i] as number)] as number)
  }
  let base = 0
  for (let d = 0; d < mean.length; d++) base += (mean[d] as number) * (query[d] as number)
  for (let i = 0; i < count; i++) out[i] = base + (gains[i] as number) * (2 * (out[i] as number) - total)
}
