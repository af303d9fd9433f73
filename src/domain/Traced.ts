import { Effect } from "effect"

/**
 * A span around what is done for each of very many files, as `Effect.fn` with a name makes one: only where a tracer was
 * given. One that nobody sees takes longer than to read a small file.
 */
export const traced = (name: string) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiber(({ cache }) => cache.tracer === undefined ? effect : Effect.withSpan(effect, name))
