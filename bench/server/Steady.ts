import { type Ask, loadFor } from "./Load.ts"
import type { Served } from "./Serve.ts"

export interface Steady {
  readonly requestsPerSecond: number
  /** Resident bytes of the server, least of the first quarter of the time and of the last: what is between them is not given back. */
  readonly before: number
  readonly after: number
  readonly grew: boolean
}

const slices = 40
/** Caches fill, and the collector of garbage finds its pace, before the first is measured: a share of the time. */
const warmUp = 0.25
/** More than this of the first is growth. */
const tolerance = 1.1

/** The same load for a long time: a server whose memory grows with its requests ends one day. */
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
