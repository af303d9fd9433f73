import { Effect } from "effect"

/**
 * A span, like that of `Effect.fn` with a name, for work on each of a great many files: made only if there is a tracer.
 * An unobserved span takes longer than reading a small file.
 */
export const traced = (name: string) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiber(({ cache }) => cache.tracer === undefined ? effect : Effect.withSpan(effect, name))
