import { Effect } from "effect"

/**
 * Lets the event loop turn so often that what was written to a socket of this process before, this process has read and
 * dealt with: however slow the machine is, which no time to sleep is long enough for.
 */
export const turns: Effect.Effect<void> = Effect.promise(async () => {
  for (let n = 0; n < 200; n++) await new Promise((resolve) => setImmediate(resolve))
})
