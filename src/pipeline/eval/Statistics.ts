/** A mean with its 95% confidence interval, by resampling. */
export interface Estimate {
  readonly mean: number
  readonly low: number
  readonly high: number
  /** Number of values. */
  readonly n: number
}

const resamples = 2_000

/** Random numbers from 0 to 1, the same every time, so that a repeated evaluation has the same intervals. */
const random = (): () => number => {
  let state = 0x9e3779b9
  return () => {
    state = Math.imul(state ^ (state >>> 15), 0x85ebca6b) + 0x6d2b79f5 | 0
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32
  }
}

const meanOf = (values: ReadonlyArray<number>): number => values.reduce((sum, value) => sum + value, 0) / values.length

/** The mean of a measure over questions, by the percentile bootstrap. Undefined without values. */
export const estimate = (values: ReadonlyArray<number>): Estimate | undefined => {
  if (values.length === 0) return undefined
  const next = random()
  const means = Float64Array.from({ length: resamples }, () => {
    let sum = 0
    for (let draw = 0; draw < values.length; draw++) sum += values[Math.floor(next() * values.length)] ?? 0
    return sum / values.length
  }).sort()
  return {
    mean: meanOf(values),
    low: means[Math.floor(resamples * 0.025)] ?? 0,
    high: means[Math.floor(resamples * 0.975)] ?? 0,
    n: values.length
  }
}

/** Probability of such differences if there is no real one, by flipping their signs at random (a paired permutation test, two-sided). */
export const chanceOf = (differences: ReadonlyArray<number>): number => {
  const changed = differences.filter((difference) => difference !== 0)
  if (changed.length === 0) return 1
  const seen = Math.abs(changed.reduce((sum, value) => sum + value, 0))
  const next = random()
  let asFar = 0
  for (let round = 0; round < resamples; round++) {
    let sum = 0
    for (const value of changed) sum += next() < 0.5 ? value : -value
    if (Math.abs(sum) >= seen - 1e-9) asFar += 1
  }
  return asFar / resamples
}

/** The quantile of values by the nearest rank: the smallest that at least `share` of them do not exceed; 0 of no values. */
export const quantile = (values: ReadonlyArray<number>, share: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  // Products such as 0.07 * 100 come out a little above the rank.
  return sorted[Math.max(0, Math.ceil(sorted.length * share - 1e-9) - 1)] ?? 0
}
