import { Effect } from "effect"

/** Milliseconds that a condition is waited for: far more than any takes, also on a machine that is busy with something else. */
const limit = 180_000

/** Milliseconds between looks. */
const interval = 5

/** What is neither `undefined` nor `false`. */
type Found<A> = Exclude<A, false | undefined>

const isFound = <A>(value: A): value is Found<A> => value !== undefined && value !== false

/**
 * What `look` gives, once that is neither `undefined` nor `false`: it is asked again and again, by the real clock also where a
 * test has one of its own. Where it gives nothing within 3 minutes, this dies and names the condition.
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

/** {@link eventually} for tests that are promises. */
export const until = <A>(condition: string, look: () => A | Promise<A>): Promise<Found<A>> =>
  Effect.runPromise(eventually(condition, Effect.promise(async () => look())))
