import { type Ask, loadFor } from "./Load.ts"
import type { Served } from "./Serve.ts"

export interface Steady {
  readonly requestsPerSecond: number
  /** Least resident bytes of the server in the first quarter of the time after the warm-up. */
  readonly before: number
  /** Least resident bytes of the server in the last quarter of the time. */
  readonly after: number
  readonly grew: boolean
}

const slices = 40
/** Share of the time before the first measurement, in which caches fill and garbage collection settles. */
const warmUp = 0.25
/** Ratio of the last to the first measurement above which memory counts as growing. */
const tolerance = 1.1

/** Measures memory under a constant load for a long time: a server whose memory grows with its requests fails one day. */
export const steady = async ({ settled }: Served, ask: Ask, callers: number, seconds: number): Promise<Steady> => {
  let asked = 0
  const next = () => ask(asked++)
  await loadFor(seconds * warmUp, callers, next)
  const resident: Array<number> = []
  const since = performance.now()
  const warm = asked
  for (let slice = 0; slice < slices; slice++) {
    await loadFor(seconds * (1 - warmUp) / slices, callers, next)
    resident.push((await settled()).residentBytes)
  }
  const quarter = slices / 4
  const before = Math.min(...resident.slice(0, quarter))
  const after = Math.min(...resident.slice(-quarter))
  return {
    requestsPerSecond: (asked - warm) / ((performance.now() - since) / 1000),
    before,
    after,
    grew: after > before * tolerance
  }
}
