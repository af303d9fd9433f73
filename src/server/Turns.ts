import { Effect } from "effect"

/**
 * Gives calls their turns, in the order in which they came: one in each pass of the event loop. Requests that come
 * together are read in one pass, and answering all of them there would leave timers, probes and the answers of threads
 * waiting for the last. A call that comes alone begins at once.
 */
export const makeTurns = (): Effect.Effect<void> => {
  const waiting = new Set<() => void>()
  let taken = false
  const pass = (): void => {
    const [next] = waiting
    if (next === undefined) {
      taken = false
      return
    }
    waiting.delete(next)
    setImmediate(pass)
    next()
  }
  return Effect.suspend(() => {
    if (!taken) {
      taken = true
      setImmediate(pass)
      return Effect.void
    }
    return Effect.callback<void>((resume) => {
      const begin = (): void => resume(Effect.void)
      waiting.add(begin)
      // Who left does not take a turn.
      return Effect.sync(() => void waiting.delete(begin))
    })
  })
}
