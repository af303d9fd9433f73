import { Effect } from "effect"

/** One step from a question towards an answer: a function from one value to the effect of another. */
export type Stage<In, Out, E = never, R = never> = (input: In) => Effect.Effect<Out, E, R>

/**
 * Composes stages left to right. Each takes what the one before gives, so that the compiler refuses an order that
 * makes no sense (`generate` before `retrieve`).
 */
export const compose: {
  <A, B, E1, R1>(a: Stage<A, B, E1, R1>): Stage<A, B, E1, R1>
  <A, B, C, E1, R1, E2, R2>(a: Stage<A, B, E1, R1>, b: Stage<B, C, E2, R2>): Stage<A, C, E1 | E2, R1 | R2>
  <A, B, C, D, E1, R1, E2, R2, E3, R3>(
    a: Stage<A, B, E1, R1>,
    b: Stage<B, C, E2, R2>,
    c: Stage<C, D, E3, R3>
  ): Stage<A, D, E1 | E2 | E3, R1 | R2 | R3>
  <A, B, C, D, F, E1, R1, E2, R2, E3, R3, E4, R4>(
    a: Stage<A, B, E1, R1>,
    b: Stage<B, C, E2, R2>,
    c: Stage<C, D, E3, R3>,
    d: Stage<D, F, E4, R4>
  ): Stage<A, F, E1 | E2 | E3 | E4, R1 | R2 | R3 | R4>
  <A, B, C, D, F, G, E1, R1, E2, R2, E3, R3, E4, R4, E5, R5>(
    a: Stage<A, B, E1, R1>,
    b: Stage<B, C, E2, R2>,
    c: Stage<C, D, E3, R3>,
    d: Stage<D, F, E4, R4>,
    e: Stage<F, G, E5, R5>
  ): Stage<A, G, E1 | E2 | E3 | E4 | E5, R1 | R2 | R3 | R4 | R5>
} = (...stages: ReadonlyArray<Stage<never, unknown, unknown, unknown>>) => (input: unknown) =>
  stages.reduce(
    (value: Effect.Effect<unknown, unknown, unknown>, stage) => Effect.flatMap(value, (v) => stage(v as never)), // the overloads have checked it
    Effect.succeed(input)
  ) as never // likewise
