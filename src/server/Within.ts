import { Effect, Fiber } from "effect"

/** The most that a timer of Node's takes: more would be none at all. */
const longest = 2 ** 31 - 1

/**
 * What an effect comes to within so many milliseconds. Afterwards it is interrupted, though what runs it may not be, and
 * once it has ended it is `late` in its place. For each request of a server: a fiber and a timer, where
 * `Effect.timeoutOrElse` takes two fibers.
 */
export const within = <A, E, R>(milliseconds: number, effect: Effect.Effect<A, E, R>, late: () => A): Effect.Effect<A, E, R> =>
  Effect.flatMap(Effect.forkChild(effect, { startImmediately: true }), (fiber) =>
    Effect.callback<A, E>((resume) => {
      let isLate = false
      const timer = setTimeout(() => {
        isLate = true
        fiber.interruptUnsafe()
      }, Math.min(milliseconds, longest))
      fiber.addObserver((exit) => {
        clearTimeout(timer)
        resume(isLate ? Effect.sync(late) : exit)
      })
      return Fiber.interrupt(fiber)
    }))
