/**
 * Sluice for programs that do not use Effect: promises, async iterables and `AbortSignal`. `open` opens a pipeline on an engine; `stage`,
 * `rankBy`, `retrieveEach`, `generateBy`, `embedder`, `parser` and `chunker` make parts of a pipeline of plain and async functions.
 *
 * @example
 * ```ts
 * await using app = await open(handbook, Embedded.layer({ dataDir: ".sluice" }))
 * await app.run()
 * const { answer } = await app.ask("How many days carry over?")
 * for await (const part of app.stream("And in Japan?")) if (part._tag === "text") process.stdout.write(part.text)
 * ```
 */
import { Cause, Effect, Exit, type Layer, ManagedRuntime, Stream } from "effect"
import { fromBundle } from "./compose/EmbeddedEntry.ts"
import type { StreamPart } from "./domain/Answer.ts"
import { ServiceError } from "./domain/Errors.ts"
import type { Report, SyncEvent } from "./domain/Report.ts"
import type { BatchQuestion } from "./pipeline/BatchPipeline.ts"
import type { Host } from "./pipeline/Host.ts"
import { load as loadPipeline, type Pipeline, type RunOptions } from "./pipeline/Pipeline.ts"
import type { EvaluateOptions, Evaluation, TestResult } from "./pipeline/eval/Evaluation.ts"
import type { BatchAnswered } from "./pipeline/stages/Batch.ts"
import type { FollowUp } from "./pipeline/stages/Condense.ts"
import type { Answered } from "./pipeline/stages/Generate.ts"
import type { Question, Retrieved, RetrieveOptions } from "./pipeline/stages/Retrieve.ts"
import type { Diff } from "./pipeline/sync/Diff.ts"
import type { GenerationStatus, Switched } from "./pipeline/sync/Generations.ts"
import type { Plan, PlanOptions } from "./pipeline/sync/Plan.ts"
import type { WatchOptions } from "./pipeline/watch/Watch.ts"
import type { WatchEvent } from "./pipeline/watch/WatchEvent.ts"
import type { Generation } from "./ports/Ledger.ts"
import type { AnyConnectorDefinition } from "./ports/Source.ts"

export * as Embedded from "./compose/EmbeddedEntry.ts"
export * as Vertex from "./compose/VertexEntry.ts"
export {
  chunker,
  type ChunkerOptions,
  embedder,
  type EmbedderOptions,
  generateBy,
  parser,
  type ParserOptions,
  type PromptRequest,
  rankBy,
  retrieveEach,
  type RetrieveEachOptions,
  stage,
  type TextModel
} from "./compose/PromiseParts.ts"
export type { Answer, AnswerPart, Citation, ContextsPart, StreamPart } from "./domain/Answer.ts"
export type { TextSpan, TextToCut } from "./domain/Chunking.ts"
export type { Report, SyncEvent } from "./domain/Report.ts"
export type { Context } from "./domain/Retrieval.ts"
export { DocumentError, SecretError, ServiceError, StateError } from "./domain/Errors.ts"
export { PipelineInvalid } from "./pipeline/definition/PipelineInvalid.ts"
export * as Pipeline from "./pipeline/Pipeline.ts"
export { compose, defineStage, type Stage } from "./pipeline/stages/Stage.ts"
export { diversify } from "./pipeline/stages/Diversify.ts"
export { expand } from "./pipeline/stages/Expand.ts"
export { type Answered, generate, generateFromCorpus } from "./pipeline/stages/Generate.ts"
export { rank } from "./pipeline/stages/Rank.ts"
export { type Question, retrieve, type Retrieved } from "./pipeline/stages/Retrieve.ts"
export { queriesBy } from "./pipeline/stages/RetrieveEach.ts"
export type { FileToParse, ParsedMarkdown } from "./ports/Parser.ts"

/** Ends a call early: its promise rejects with the signal's reason, and work under way is stopped cleanly. */
export interface Abortable {
  readonly signal?: AbortSignal
}

/** Reports what happens during a call. What it throws ends the call. */
export interface Observable<Event> {
  readonly observe?: (event: Event) => void
}

/**
 * A pipeline on an engine. Calls reject with the error classes that this module exports: each has a `message` and, where
 * known, `code`, `fix` and `violations` (`ServiceError`), `issues` (`PipelineInvalid`), `problem` (`StateError`). What a
 * function of the program throws, they reject with as it is.
 */
export interface App<Out> extends AsyncDisposable {
  /** Brings the corpus in line with the sources. The failure of a single file does not reject: it is in the report. */
  readonly run: (options?: Omit<RunOptions, "observe" | "waiting"> & Observable<SyncEvent> & Abortable) => Promise<Report>
  /** Returns what {@link run} would do. Changes nothing. */
  readonly plan: (options?: Pick<PlanOptions, "all" | "retryFailed"> & Abortable) => Promise<Plan>
  /** Compares the corpus with what the ledger says was stored there. */
  readonly diff: (options?: Abortable) => Promise<Diff>
  /** Keeps the corpus in line with its sources until the signal ends it. */
  readonly watch: (
    options: Pick<WatchOptions, "timing" | "strict"> & Observable<WatchEvent> & { readonly signal: AbortSignal }
  ) => Promise<void>
  /** Makes the candidate that `run({ candidate: true })` built the live corpus, in one step. `yes` as for the pipeline's `promote`. */
  readonly promote: (options?: { readonly yes?: boolean } & Abortable) => Promise<Switched>
  /** Makes the previous live corpus live again; the corpus that was live becomes the candidate. */
  readonly rollback: (options?: Abortable) => Promise<Switched>
  /** Deletes the candidate. */
  readonly dropCandidate: (options?: Abortable) => Promise<Generation>
  /** The pipeline's corpora: the live one, a candidate, and those kept. */
  readonly generations: (options?: Abortable) => Promise<ReadonlyArray<GenerationStatus>>
  readonly retrieve: (question: string | Question, options?: RetrieveOptions & Abortable) => Promise<Retrieved>
  readonly ask: (question: string | Question, options?: RetrieveOptions & Abortable) => Promise<Out>
  /**
   * The contexts, as soon as they are found, then the answer as it is made; the last part carries it whole. Leaving the loop
   * stops the model.
   */
  readonly stream: Out extends Answered ? (question: string | Question, options?: RetrieveOptions & Abortable) => AsyncIterable<StreamPart>
    : never
  /** Answers a question of a conversation, which may refer to the earlier exchanges passed with it, in the same parts. */
  readonly chat: (question: FollowUp, options?: RetrieveOptions & Abortable) => AsyncIterable<StreamPart>
  /** Answers many questions, `concurrency` at a time (default 4), each with its citations or the reason it has no answer. */
  readonly batch: (
    questions: Iterable<BatchQuestion> | AsyncIterable<BatchQuestion>,
    options?: { readonly concurrency?: number } & Abortable
  ) => AsyncIterable<BatchAnswered>
  /** Runs the pipeline's tests, or those given, and compares the results with what the tests expect. */
  readonly evaluate: (options?: Partial<Omit<EvaluateOptions, "observe">> & Observable<TestResult> & Abortable) => Promise<Evaluation>
  /** Closes everything that is open. Called by `await using`. */
  readonly close: () => Promise<void>
}

/**
 * Loads a pipeline from a file (YAML, JSON, or a module that exports one), with the connectors that its sources may name:
 * `await load("pipeline.yaml", connectors)`, with `connectors` of `sluice/connectors`. Rejects with `PipelineInvalid`, which has every broken
 * rule of the file, each with line and column.
 */
export const load = (
  file: string,
  connectors: Readonly<Record<string, AnyConnectorDefinition>>
): Promise<Pipeline<string, Answered, never, never>> => settled(loadPipeline(file, connectors))

/** Loads the pipeline of a bundle, which answers from the bundle instead of from a corpus of an engine. Rejects with `StateError`. */
export const loadBundle = (path: string): Promise<Pipeline> => settled(fromBundle(path))

const settled = async <A, E>(effect: Effect.Effect<A, E>): Promise<A> => {
  const exit = await Effect.runPromiseExit(effect)
  if (Exit.isSuccess(exit)) return exit.value
  throw thrownBy(exit.cause)
}

/** Opens a pipeline on an engine. The engine is only checked when it is first needed. */
export const open = async <Sources extends string, Out, E, Needs>(
  pipeline: Pipeline<Sources, Out, E, Needs>,
  engine: Layer.Layer<Host | NoInfer<Needs>, unknown>
): Promise<App<Out>> => {
  const runtime = ManagedRuntime.make(engine)
  const context = await runtime.context()
  let isClosed = false
  const whileOpen = Effect.suspend(() => isClosed ? Effect.fail(closed(pipeline.name)) : Effect.void)
  const promise = async <A, E2>(effect: Effect.Effect<A, E2, Host | Needs>, signal?: AbortSignal): Promise<A> => {
    if (isClosed) throw closed(pipeline.name)
    const exit = await runtime.runPromiseExit(effect, signal === undefined ? {} : { signal })
    if (Exit.isSuccess(exit)) return exit.value
    if (signal?.aborted === true) throw signal.reason
    throw isClosed && Cause.hasInterruptsOnly(exit.cause) ? closed(pipeline.name) : thrownBy(exit.cause)
  }
  const iterable = <A, E2>(parts: Stream.Stream<A, E2, Host | Needs>, signal?: AbortSignal): AsyncIterable<A> => {
    const open = Stream.concat(Stream.fromEffectDrain(whileOpen), parts)
    if (signal === undefined) return Stream.toAsyncIterableWith(open, context)
    // What is at hand would come before the interruption: a signal that has aborted already is looked at first.
    const wanted = Effect.suspend(() => signal.aborted ? Effect.fail<unknown>(signal.reason) : Effect.void)
    return Stream.toAsyncIterableWith(Stream.concat(Stream.fromEffectDrain(wanted), Stream.interruptWhen(open, aborted(signal))), context)
  }
  // What the pipeline needs is what the layer provides, by the types above.
  const on = pipeline as unknown as Pipeline<Sources, Answered, E, Needs>
  const close = () => {
    isClosed = true
    return runtime.dispose()
  }
  const app: App<Answered> = {
    run: ({ observe, signal, ...options } = {}) => promise(on.runWith({ ...options, ...observing(observe) }), signal),
    plan: ({ signal, ...options } = {}) => promise(on.plan(options), signal),
    diff: ({ signal } = {}) => promise(on.diff, signal),
    watch: ({ observe, signal, ...options }) =>
      promise(on.watch({ ...options, ...observing(observe) }), signal).catch(
        (error: unknown) => {
          if (!signal.aborted) throw error
        }
      ),
    promote: ({ signal, ...options } = {}) => promise(on.promote(options), signal),
    rollback: ({ signal } = {}) => promise(on.rollback, signal),
    dropCandidate: ({ signal } = {}) => promise(on.dropCandidate, signal),
    generations: ({ signal } = {}) => promise(on.generations, signal),
    retrieve: (question, { signal, ...options } = {}) => promise(on.retrieve(question, options), signal),
    ask: (question, { signal, ...options } = {}) => promise(on.ask(question, options), signal),
    stream: (question, { signal, ...options } = {}) => iterable(on.stream(question, options), signal),
    chat: (question, { signal, ...options } = {}) =>
      iterable(
        Stream.unwrap(Effect.flatMap(on.chat(options), (converse) =>
          Effect.map(converse(question), ({ contexts, parts }) =>
            Stream.concat(Stream.succeed<StreamPart>({ _tag: "contexts", contexts }), parts)))).pipe(
            Stream.scoped
          ),
        signal
      ),
    batch: (questions, { signal, ...options } = {}) =>
      iterable(
        on.batch(
          Symbol.asyncIterator in questions
            ? Stream.fromAsyncIterable(questions, (thrown) => thrown)
            : Stream.fromIterable(questions),
          options
        ),
        signal
      ),
    evaluate: ({ observe, signal, ...options } = {}) => promise(on.evaluate({ ...options, ...observing(observe) }), signal),
    close,
    [Symbol.asyncDispose]: close
  }
  return app as unknown as App<Out> // `on` stands for the pipeline: what it gives is `Out`
}

const observing = <Event>(observe: ((event: Event) => void) | undefined) =>
  observe === undefined ? {} : { observe: (event: Event) => Effect.sync(() => observe(event)) }

const closed = (name: string): ServiceError =>
  new ServiceError({
    code: "FAILED_PRECONDITION",
    message: `the app of pipeline ${name} is closed`,
    fix: "close it when all calls are done, or open() the pipeline again"
  })

/** What a call rejects with: an error of the pipeline's as it is, and what is thrown in the place of an error as one. */
const thrownBy = <E>(cause: Cause.Cause<E>): unknown => {
  const thrown = Cause.squash(cause)
  return thrown instanceof Error || Cause.hasFails(cause) ? thrown : ServiceError.internal(String(thrown), thrown)
}

const aborted = (signal: AbortSignal): Effect.Effect<never, unknown> =>
  Effect.callback<never, unknown>((resume) => {
    const end = () => resume(Effect.fail(signal.reason))
    if (signal.aborted) return end()
    signal.addEventListener("abort", end, { once: true })
    return Effect.sync(() => signal.removeEventListener("abort", end))
  })
