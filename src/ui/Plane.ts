import type { SparseVector } from "../ports/Embedder.ts"

/** Dimensions that all vectors are folded into first. Angles between them hardly change. */
const folded = 128

/** Rounds of power iteration: far more than two axes of so few dimensions need. */
const rounds = 100

/** Vectors as points of the plane on which they lie furthest apart. */
export interface Plane {
  /** Two coordinates for each vector, from 0 to 1. */
  readonly points: Float64Array
  /** Share of the vectors' variance that the plane shows, 0 to 1. */
  readonly seen: number
}

/**
 * Draws vectors in two dimensions: a random projection with a fixed seed (a count sketch, which visits each component once), then the two
 * principal components of its result, by power iteration. The same vectors always have the same points, and time grows only with the
 * number of their components.
 */
export const planeOf = (vectors: ReadonlyArray<SparseVector>): Plane => {
  const n = vectors.length
  const points = new Float64Array(2 * n)
  const rows = sketched(vectors)
  const covariance = covarianceOf(rows, n)
  let all = 0
  for (let d = 0; d < folded; d++) all += covariance[d * folded + d]!
  if (all < 1e-12) return { points: points.fill(.5), seen: n === 0 ? 0 : 1 }
  let seen = 0
  for (const axis of [0, 1]) {
    const { direction, variance } = principal(covariance)
    seen += variance
    for (let i = 0; i < n; i++) {
      let at = 0
      for (let d = 0; d < folded; d++) at += rows[i * folded + d]! * direction[d]!
      points[2 * i + axis] = at
    }
    stretch(points, axis)
    // The variance along this axis is removed, so that the next round finds the second one.
    for (let a = 0; a < folded; a++) {
      for (let b = 0; b < folded; b++) covariance[a * folded + b]! -= variance * direction[a]! * direction[b]!
    }
  }
  return { points, seen: Math.min(1, seen / all) }
}

/** The vectors at length 1, folded, minus their mean. */
const sketched = (vectors: ReadonlyArray<SparseVector>): Float64Array => {
  const rows = new Float64Array(vectors.length * folded)
  const mean = new Float64Array(folded)
  vectors.forEach(({ components, values }, i) => {
    let squares = 0
    for (const value of values) squares += value * value
    const scale = squares === 0 ? 0 : 1 / Math.sqrt(squares)
    for (let c = 0; c < components.length; c++) {
      const hash = mixed(components[c]!)
      rows[i * folded + (hash & (folded - 1))]! += (hash & 0x8000) === 0 ? values[c]! * scale : -values[c]! * scale
    }
    for (let d = 0; d < folded; d++) mean[d]! += rows[i * folded + d]! / vectors.length
  })
  for (let at = 0; at < rows.length; at++) rows[at]! -= mean[at % folded]!
  return rows
}

const mixed = (n: number): number => {
  const a = Math.imul(n ^ 0x9e3779b9, 0x85ebca6b)
  const b = Math.imul(a ^ (a >>> 13), 0xc2b2ae35)
  return (b ^ (b >>> 16)) >>> 0
}

const covarianceOf = (rows: Float64Array, n: number): Float64Array => {
  const covariance = new Float64Array(folded * folded)
  for (let i = 0; i < n; i++) {
    const row = rows.subarray(i * folded, (i + 1) * folded)
    for (let a = 0; a < folded; a++) {
      const value = row[a]! / n
      if (value === 0) continue
      for (let b = 0; b < folded; b++) covariance[a * folded + b]! += value * row[b]!
    }
  }
  return covariance
}

/** The direction of the largest variance, and that variance. The direction's largest component is positive. */
const principal = (covariance: Float64Array): { readonly direction: Float64Array; readonly variance: number } => {
  let direction = Float64Array.from({ length: folded }, (_, d) => (mixed(d) & 0xffff) / 0xffff - .5)
  let variance = 0
  for (let round = 0; round < rounds; round++) {
    const next = new Float64Array(folded)
    let squares = 0
    for (let a = 0; a < folded; a++) {
      let sum = 0
      for (let b = 0; b < folded; b++) sum += covariance[a * folded + b]! * direction[b]!
      next[a] = sum
      squares += sum * sum
    }
    variance = Math.sqrt(squares)
    if (variance < 1e-12) return { direction: new Float64Array(folded), variance: 0 }
    direction = next.map((value) => value / variance)
  }
  const largest = direction.reduce((best, value) => Math.abs(value) > Math.abs(best) ? value : best, 0)
  return { direction: largest < 0 ? direction.map((value) => -value) : direction, variance }
}

/** Stretches one coordinate to the range 0 to 1. */
const stretch = (points: Float64Array, axis: number): void => {
  let [least, most] = [Infinity, -Infinity]
  for (let at = axis; at < points.length; at += 2) {
    least = Math.min(least, points[at]!)
    most = Math.max(most, points[at]!)
  }
  for (let at = axis; at < points.length; at += 2) points[at] = most > least ? (points[at]! - least) / (most - least) : .5
}
