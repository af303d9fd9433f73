import { Effect } from "effect"

/**
 * Starts calls in the order in which they came, one in each pass of the event loop. Requests that arrive together are read in
 * one pass; answering all of them in it would make timers, probes and the results of threads wait for the last one. A call
 * that arrives alone starts at once.
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
      // A caller that has left does not take a turn.
      return Effect.sync(() => void waiting.delete(begin))
    })
  })
}
