import { Effect, Fiber } from "effect"

/** Longest delay of a Node timer in milliseconds: with a longer one it would fire at once. */
const longest = 2 ** 31 - 1

/**
 * The result of an effect within a number of milliseconds. After that the effect is interrupted and, once it has ended, the
 * result is `late()`. It takes a fiber and a timer, where `Effect.timeoutOrElse` takes two fibers: it runs for each request
 * of a server.
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
