import { Effect } from "effect"

/** Milliseconds after which a condition has failed: far more than any takes, even on a busy machine. */
const limit = 180_000

/** Milliseconds between two looks. */
const interval = 5

/** The type without `undefined` and `false`. */
type Found<A> = Exclude<A, false | undefined>

const isFound = <A>(value: A): value is Found<A> => value !== undefined && value !== false

/**
 * Repeats `look` until its result is neither `undefined` nor `false`, and returns that. It uses the real clock, even in tests with
 * a test clock. After 3 minutes without a result it dies with the name of the condition.
 */
export const eventually = <A, E, R>(condition: string, look: Effect.Effect<A, E, R>): Effect.Effect<Found<A>, E, R> =>
  Effect.gen(function*() {
    for (const begin = performance.now(); performance.now() - begin < limit;) {
      const value = yield* look
      if (isFound(value)) return value
      yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, interval)))
    }
    return yield* Effect.die(new Error(`not within ${limit / 1_000} s: ${condition}`))
  })

/** {@link eventually} for tests that use promises. */
export const until = <A>(condition: string, look: () => A | Promise<A>): Promise<Found<A>> =>
  Effect.runPromise(eventually(condition, Effect.promise(async () => look())))
