/** The value below which `fraction` of the values lie, by the nearest rank. */
export const quantile = (values: ReadonlyArray<number>, fraction: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(fraction * sorted.length) - 1)] ?? Number.NaN
}

/** Milliseconds of single queries. */
export interface Latency {
  readonly queries: number
  readonly p50: number
  readonly p99: number
}

/** Queries that are asked before the ones that count, so that these meet a process that has been serving. */
export const warmUpQueries = 200

/**
 * Runs every query once, in order, and says how long each took after the first `warmUp`. Stops early after
 * `maxSeconds`, for engines that would take all day.
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
