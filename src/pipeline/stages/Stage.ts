import { Effect, type Schema, type Stream } from "effect"
import type { AnswerPart } from "../../domain/Answer.ts"
import { ServiceError } from "../../domain/Errors.ts"
import { type Definition, isDefinitionOf, marked, settingsSchema } from "../../ports/Definition.ts"
import { functionStage, type OwnStageCase, type StageSettings, type StageValue } from "../definition/StageSettings.ts"

/**
 * One step from a question towards an answer: a function from a value to the effect of another. Any function of that
 * shape is a stage; Sluice's own stages also carry their settings as a pipeline file writes them.
 */
export interface Stage<in In, out Out, out E = never, out R = never> {
  (input: In): Effect.Effect<Out, E, R>
  /** The stage as a pipeline file writes it. Absent: a custom function. */
  readonly settings?: StageSettings
  /** Streams the output as it is generated, where the stage can. */
  readonly stream?: ((input: In) => Stream.Stream<AnswerPart, E, R>) | undefined
  /** What it gives, where that is known: `defineStage` says it. */
  readonly gives?: StageValue
  /** The stages it was composed of, in order. Absent: a single stage. */
  readonly parts?: ReadonlyArray<AnyStage>
}

/** A stage whose types are not known. */
export interface AnyStage extends Stage<never, unknown, unknown, unknown> {}

/**
 * Composes stages left to right. Each takes what the one before returns, so the compiler refuses an order that makes no
 * sense (`generate` before `retrieve`). Up to nine at once; a composition is a stage too, and may be composed further.
 *
 * @example
 * ```ts
 * compose(retrieve({ topK: 20 }), onePerFile, generate())
 * ```
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
  <A, B, C, D, F, G, H, E1, R1, E2, R2, E3, R3, E4, R4, E5, R5, E6, R6>(
    a: Stage<A, B, E1, R1>,
    b: Stage<B, C, E2, R2>,
    c: Stage<C, D, E3, R3>,
    d: Stage<D, F, E4, R4>,
    e: Stage<F, G, E5, R5>,
    f: Stage<G, H, E6, R6>
  ): Stage<A, H, E1 | E2 | E3 | E4 | E5 | E6, R1 | R2 | R3 | R4 | R5 | R6>
  <A, B, C, D, F, G, H, I, E1, R1, E2, R2, E3, R3, E4, R4, E5, R5, E6, R6, E7, R7>(
    a: Stage<A, B, E1, R1>,
    b: Stage<B, C, E2, R2>,
    c: Stage<C, D, E3, R3>,
    d: Stage<D, F, E4, R4>,
    e: Stage<F, G, E5, R5>,
    f: Stage<G, H, E6, R6>,
    g: Stage<H, I, E7, R7>
  ): Stage<A, I, E1 | E2 | E3 | E4 | E5 | E6 | E7, R1 | R2 | R3 | R4 | R5 | R6 | R7>
  <A, B, C, D, F, G, H, I, J, E1, R1, E2, R2, E3, R3, E4, R4, E5, R5, E6, R6, E7, R7, E8, R8>(
    a: Stage<A, B, E1, R1>,
    b: Stage<B, C, E2, R2>,
    c: Stage<C, D, E3, R3>,
    d: Stage<D, F, E4, R4>,
    e: Stage<F, G, E5, R5>,
    f: Stage<G, H, E6, R6>,
    g: Stage<H, I, E7, R7>,
    h: Stage<I, J, E8, R8>
  ): Stage<A, J, E1 | E2 | E3 | E4 | E5 | E6 | E7 | E8, R1 | R2 | R3 | R4 | R5 | R6 | R7 | R8>
  <A, B, C, D, F, G, H, I, J, K, E1, R1, E2, R2, E3, R3, E4, R4, E5, R5, E6, R6, E7, R7, E8, R8, E9, R9>(
    a: Stage<A, B, E1, R1>,
    b: Stage<B, C, E2, R2>,
    c: Stage<C, D, E3, R3>,
    d: Stage<D, F, E4, R4>,
    e: Stage<F, G, E5, R5>,
    f: Stage<G, H, E6, R6>,
    g: Stage<H, I, E7, R7>,
    h: Stage<I, J, E8, R8>,
    i: Stage<J, K, E9, R9>
  ): Stage<A, K, E1 | E2 | E3 | E4 | E5 | E6 | E7 | E8 | E9, R1 | R2 | R3 | R4 | R5 | R6 | R7 | R8 | R9>
} = (...stages: ReadonlyArray<AnyStage>) => sequence(stages.flatMap((stage) => stage?.parts ?? [stage])) as never // the overloads have checked it

/** Composes stages whose order is known to be valid. */
export const sequence = (parts: ReadonlyArray<AnyStage>): AnyStage =>
  Object.assign(
    (input: never) =>
      parts.reduce(
        (value: Effect.Effect<unknown, unknown, unknown>, stage, at) => Effect.flatMap(value, (v) => runStage(stage, at, v)),
        Effect.succeed(input)
      ),
    { parts }
  )

const gaveNothing = (at: number): ServiceError =>
  new ServiceError({
    code: "FAILED_PRECONDITION",
    message: `stage ${at} gave nothing for stage ${at + 1}`,
    fix: "return what it makes of its input, such as { ...input, contexts }"
  })

/** Runs stages from an input on; fails where the last of them gave nothing for the stage after it. */
export const runStages = <In, Out, E, R>(parts: ReadonlyArray<AnyStage>, input: In): Effect.Effect<Out, E | ServiceError, R> =>
  Effect.flatMap(
    sequence(parts)(input as never) as Effect.Effect<Out, E, R>, // parts of stages that were composed in this order
    (made) => made === undefined ? Effect.fail(gaveNothing(parts.length)) : Effect.succeed(made)
  )

/** What a stage makes of a value that suits it. One that gives no effect, as an async function does, is an error that names it, and so is one that gave nothing. */
export const runStage = (stage: AnyStage, at: number, input: unknown): Effect.Effect<unknown, unknown, unknown> => {
  if (input === undefined) return Effect.fail(gaveNothing(at))
  const made: unknown = stage(input as never) // the value suits it
  if (Effect.isEffect(made)) return made
  const name = stage.settings?._tag ?? stage.name
  return Effect.fail(
    new ServiceError({
      code: "FAILED_PRECONDITION",
      message: `stage ${at + 1}${name === "" ? "" : ` (${name})`} gave ${
        made instanceof Promise ? "a Promise" : "something else"
      } and no Effect`,
      fix: "write it as (input) => Effect.promise(async () => ...), or Effect.succeed(...) where nothing is waited for"
    })
  )
}

/** A stage with its settings as a pipeline file writes them. */
export const described = <In, Out, E, R>(
  settings: StageSettings | undefined,
  run: (input: In) => Effect.Effect<Out, E, R>,
  stream?: (input: In) => Stream.Stream<AnswerPart, E, R>
): Stage<In, Out, E, R> => Object.assign((input: In) => run(input), { settings, stream })

/** A custom stage that a pipeline file can name. */
export interface StageDefinition<Options = never, S extends AnyStage = AnyStage> extends Definition<"Stage", Options, S>, OwnStageCase {}

/** A stage definition whose options' types are not known. */
export interface AnyStageDefinition extends StageDefinition {}

/** Whether a value is a {@link StageDefinition}, from whichever copy of this package. */
export const isStageDefinition = isDefinitionOf<AnyStageDefinition>("Stage")

/**
 * Defines a custom stage for pipeline files: export it from a module that the file names under `use`. `takes` and `gives`
 * say where it fits, and a file that puts it elsewhere is refused.
 *
 * @example
 * ```ts
 * export const onePerFile = defineStage({
 *   kind: "onePerFile",
 *   description: "Keeps the best contexts of each file.",
 *   takes: "retrieved",
 *   gives: "retrieved",
 *   fields: { keep: Schema.optionalKey(Schema.Int.annotate({ description: "Contexts of a file. Default 1." })) },
 *   make: ({ keep = 1 }) => (input: Retrieved) => Effect.succeed({ ...input, contexts: firstOfEach(input.contexts, keep) })
 * })
 * ```
 */
export const defineStage = <const F extends Schema.Struct.Fields, S extends AnyStage>(options: {
  readonly kind: string
  readonly description: string
  readonly takes: StageValue
  readonly gives: StageValue
  /** Its settings. Default: none. */
  readonly fields?: F
  readonly make: (settings: Schema.Struct.Type<F>) => S
}): StageDefinition<Schema.Struct.Type<F>, S> => {
  const { description, fields, gives, kind, make, takes } = options
  const makeStage = (given: Schema.Struct.Type<F>): S => {
    const stage = make(given)
    return Object.assign((input: never) => stage(input), stage, { gives }) as S // does what the stage does
  }
  return marked<StageDefinition<Schema.Struct.Type<F>, S>>("Stage", makeStage, {
    kind,
    settings: settingsSchema(fields ?? {}, {}, description),
    takes,
    gives
  })
}

/** What a function is to the rules of a file: nothing can be said of it. */
export const placeOfFunction: AnyStageDefinition = defineStage({
  kind: functionStage,
  description: "A function.",
  takes: "question",
  gives: "question",
  make: () => Effect.succeed
})
