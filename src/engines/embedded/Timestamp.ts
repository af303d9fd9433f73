import { Clock, Effect } from "effect"

/** Now, in microseconds since the epoch. */
export const now: Effect.Effect<number> = Effect.map(Clock.currentTimeMillis, (ms) => Math.round(ms * 1000))

/** RFC 3339 in UTC with microseconds, the service's form. */
export const timestamp = (micros: number): string => {
  const milliseconds = Math.floor(micros / 1000)
  return `${new Date(milliseconds).toISOString().slice(0, -1)}${String(micros - milliseconds * 1000).padStart(3, "0")}Z`
}
