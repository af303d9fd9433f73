import { endianness } from "node:os"

/**
 * A vector as a service sends it (an array of numbers, or base64 of little-endian float32), scaled to L2 norm 1. The zero vector stays as
 * it is. Undefined where anything is not a finite number.
 */
export const unitVector = (value: unknown): Float32Array | undefined => {
  const vector = typeof value === "string" ? fromBase64(value) : Array.isArray(value) ? fromNumbers(value) : undefined
  if (vector === undefined) return undefined
  let squares = 0
  for (let at = 0; at < vector.length; at++) squares += vector[at]! * vector[at]!
  if (!Number.isFinite(squares)) return undefined
  const scale = squares === 0 ? 1 : 1 / Math.sqrt(squares)
  for (let at = 0; at < vector.length; at++) vector[at]! *= scale
  return vector
}

const fromNumbers = (values: ReadonlyArray<unknown>): Float32Array | undefined => {
  const vector = new Float32Array(values.length)
  for (let at = 0; at < values.length; at++) {
    const value = values[at]
    if (typeof value !== "number") return undefined
    vector[at] = value
  }
  return vector
}

const fromBase64 = (text: string): Float32Array | undefined => {
  const bytes = Buffer.from(text, "base64")
  if (bytes.length % 4 !== 0) return undefined
  if (endianness() === "BE") bytes.swap32()
  const vector = new Float32Array(bytes.length / 4)
  new Uint8Array(vector.buffer).set(bytes)
  return vector
}
