/**
 * Sluice for programs that do not use Effect: promises, async iterables and `AbortSignal`.
 *
 * @example
 * ```ts
 * await using app = await open(handbook, Embedded.layer({ dataDir: ".sluice" }))
 * await app.run()
 * const { answer } = await app.ask("How many days carry over?")
 * for await (const part of app.stream("And in Japan?")) if (part._tag === "text") process.stdout.write(part.text)
 * ```
 */
import { Effect, type Layer, ManagedRuntime, Stream } from "effect"
import type { StreamPart } from "./domain/Answer.ts"
import type { Report } from "./domain/Report.ts"
import type { Host } from "./pipeline/Host.ts"
import type { Pipeline, RunOptions } from "./pipeline/Pipeline.ts"
import type { EvaluateOptions, Evaluation } from "./pipeline/eval/Evaluation.ts"
import type { FollowUp } from "./pipeline/stages/Condense.ts"
import type { Answered } from "./pipeline/stages/Generate.ts"
import type { Question, Retrieved, RetrieveOptions } from "./pipeline/stages/Retrieve.ts"
import type { Plan, PlanOptions } from "./pipeline/sync/Plan.ts"
import type { WatchOptions } from "./pipeline/watch/Watch.ts"

export * as Embedded from "./compose/EmbeddedEntry.ts"
export * as Vertex from "./compose/VertexEntry.ts"
export type { AnswerPart, ContextsPart, StreamPart } from "./domain/Answer.ts"
export { DocumentError, SecretError, ServiceError, StateError } from "./domain/Errors.ts"
export { PipelineInvalid } from "./pipeline/definition/PipelineInvalid.ts"
export * as Pipeline from "./pipeline/Pipeline.ts"
export { compose, defineStage } from "./pipeline/stages/Stage.ts"
export { diversify } from "./pipeline/stages/Diversify.ts"
export { expand } from "./pipeline/stages/Expand.ts"
export { generate } from "./pipeline/stages/Generate.ts"
export { rank } from "./pipeline/stages/Rank.ts"
export { retrieve } from "./pipeline/stages/Retrieve.ts"

/** Ends a call early. It then rejects with the signal's reason, and what was under way is stopped in order. */
export interface Abortable {
  readonly signal?: AbortSignal
}

/**
 * A pipeline on an engine. Calls reject with the classes of this module: each has a `message` and, where it is known,
 * `code`, `fix` and `violations` (`ServiceError`), `issues` (`PipelineInvalid`), `problem` (`StateError`).
 */
export interface App<Out> extends AsyncDisposable {
  /** Brings the corpus in line with the sources. A file's failure is in the report. */
  readonly run: (options?: Omit<RunOptions, "observe" | "waiting"> & Abortable) => Promise<Report>
  /** What {@link run} would do. Changes nothing. */
  readonly plan: (options?: Pick<PlanOptions, "all" | "retryFailed"> & Abortable) => Promise<Plan>
  /** Keeps the corpus in line with its sources until the signal ends it. */
  readonly watch: (options: Pick<WatchOptions, "timing"> & { readonly signal: AbortSignal }) => Promise<void>
  readonly retrieve: (question: string | Question, options?: RetrieveOptions & Abortable) => Promise<Retrieved>
  readonly ask: (question: string | Question, options?: RetrieveOptions & Abortable) => Promise<Out>
  /**
   * The contexts, as soon as they are found, then the answer as it is made; the last part carries it whole. Leaving the loop
   * stops the model.
   */
  readonly stream: (question: string | Question, options?: RetrieveOptions & Abortable) => AsyncIterable<StreamPart>
  /** Answers a question of a conversation, which may lean on the exchanges it brings, in the same parts. */
  readonly chat: (question: FollowUp, options?: RetrieveOptions & Abortable) => AsyncIterable<StreamPart>
  /** Asks the pipeline's tests, or others, and holds what comes against what they expect. */
  readonly evaluate: (options?: Partial<Omit<EvaluateOptions, "observe">> & Abortable) => Promise<Evaluation>
  /** Closes what is open. Called by `await using`. */
  readonly close: () => Promise<void>
}

/** Opens a pipeline on an engine, which is checked when it is first needed. */
export const open = async <Sources extends string, Out, E, R extends Host>(
  pipeline: Pipeline<Sources, Out, E, Exclude<R, Host>>,
  engine: Layer.Layer<R, unknown>
): Promise<App<Out>> => {
  const runtime = ManagedRuntime.make(engine)
  const context = await runtime.context()
  const promise = <A, E2>(effect: Effect.Effect<A, E2, R>, signal?: AbortSignal): Promise<A> =>
    runtime.runPromise(effect, signal === undefined ? {} : { signal }).catch((error: unknown) => {
      throw signal?.aborted === true ? signal.reason : error
    })
  const iterable = <E2>(parts: Stream.Stream<StreamPart, E2, R>, signal?: AbortSignal): AsyncIterable<StreamPart> =>
    Stream.toAsyncIterableWith(signal === undefined ? parts : Stream.interruptWhen(parts, aborted(signal)), context)
  // What the pipeline needs is what the layer provides, by the types above.
  const on = pipeline as unknown as Pipeline<Sources, Answered, E, never>
  const close = () => runtime.dispose()
  return {
    run: ({ signal, ...options } = {}) => promise(on.runWith(options) as Effect.Effect<Report, unknown, R>, signal),
    plan: ({ signal, ...options } = {}) => promise(on.plan(options) as Effect.Effect<Plan, unknown, R>, signal),
    watch: ({ signal, ...options }) =>
      promise(on.watch(options) as Effect.Effect<never, unknown, R>, signal).catch((error: unknown) => {
        if (!signal.aborted) throw error
      }),
    retrieve: (question, { signal, ...options } = {}) =>
      promise(on.retrieve(question, options) as Effect.Effect<Retrieved, unknown, R>, signal),
    ask: (question, { signal, ...options } = {}) => promise(on.ask(question, options) as Effect.Effect<Out, unknown, R>, signal),
    stream: (question, { signal, ...options } = {}) =>
      iterable(on.stream(question, options) as Stream.Stream<StreamPart, unknown, R>, signal),
    chat: (question, { signal, ...options } = {}) =>
      iterable(
        Stream.unwrap(Effect.flatMap(on.chat(options), (converse) =>
          Effect.map(converse(question), ({ contexts, parts }) =>
            Stream.concat(Stream.succeed<StreamPart>({ _tag: "contexts", contexts }), parts)))).pipe(
            Stream.scoped
          ) as Stream.Stream<StreamPart, unknown, R>,
        signal
      ),
    evaluate: ({ signal, ...options } = {}) => promise(on.evaluate(options) as Effect.Effect<Evaluation, unknown, R>, signal),
    close,
    [Symbol.asyncDispose]: close
  }
}

const aborted = (signal: AbortSignal): Effect.Effect<never, unknown> =>
  Effect.callback<never, unknown>((resume) => {
    const end = () => resume(Effect.fail(signal.reason))
    if (signal.aborted) return end()
    signal.addEventListener("abort", end, { once: true })
    return Effect.sync(() => signal.removeEventListener("abort", end))
  })
