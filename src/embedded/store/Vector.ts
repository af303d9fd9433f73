import { ByteReader, ByteWriter } from "./Bytes.ts"

/**
 * A unit vector at rest: int8 components, in the smallest of three forms. No scale is kept: what is read back is
 * the direction, and the norm of the integers makes it a unit vector again. A zero vector stays zero.
 */
const Form = {
  /** Every component. */
  dense: 0,
  /** A bit for each component, then those that are not zero. */
  bitmap: 1,
  /** Each that is not zero, after its distance from the one before. */
  gaps: 2
} as const

/** Magnitude of the largest component. */
const levels = 127

/** Quantises and packs. Lengths differ by vector; dimensions are the embedder's and not written. */
export const packVector = (vector: Float32Array): Uint8Array => {
  const values = new Int8Array(vector.length)
  const scale = levels / largest(vector)
  let nonZero = 0
  let gapBytes = 0
  let last = -1
  for (let i = 0; i < values.length; i++) {
    const value = Math.round((vector[i] as number) * scale)
    if (value === 0 || Number.isNaN(value)) continue
    values[i] = value
    nonZero++
    gapBytes += i - last > 128 ? 2 : 1
    last = i
  }
  const bitmap = (values.length + 7) >> 3
  if (gapBytes + nonZero <= Math.min(bitmap + nonZero, values.length)) return packGaps(values)
  return bitmap + nonZero < values.length ? packBitmap(values, nonZero) : packDense(values)
}

/**
 * Writes the integers of a packed vector of so many dimensions into `into`, which is zero there: component `d` at
 * `at + d * stride`. Gives the sum of their squares.
 */
export const unpackVector = (packed: Uint8Array, dimensions: number, into: Int8Array, at = 0, stride = 1): number => {
  let squares = 0
  const put = (component: number, byte: number): void => {
    const value = (byte << 24) >> 24
    into[at + component * stride] = value
    squares += value * value
  }
  switch (packed[0]) {
    case Form.dense:
      for (let d = 0; d < dimensions; d++) put(d, packed[1 + d] as number)
      break
    case Form.bitmap: {
      const bitmap = (dimensions + 7) >> 3
      let next = 1 + bitmap
      for (let i = 0; i < bitmap; i++) {
        for (let bits = packed[1 + i] as number; bits !== 0; bits &= bits - 1) {
          put(i * 8 + 31 - Math.clz32(bits & -bits), packed[next++] as number)
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
        put(component, packed[reader.position++] as number)
      }
    }
  }
  return squares
}

const largest = (vector: Float32Array): number => {
  let most = 0
  for (let i = 0; i < vector.length; i++) {
    const magnitude = Math.abs(vector[i] as number)
    if (magnitude > most) most = magnitude
  }
  return most
}

const packDense = (values: Int8Array): Uint8Array => {
  const out = new Uint8Array(values.length + 1)
  out[0] = Form.dense
  out.set(values, 1)
  return out
}

const packBitmap = (values: Int8Array, nonZero: number): Uint8Array => {
  let next = 1 + ((values.length + 7) >> 3)
  const out = new Uint8Array(next + nonZero)
  out[0] = Form.bitmap
  for (let i = 0; i < values.length; i++) {
    if (values[i] === 0) continue
    out[1 + (i >> 3)] = (out[1 + (i >> 3)] as number) | (1 << (i & 7))
    out[next++] = values[i] as number
  }
  return out
}

const packGaps = (values: Int8Array): Uint8Array => {
  const writer = new ByteWriter()
  writer.byte(Form.gaps)
  let last = -1
  for (let i = 0; i < values.length; i++) {
    if (values[i] === 0) continue
    writer.varint(i - last - 1)
    writer.byte(values[i] as number)
    last = i
  }
  return Uint8Array.from(writer.view())
}
