import { Effect } from "effect"

/**
 * Lets the event loop turn until this process has read and handled everything written to its sockets before. That holds on a
 * machine of any speed, where no time to sleep would be long enough.
 */
export const turns: Effect.Effect<void> = Effect.promise(async () => {
  for (let n = 0; n < 200; n++) await new Promise((resolve) => setImmediate(resolve))
})
