/** Products such as 0.07 * 100 are slightly above the whole number that they stand for. */
const tolerance = 1e-9

/** The quantile of the values by the nearest rank: the smallest value that at least `fraction` of them do not exceed. NaN for no values. */
export const quantile = (values: ReadonlyArray<number>, fraction: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(fraction * sorted.length - tolerance) - 1)] ?? Number.NaN
}

/** Latencies of single queries, in milliseconds. */
export interface Latency {
  readonly queries: number
  readonly p50: number
  readonly p99: number
}

/** Number of queries that warm up a process before the measured ones. */
export const warmUpQueries = 200

/**
 * Runs every query once, in order, and returns the latencies of those after the first `warmUp`. Stops early after `maxSeconds`,
 * for engines that would take too long.
 */
export const latencies = async (
  queries: ReadonlyArray<string>,
  ask: (query: string) => Promise<unknown>,
  { maxSeconds = 60, warmUp = warmUpQueries }: { readonly maxSeconds?: number; readonly warmUp?: number } = {}
): Promise<Latency> => {
  const end = performance.now() + maxSeconds * 1000
  for (const query of queries.slice(0, warmUp)) {
    if (performance.now() < end) await ask(query)
  }
  const taken: Array<number> = []
  for (const query of queries.slice(warmUp)) {
    const started = performance.now()
    if (taken.length > 0 && started > end) break
    await ask(query)
    taken.push(performance.now() - started)
  }
  return { queries: taken.length, p50: quantile(taken, 0.5), p99: quantile(taken, 0.99) }
}
