/** What the service stamps on whatever it makes: an id, and times. */
import { Clock, Effect } from "effect"

/** Random numbers for ids: the system is asked for many at once. */
const numbers = new BigUint64Array(64)
let left = 0

/** A new id, as the service makes them: a decimal number of up to 19 digits. */
export const newId = (): string => {
  if (left === 0) {
    crypto.getRandomValues(numbers)
    left = numbers.length
  }
  return (numbers[--left]! >> 2n | 1n << 60n).toString()
}

/** Now, in microseconds since the epoch. */
export const now: Effect.Effect<number> = Effect.map(Clock.currentTimeMillis, (ms) => Math.round(ms * 1000))

/** RFC 3339 in UTC with microseconds, the service's form. */
export const timestamp = (micros: number): string => {
  const milliseconds = Math.floor(micros / 1000)
  return `${new Date(milliseconds).toISOString().slice(0, -1)}${String(micros - milliseconds * 1000).padStart(3, "0")}Z`
}
