import type { SparseVector } from "../../../ports/Embedder.ts"
import { ByteReader, ByteWriter } from "./Bytes.ts"

/**
 * Forms of a packed unit vector, which has int8 components and takes the smallest form. No scale is stored: the integers are its direction,
 * and dividing by their norm makes it a unit vector again. A zero vector stays zero.
 */
const Form = {
  /** Every component. */
  dense: 0,
  /** A bit for each component, then the components that are not zero. */
  bitmap: 1,
  /** Each component that is not zero, with its distance from the previous one. */
  gaps: 2
} as const

/** Magnitude of the largest component. */
export const levels = 127

/** Quantizes and packs a vector. Packed lengths differ by vector; the number of dimensions is the embedder's, and is not stored. */
export const packSparse = ({ components, values }: SparseVector, dimensions: number): Uint8Array => {
  const scale = levels / largest(values)
  const kept = new Uint16Array(components.length)
  const integers = new Int8Array(components.length)
  let count = 0
  let gapBytes = 0
  let last = -1
  for (let i = 0; i < components.length; i++) {
    const integer = Math.round(values[i]! * scale)
    if (integer === 0 || Number.isNaN(integer)) continue
    const component = components[i]!
    kept[count] = component
    integers[count++] = integer
    gapBytes += component - last > 128 ? 2 : 1
    last = component
  }
  const bitmap = (dimensions + 7) >> 3
  const packed = { kept: kept.subarray(0, count), integers: integers.subarray(0, count), dimensions }
  if (gapBytes + count <= Math.min(bitmap + count, dimensions)) return packGaps(packed)
  return bitmap + count < dimensions ? packBitmap(packed) : packDense(packed)
}

export const packVector = (vector: Float32Array): Uint8Array => packSparse(withoutZeros(vector), vector.length)

/**
 * Writes the integers of a packed vector into `into`, which must be zero there: component `d` at `at + d * stride`. Returns the
 * sum of their squares.
 */
export const unpackVector = (packed: Uint8Array, dimensions: number, into: Int8Array, at = 0, stride = 1): number => {
  // No function is called per component: a first question unpacks a whole corpus, and is over before the function would be inlined.
  let squares = 0
  switch (packed[0]) {
    case Form.dense:
      for (let d = 0; d < dimensions; d++) {
        const value = ((packed[1 + d] as number) << 24) >> 24
        into[at + d * stride] = value
        squares += value * value
      }
      break
    case Form.bitmap: {
      const bitmap = (dimensions + 7) >> 3
      let next = 1 + bitmap
      for (let i = 0; i < bitmap; i++) {
        for (let bits = packed[1 + i] as number; bits !== 0; bits &= bits - 1) {
          const value = ((packed[next++] as number) << 24) >> 24
          into[at + (i * 8 + 31 - Math.clz32(bits & -bits)) * stride] = value
          squares += value * value
        }
      }
      break
    }
    default: {
      const reader = new ByteReader(packed)
      reader.position = 1
      let component = -1
      while (!reader.done) {
        component += reader.varint() + 1
        const value = ((packed[reader.position++] as number) << 24) >> 24
        into[at + component * stride] = value
        squares += value * value
      }
    }
  }
  return squares
}

/**
 * Writes the ascending numbers and the values of a packed vector's components that are not zero, and returns how many there are; undefined
 * where the vector is stored with its zeros.
 */
export const unpackSparse = (
  packed: Uint8Array,
  dimensions: number,
  components: Uint16Array,
  values: Int8Array
): number | undefined => {
  let count = 0
  switch (packed[0]) {
    case Form.dense:
      return undefined
    case Form.bitmap: {
      const bitmap = (dimensions + 7) >> 3
      for (let i = 0; i < bitmap; i++) {
        for (let bits = packed[1 + i] as number; bits !== 0; bits &= bits - 1) {
          components[count] = i * 8 + 31 - Math.clz32(bits & -bits)
          values[count] = packed[1 + bitmap + count] as number
          count++
        }
      }
      return count
    }
    default: {
      const reader = new ByteReader(packed)
      reader.position = 1
      let component = -1
      while (!reader.done) {
        component += reader.varint() + 1
        components[count] = component
        values[count++] = packed[reader.position++] as number
      }
      return count
    }
  }
}

/** The components of a packed vector that are not zero, as the integers that are stored. */
export const sparseVectorOf = (packed: Uint8Array): SparseVector => {
  const components: Array<number> = []
  const values: Array<number> = []
  const put = (component: number, value: number): void => {
    components.push(component)
    values.push(value)
  }
  if (!forEachComponent(packed, put)) {
    for (let at = 1; at < packed.length; at++) put(at - 1, ((packed[at] as number) << 24) >> 24)
  }
  return { components: Uint16Array.from(components), values: Float32Array.from(values) }
}

/** Whether a packed vector has fewer components than zeros, as the offline embedder's have; a model's have nearly all. */
export const isMostlyZeros = (packed: Uint8Array): boolean => {
  const dimensions = dimensionsOfBitmap(packed)
  return dimensions === undefined ? packed[0] === Form.gaps : (packed.length - 1 - dimensions / 8) * 2 < dimensions
}

/** Number of dimensions that a packed vector's bitmap has bits for; undefined where the vector has another form. */
export const dimensionsOfBitmap = (packed: Uint8Array): number | undefined => {
  if (packed[0] !== Form.bitmap) return undefined
  let next = 1
  for (let end = packed.length; next < end; next++) end -= bitsIn[packed[next] as number] as number
  return (next - 1) * 8
}

/**
 * Calls `visit` with each component of a packed vector that is not zero, ascending. Returns false, without a call, where the
 * vector is stored with its zeros. The number of dimensions need not be known: a bitmap and its values fill the bytes in one way
 * only.
 */
export const forEachComponent = (packed: Uint8Array, visit: (component: number, value: number) => void): boolean => {
  if (packed[0] === Form.dense) return false
  const dimensions = dimensionsOfBitmap(packed)
  if (dimensions !== undefined) {
    const bitmap = 1 + dimensions / 8
    let next = bitmap
    for (let i = 1; i < bitmap; i++) {
      for (let bits = packed[i] as number; bits !== 0; bits &= bits - 1) {
        visit(i * 8 + 23 - Math.clz32(bits & -bits), ((packed[next++] as number) << 24) >> 24)
      }
    }
    return true
  }
  const reader = new ByteReader(packed)
  reader.position = 1
  let component = -1
  while (!reader.done) {
    component += reader.varint() + 1
    visit(component, ((packed[reader.position++] as number) << 24) >> 24)
  }
  return true
}

/** A packed vector with all its components: of norm 1, or zero. */
export const unitVectorOf = (packed: Uint8Array, dimensions: number): Float32Array => {
  const integers = new Int8Array(dimensions)
  const norm = Math.sqrt(unpackVector(packed, dimensions, integers)) || 1
  return Float32Array.from(integers, (value) => value / norm)
}

/** How a dot product is divided by its vector's norm: exactly, or by multiplying with the inverse in 24 bits, as a scan of many does. */
export type Rounding = "exact" | "scanned"

/** The cosine of a packed vector with `query`, which must have norm 1 or be zero. The vector is not unpacked. */
export const cosineOf = (bytes: Uint8Array, query: Float32Array, rounding: Rounding = "exact"): number => {
  const end = bytes.length
  let at = 0
  let dot = 0
  let squares = 0
  const form = bytes[at++]
  if (form === Form.gaps) {
    let component = -1
    while (at < end) {
      let gap = bytes[at++] as number
      if (gap >= 0x80) {
        gap &= 0x7f
        for (let shift = 7;; shift += 7) {
          const byte = bytes[at++] as number
          gap |= (byte & 0x7f) << shift
          if (byte < 0x80) break
        }
      }
      component += gap + 1
      const value = ((bytes[at++] as number) << 24) >> 24
      dot += (query[component] as number) * value
      squares += value * value
    }
  } else if (form === Form.bitmap) {
    let next = at + ((query.length + 7) >> 3)
    for (let first = 0; first < query.length; first += 8) {
      for (let bits = bytes[at++] as number; bits !== 0; bits &= bits - 1) {
        const value = ((bytes[next++] as number) << 24) >> 24
        dot += (query[first + 31 - Math.clz32(bits & -bits)] as number) * value
        squares += value * value
      }
    }
  } else {
    for (let d = 0; at < end; d++) {
      const value = ((bytes[at++] as number) << 24) >> 24
      dot += (query[d] as number) * value
      squares += value * value
    }
  }
  return roundedCosine(dot, squares, rounding)
}

/**
 * {@link cosineOf} for one query with many vectors, with results equal to the last bit. Of a vector that is mostly zeros, only
 * the components that the query has are read.
 */
export const cosinesWith = (query: Float32Array, rounding: Rounding): (packed: Uint8Array) => number => {
  const bitmap = (query.length + 7) >> 3
  const asked = new Uint8Array(bitmap)
  for (let d = 0; d < query.length; d++) if (query[d] !== 0) asked[d >> 3]! |= 1 << (d & 7)
  return (packed) => {
    if (packed[0] !== Form.bitmap) return cosineOf(packed, query, rounding)
    const end = packed.length
    let squares = 0
    for (let at = 1 + bitmap; at < end; at++) {
      const value = ((packed[at] as number) << 24) >> 24
      squares += value * value
    }
    let dot = 0
    let next = 1 + bitmap
    for (let i = 0; i < bitmap; i++) {
      const byte = packed[1 + i] as number
      for (let bits = byte & (asked[i] as number); bits !== 0; bits &= bits - 1) {
        const bit = bits & -bits
        const value = ((packed[next + (bitsIn[byte & (bit - 1)] as number)] as number) << 24) >> 24
        dot += (query[i * 8 + 31 - Math.clz32(bit)] as number) * value
      }
      next += bitsIn[byte] as number
    }
    return roundedCosine(dot, squares, rounding)
  }
}

/** Number of bits that are set, by byte. */
const bitsIn = new Uint8Array(256)
for (let byte = 1; byte < 256; byte++) bitsIn[byte] = (bitsIn[byte >> 1] as number) + (byte & 1)

/** The cosine of a vector, from the sum of its squares and its dot product with a query of norm 1. */
const roundedCosine = (dot: number, squares: number, rounding: Rounding): number =>
  squares === 0 ? 0 : rounding === "scanned" ? dot * inverseNorm(squares) : dot / Math.sqrt(squares)

/** Inverse of a vector's norm, from the sum of its squares, rounded to 24 bits as scans of many vectors keep it. */
export const inverseNorm = (squares: number): number => squares === 0 ? 0 : Math.fround(1 / Math.sqrt(squares))

const largest = (values: Float32Array): number => {
  let most = 0
  for (const value of values) if (Math.abs(value) > most) most = Math.abs(value)
  return most
}

const withoutZeros = (vector: Float32Array): SparseVector => {
  const components = new Uint16Array(vector.length)
  let count = 0
  for (let i = 0; i < vector.length; i++) if (vector[i] !== 0) components[count++] = i
  return { components: components.subarray(0, count), values: vector.filter((value) => value !== 0) }
}

/** The components of a quantized vector that are not zero. */
interface Quantised {
  readonly kept: Uint16Array
  readonly integers: Int8Array
  readonly dimensions: number
}

const packDense = ({ dimensions, integers, kept }: Quantised): Uint8Array => {
  const out = new Uint8Array(dimensions + 1)
  out[0] = Form.dense
  for (let i = 0; i < kept.length; i++) out[1 + kept[i]!] = integers[i]!
  return out
}

const packBitmap = ({ dimensions, integers, kept }: Quantised): Uint8Array => {
  const first = 1 + ((dimensions + 7) >> 3)
  const out = new Uint8Array(first + kept.length)
  out[0] = Form.bitmap
  for (let i = 0; i < kept.length; i++) {
    out[1 + (kept[i]! >> 3)]! |= 1 << (kept[i]! & 7)
    out[first + i] = integers[i]!
  }
  return out
}

const packGaps = ({ integers, kept }: Quantised): Uint8Array => {
  const writer = new ByteWriter()
  writer.byte(Form.gaps)
  let last = -1
  for (let i = 0; i < kept.length; i++) {
    writer.varint(kept[i]! - last - 1)
    writer.byte(integers[i]!)
    last = kept[i]!
  }
  return Uint8Array.from(writer.view())
}
