import type { SparseVector } from "../../ports/Embedder.ts"
import { dimensions } from "./Features.ts"

const bins = new Uint32Array(1024)
const vector = new Float64Array(dimensions)
const levels = new Uint16Array(dimensions)

/**
 * The sparse vector of length 1 made of the largest components of the dense vector whose component `i` is `sums[2 * i] - sums[2 * i + 1]`.
 * Components are sorted into {@link bins} by size, and the largest bins that together hold at most `keep` are taken.
 */
export const sparseUnit = (sums: Float64Array, keep: number): SparseVector => {
  let largest = 0
  for (let i = 0; i < dimensions; i++) {
    const value = sums[2 * i]! - sums[2 * i + 1]!
    vector[i] = value
    largest = Math.max(largest, Math.abs(value))
  }
  if (largest === 0) return { components: new Uint16Array(0), values: new Float32Array(0) }
  const last = bins.length - 1
  const scale = last / largest
  bins.fill(0)
  for (let i = 0; i < dimensions; i++) {
    const level = (Math.abs(vector[i]!) * scale) | 0
    levels[i] = level
    bins[level]!++
  }
  let least = last
  let total = bins[last]!
  while (least > 1 && total + bins[least - 1]! <= keep) total += bins[--least]!
  const components = new Uint16Array(total)
  let square = 0
  let found = 0
  for (let i = 0; i < dimensions; i++) {
    if (levels[i]! < least) continue
    const value = vector[i]!
    square += value * value
    components[found++] = i
  }
  const norm = Math.sqrt(square)
  const values = new Float32Array(total)
  for (let i = 0; i < total; i++) values[i] = vector[components[i]!]! / norm
  return { components, values }
}
