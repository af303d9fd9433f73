/** Ids and times as the service assigns them to new resources. */
import { Clock, Effect } from "effect"

/** Random numbers for ids, requested from the system in bulk. */
const numbers = new BigUint64Array(64)
let left = 0

/** Makes an id like the service does: a decimal number of up to 19 digits. */
export const newId = (): string => {
  if (left === 0) {
    crypto.getRandomValues(numbers)
    left = numbers.length
  }
  return (numbers[--left]! >> 2n | 1n << 60n).toString()
}

/** Current time, in microseconds since the epoch. */
export const now: Effect.Effect<number> = Effect.map(Clock.currentTimeMillis, (ms) => Math.round(ms * 1000))

/** Formats a time as in RFC 3339, in UTC with microseconds, like the service. */
export const timestamp = (micros: number): string => {
  const milliseconds = Math.floor(micros / 1000)
  return `${new Date(milliseconds).toISOString().slice(0, -1)}${String(micros - milliseconds * 1000).padStart(3, "0")}Z`
}
