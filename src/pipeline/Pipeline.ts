import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { Effect, Result, type Scope, Stream } from "effect"
import type { StreamPart } from "../domain/Answer.ts"
import { definedThroughout } from "../domain/Defined.ts"
import { type SecretError, ServiceError, type StateError } from "../domain/Errors.ts"
import { principalRule } from "../domain/rag/RagRules.ts"
import type { Report } from "../domain/Report.ts"
import { builtInSources } from "../domain/sources/BuiltInSources.ts"
import type { Generation } from "../ports/Ledger.ts"
import type { Files } from "../ports/Files.ts"
import type { Retrieval } from "../ports/Retrieval.ts"
import type { Secrets } from "../ports/Secrets.ts"
import { type Chunker, isChunkerDefinition } from "../ports/Chunker.ts"
import { isParserDefinition, type Parser } from "../ports/Parser.ts"
import { type AnyConnectorDefinition, isConnectorDefinition, type Source } from "../ports/Source.ts"
import type { TextPool } from "../text/TextPool.ts"
import { answerStages, cannotAnswer, contextsOf, contextStages, onCorpus, streamStages } from "./AskPipeline.ts"
import type { BatchPipelineOptions, BatchQuestion } from "./BatchPipeline.ts"
import { chatPipeline, type ConversationTurn } from "./ChatPipeline.ts"
import { type EvaluateOptions, type Evaluation, evaluatePipeline } from "./eval/Evaluation.ts"
import type { Extensions } from "./Extensions.ts"
import { decode } from "./definition/Decode.ts"
import { type LoadedPipeline, loadPipeline } from "./definition/Load.ts"
import { formatPath, PipelineInvalid, type Problem, type ValuePath } from "./definition/PipelineInvalid.ts"
import { invalidOn, invalidPipeline, issueOf, placedError } from "./definition/Place.ts"
import type { Access, Host, HostedModels, OpenError, PipelineParts } from "./Host.ts"
import { openPipeline } from "./Open.ts"
import type { Definition, PipelineFile } from "./definition/Definition.ts"
import {
  diffPipeline,
  dropPipelineCandidate,
  generationsOf,
  type PipelineRunOptions,
  planPipeline,
  promotePipeline,
  rollbackPipeline,
  runPipeline
} from "./RunPipeline.ts"
import { functionStage, writtenStage } from "./definition/StageSettings.ts"
import type { Models, Services } from "./Services.ts"
import { type BatchAnswered, orFailed } from "./stages/Batch.ts"
import type { FollowUp } from "./stages/Condense.ts"
import { type Answered, generate } from "./stages/Generate.ts"
import { type CorpusInUse, type Question, retrieve, type Retrieved, type RetrieveOptions } from "./stages/Retrieve.ts"
import { type AnyStage, compose, placeOfFunction, sequence, type Stage } from "./stages/Stage.ts"
import type { GenerationStatus, Switched } from "./sync/Generations.ts"
import type { Plan, PlanOptions } from "./sync/Plan.ts"
import type { SyncOptions } from "./sync/Session.ts"
import { reopening } from "./sync/Target.ts"
import type { WatchOptions } from "./watch/Watch.ts"
import { watchPipeline } from "./watch/WatchPipeline.ts"

/** Errors of running or asking a pipeline, besides those of its own stages. */
export type PipelineError = OpenError | ServiceError | StateError | SecretError

/** Options of a run: {@link SyncOptions}, which sources to list, and what to do about another writer. */
export interface RunOptions
  extends SyncOptions, Pick<PipelineRunOptions, "sources">, Omit<Extract<Access, { readonly mode: "write" }>, "mode">
{}

/**
 * A pipeline: where documents come from, the corpus they go into, and the stages that answer from it. A value that
 * carries its types: the names of its sources, what `ask` returns, what its own stages fail with, and what its sources
 * and stages need besides an engine (`R`).
 *
 * Every method needs a {@link Host}: `Embedded.layer` or `Vertex.layer`. A pipeline that names a hosted model also needs
 * {@link HostedModels}, which the embedded engine does not provide: such a program does not compile.
 */
export interface Pipeline<out Sources extends string = string, out Out = Answered, out E = never, out R = never> {
  readonly name: string
  readonly sources: ReadonlyArray<Sources>
  /** The pipeline as a plain value: to print, compare and hash. It leaves custom stages out. */
  readonly definition: Definition
  /** Connectors, parsers, chunkers and stages of the pipeline that do not come with Sluice. */
  readonly extensions: Extensions
  /** Brings the corpus in line with the sources. */
  readonly run: Effect.Effect<Report, PipelineError, Host | R>
  /** Runs like {@link run}, with options. */
  readonly runWith: (options: RunOptions) => Effect.Effect<Report, PipelineError, Host | R>
  /** Returns what {@link run} would do. Changes nothing. */
  readonly plan: (options?: Omit<PlanOptions, "maxEmbeddingRequestsPerMinute">) => Effect.Effect<Plan, PipelineError, Host | R>
  /**
   * Makes the candidate that `runWith({ candidate: true })` built the live corpus, in one step: every reader sees either
   * the one or the other. The previous corpus is kept, as `corpus.keepGenerations` says. `yes` promotes even if the
   * candidate lacks more files than `import.maxDelete` allows.
   */
  readonly promote: (options?: { readonly yes?: boolean }) => Effect.Effect<Switched, PipelineError, Host | R>
  /** Makes the previous live corpus live again, in one step; the corpus that was live becomes the candidate. */
  readonly rollback: Effect.Effect<Switched, PipelineError, Host | R>
  /** Deletes the candidate. */
  readonly dropCandidate: Effect.Effect<Generation, PipelineError, Host | R>
  /** The pipeline's corpora: the live one, a candidate, and those kept. */
  readonly generations: Effect.Effect<ReadonlyArray<GenerationStatus>, PipelineError, Host | R>
  /** Compares the corpus with what the ledger says was stored there. */
  readonly diff: Effect.Effect<Effect.Success<ReturnType<typeof diffPipeline>>, PipelineError, Host | R>
  /** Keeps the corpus in line with the sources until it is interrupted. */
  readonly watch: (
    options?: Omit<WatchOptions, "interval">
  ) => Effect.Effect<Effect.Success<ReturnType<typeof watchPipeline>>, PipelineError, Host | R>
  /**
   * The stages up to the contexts: those before the one that answers, or all of them where none does. Stages of which none
   * gives contexts are `FAILED_PRECONDITION`.
   */
  readonly retrieve: (question: string | Question, options?: RetrieveOptions) => Effect.Effect<Retrieved, PipelineError | E, Host | R>
  /** Runs all the stages. */
  readonly ask: (question: string | Question, options?: RetrieveOptions) => Effect.Effect<Out, PipelineError | E, Host | R>
  /**
   * Streams the contexts as soon as they are found, then the answer as it is generated; the last part carries the complete answer.
   * A last stage that cannot stream returns the answer as one part.
   */
  readonly stream: Out extends Answered
    ? (question: string | Question, options?: RetrieveOptions) => Stream.Stream<StreamPart, PipelineError | E, Host | R>
    : never
  /**
   * Opens a conversation, for as long as the scope is open: a question may refer to the earlier exchanges passed with it. The stage that
   * answers is one that streams: `generate`, or `generateBy` as the last one, before which questions are completed without a model.
   */
  readonly chat: (options?: RetrieveOptions) => Effect.Effect<
    (question: FollowUp) => Effect.Effect<ConversationTurn, PipelineError | E>,
    PipelineError,
    Host | R | Scope.Scope
  >
  /**
   * Answers many questions concurrently, each with its citations or the reason it has no answer, which may be an error of a custom
   * stage. An error of the engine that every question would meet ends the batch.
   */
  readonly batch: <E2, R2>(
    questions: Stream.Stream<BatchQuestion, E2, R2>,
    options?: Pick<BatchPipelineOptions, "concurrency" | "done">
  ) => Stream.Stream<BatchAnswered, PipelineError | E2, Host | R | R2>
  /** Runs the pipeline's tests, or those given, and compares the results with what the tests expect. */
  readonly evaluate: (options?: Partial<EvaluateOptions>) => Effect.Effect<Evaluation, PipelineError, Host | R>
}

/** Services a corpus needs of the engine. */
type CorpusNeeds<C extends PipelineFile["corpus"]> = C extends { readonly embedding: { readonly model: unknown } } ? HostedModels : never

/** Services that the connectors of the sources need. */
type SourceNeeds<S extends Readonly<Record<string, Source<unknown>>>> = {
  [K in keyof S]: S[K] extends Source<infer R> ? R : never
}[keyof S]

/** Services that the parsers need. */
type ParserNeeds<P extends ReadonlyArray<Parser<unknown>>> = {
  [K in keyof P]: P[K] extends Parser<infer R> ? R : never
}[number]

/** Services that the chunker needs. */
type ChunkerNeeds<K extends Chunker<unknown>> = K extends Chunker<infer R> ? R : never

/** Services that a pipeline provides to its stages. */
type Provided = Retrieval | Files | Models | CorpusInUse | TextPool

/** Parts of a pipeline; absent ones have the defaults of a pipeline file. */
export interface PipelineOptions<
  C extends PipelineFile["corpus"],
  S extends Readonly<Record<string, Source<unknown>>>,
  Out,
  E,
  R,
  P extends ReadonlyArray<Parser<unknown>> = ReadonlyArray<Parser>,
  K extends Chunker<unknown> = Chunker
> extends Omit<PipelineFile, "name" | "use" | "engine" | "corpus" | "sources" | "chunking" | "parsers" | "stages"> {
  readonly corpus: C
  readonly sources: S
  /** How documents are cut; `chunker` is a custom chunker, as `defineChunker` makes it. */
  readonly chunking?: Omit<NonNullable<PipelineFile["chunking"]>, "chunker"> & { readonly chunker?: K }
  /** Custom parsers, as `defineParser` makes them; the first that names a file reads it. Default: none. */
  readonly parsers?: P
  /** Stages from question to answer. Default: `compose(retrieve(), generate())`. */
  readonly stages?: Stage<Question, Out, E, R>
}

/**
 * Makes a pipeline in TypeScript, with every default filled in. Throws {@link PipelineInvalid} with every broken rule;
 * problems are located by their path in the value.
 *
 * @example
 * ```ts
 * const handbook = Pipeline.make("handbook", {
 *   corpus: { displayName: "Handbook" },
 *   sources: { docs: local("./docs") },
 *   stages: compose(retrieve({ topK: 20 }), onePerFile, generate())
 * })
 * const program = Effect.gen(function*() {
 *   yield* handbook.run
 *   return yield* handbook.ask("How many days carry over?")
 * })
 * program.pipe(Effect.provide(Embedded.layer({ dataDir: ".sluice" })))
 * ```
 */
export const make = <
  const C extends PipelineFile["corpus"],
  const S extends Readonly<Record<string, Source<unknown>>>,
  Out = Answered,
  E = never,
  R = never,
  const P extends ReadonlyArray<Parser<unknown>> = readonly [],
  K extends Chunker<unknown> = Chunker
>(
  name: string,
  { chunking: { chunker, ...chunking } = {}, parsers, sources, stages, ...options }: PipelineOptions<C, S, Out, E, R, P, K>
): Pipeline<keyof S & string, Out, E, SourceNeeds<S> | ParserNeeds<P> | ChunkerNeeds<K> | CorpusNeeds<C> | Exclude<R, Provided>> => {
  const parts = stages?.parts ?? (stages === undefined ? [] : [stages as AnyStage])
  const strangers = [...strangersIn(sources, parsers ?? [], chunker, parts), ...namesakesIn(sources, parsers ?? [])]
  const isKnown = (...path: ValuePath): boolean => !strangers.some((problem) => formatPath(problem.path) === formatPath(path))
  const given = Object.entries(sources).filter(([id]) => isKnown("sources", id))
  const givenParsers = (parsers ?? []).filter((_, at) => isKnown("parsers", at))
  const givenChunker = isKnown("chunking", "chunker") ? chunker : undefined
  const connectors = Object.fromEntries(given.map(([, { definition }]) => [definition.kind, definition]))
  const own = Object.fromEntries(Object.entries(connectors).filter(([kind]) => !(kind in builtInSources)))
  const chunkers = givenChunker === undefined ? {} : { [givenChunker.definition.kind]: givenChunker.definition }
  const ownParsers = Object.fromEntries(givenParsers.map(({ definition }) => [definition.kind, definition]))
  const written = definedThroughout({
    ...options,
    name,
    sources: Object.fromEntries(given.map(([id, { definition, settings }]) => [id, { [definition.kind]: settings }])),
    chunking: {
      ...chunking,
      chunker: givenChunker === undefined ? undefined : { [givenChunker.definition.kind]: givenChunker.settings }
    },
    parsers: parsers === undefined ? undefined : givenParsers.map(({ definition, settings }) => ({ [definition.kind]: settings })),
    // Stages that a file could name are checked by its rules. Those between them are functions.
    stages: parts.every((stage) => stage?.settings === undefined)
      ? undefined
      : parts.map((stage) => stage?.settings === undefined ? { [functionStage]: {} } : writtenStage(stage.settings))
  })
  const found = decode(written, { connectors: own, parsers: ownParsers, chunkers, stages: { [functionStage]: placeOfFunction } })
  const problems = [...strangers, ...(Result.isFailure(found) ? found.failure : [])]
  if (Result.isFailure(found) || problems.length > 0) {
    throw new PipelineInvalid({ file: name, issues: problems.map((problem) => issueOf(name, problem)) })
  }
  const decoded = found.success
  const definition = { ...decoded, stages: decoded.stages.filter(({ _tag }) => _tag !== "own") }
  // The default composition gives what `Out` says by default.
  const all = (stages === undefined ? compose(retrieve(), generate()) : sequence(parts)) as unknown as Stage<Question, Out, E, R>
  const toContexts = contextsOf(name, all.parts ?? []) as ReturnType<typeof contextStages> // what they need and fail with is in `R` and `E`
  const extensions: Extensions = {
    connectors: own,
    parsers: ownParsers,
    chunkers,
    stages: {},
    composed: { toContexts: toContexts as AnyStage, toAnswer: all as AnyStage }
  }
  const invalid: PipelineParts["invalid"] = (problems) => invalidPipeline(definition, problems)
  return typed({ definition, extensions, connectors, anyEngine: true, invalid, stagesOf: () => all, contextStagesOf: () => toContexts })
}

/** What JavaScript gives in the place of a source, a parser, a chunker or a stage. */
const strangersIn = (
  sources: Readonly<Record<string, unknown>>,
  parsers: ReadonlyArray<unknown>,
  chunker: unknown,
  stages: ReadonlyArray<unknown>
): ReadonlyArray<Problem> => [
  ...Object.entries(sources).flatMap(([id, source]) =>
    hasDefinition(source, isConnectorDefinition) ? [] : [{
      path: ["sources", id],
      rule: "is no source",
      fix: "call a connector: local(\"./docs\"), with local of sluice/connectors, or what defineConnector gave"
    }]
  ),
  ...parsers.flatMap((parser, at) =>
    hasDefinition(parser, isParserDefinition) ? [] : [{ path: ["parsers", at], rule: "is no parser", fix: "call what defineParser gave" }]
  ),
  ...(chunker === undefined || hasDefinition(chunker, isChunkerDefinition)
    ? []
    : [{ path: ["chunking", "chunker"], rule: "is no chunker", fix: "call what defineChunker gave" }]),
  ...stages.flatMap((stage, at) =>
    typeof stage === "function" ? [] : [{ path: ["stages", at], rule: "is no stage", fix: "write compose(retrieve(), generate())" }]
  )
]

/**
 * Sources and parsers whose kind is another definition's. A definition is found by its kind: one of them would stand in for the other, with
 * the other's documents.
 */
const namesakesIn = (
  sources: Readonly<Record<string, Source<unknown>>>,
  parsers: ReadonlyArray<Parser<unknown>>
): ReadonlyArray<Problem> => {
  const problemsOf = (uses: ReadonlyArray<readonly [ValuePath, Source<unknown> | Parser<unknown>]>): ReadonlyArray<Problem> => {
    const first = new Map<string, { readonly definition: unknown; readonly path: ValuePath }>()
    return uses.flatMap(([path, use]): ReadonlyArray<Problem> => {
      const definition = use?.definition
      if (definition === undefined) return []
      const known = first.get(definition.kind)
      if (known === undefined) first.set(definition.kind, { definition, path })
      return known === undefined || known.definition === definition ? [] : [{
        path,
        rule: `is of kind ${definition.kind}, which ${formatPath(known.path)} has of another definition`,
        fix: "give each its own kind, or make both with one definition"
      }]
    })
  }
  const ofBuiltIn = Object.entries(sources).flatMap(([id, source]): ReadonlyArray<Problem> => {
    const definition = source?.definition
    const builtIn = definition === undefined ? undefined : Object.entries(builtInSources).find(([kind]) => kind === definition.kind)
    return builtIn === undefined || builtIn[1] === definition?.settings ? [] : [{
      path: ["sources", id],
      rule: `is of kind ${builtIn[0]}, which is the name of a source that comes with Sluice`,
      fix: "give it another kind"
    }]
  })
  return [
    ...ofBuiltIn,
    ...problemsOf(Object.entries(sources).map(([id, source]) => [["sources", id], source] as const)),
    ...problemsOf(parsers.map((parser, at) => [["parsers", at], parser] as const))
  ]
}

const hasDefinition = (value: unknown, isDefinition: (value: unknown) => boolean): boolean =>
  typeof value === "object" && value !== null && "definition" in value && isDefinition(value.definition)

/** Makes a pipeline of a loaded file, with the connectors that its sources may name. */
export const fromFile = (
  loaded: Pick<LoadedPipeline, "extensions" | "invalid" | "pipeline">,
  connectors: Readonly<Record<string, AnyConnectorDefinition>>
): Pipeline<string, Answered, never, never> => typed<string, Answered, never, never>(filed(loaded, connectors))

const filed = (
  { extensions, invalid, pipeline }: Pick<LoadedPipeline, "extensions" | "invalid" | "pipeline">,
  connectors: Readonly<Record<string, AnyConnectorDefinition>>
): TypedParts<Answered, never, never> => ({
  definition: pipeline,
  extensions,
  connectors: { ...connectors, ...extensions.connectors },
  anyEngine: false,
  invalid,
  stagesOf: (definition) => answerStages(definition, extensions) as Stage<Question, Answered> | undefined, // what it needs is provided, and its errors are a pipeline's
  contextStagesOf: (definition) => contextStages(definition, extensions)
})

/** Makes the pipeline of a bundle, which answers from the bundle instead of from a corpus of an engine. */
export const fromBundle = (
  { bundle, extensions, invalid, pipeline }: Pick<LoadedPipeline, "extensions" | "invalid" | "pipeline"> & { readonly bundle: string }
): Pipeline<string, Answered, never, never> =>
  typed<string, Answered, never, never>({ ...filed({ extensions, invalid, pipeline }, {}), bundle })

interface TypedParts<Out, E, R> extends PipelineParts {
  /** Stages from question to answer, of the pipeline as an engine runs it; undefined where none answers. */
  readonly stagesOf: (definition: Definition) => Stage<Question, Out, E, R> | undefined
  /** Stages up to the contexts. */
  readonly contextStagesOf: (definition: Definition) => ReturnType<typeof contextStages>
}

const typed = <Sources extends string, Out, E, R>(
  { contextStagesOf, stagesOf, ...parts }: TypedParts<Out, E, R>
): Pipeline<Sources, Out, E, never> => {
  const within = <A, E2, R2>(
    access: Access,
    use: (definition: Definition) => Effect.Effect<A, E2, R2>
  ): Effect.Effect<A, E2 | OpenError, Host | Exclude<R2, Services | Secrets>> =>
    reopening(Effect.scoped(
      Effect.flatMap(openPipeline(parts, access), ({ definition, services }) =>
        Effect.provideContext(use(definition), services).pipe(
          Effect.mapError(placedError(invalidOn(parts.definition, definition.engine._tag, parts.invalid)))
        ))
    )) as Effect.Effect<
      A,
      E2 | OpenError,
      Host | Exclude<R2, Services | Secrets>
    > // the scope is closed here
  const read = { mode: "read" } as const
  const asked = <Q extends Question>(question: Q): Effect.Effect<Q, ServiceError> =>
    typeof question?.question !== "string"
      ? Effect.fail(ServiceError.invalid("question", "must be a text", "ask \"How many days?\", or { question: \"How many days?\" }"))
      // Absent, it is the owner; that of a visitor who is not signed in must not be taken for the owner's.
      : "principal" in question && question.principal === undefined
      ? Effect.fail(ServiceError.invalid("principal", principalRule.rule, principalRule.fix))
      : Effect.succeed(question)
  const asQuestion = (question: string | Question) => asked(typeof question === "string" ? { question } : question)

  const pipeline = {
    name: parts.definition.name,
    sources: Object.keys(parts.definition.sources),
    definition: parts.definition,
    extensions: parts.extensions,
    run: within({ mode: "write" }, (definition) => runPipeline(definition)),
    runWith: ({ waiting, waitMs, ...options }: RunOptions) =>
      within(
        { mode: "write", waiting, waitMs, of: options.candidate === true || options.replace === true ? "candidate" : "live" },
        (definition) => runPipeline(definition, options)
      ),
    plan: (options: Omit<PlanOptions, "maxEmbeddingRequestsPerMinute"> = {}) =>
      within({ mode: "read", of: options.candidate === true ? "candidate" : "live" }, (definition) => planPipeline(definition, options)),
    promote: (options: { readonly yes?: boolean } = {}) => within(read, (definition) => promotePipeline(definition, options)),
    rollback: within(read, rollbackPipeline),
    dropCandidate: within(read, dropPipelineCandidate),
    generations: within(read, generationsOf),
    diff: within(read, (definition) => diffPipeline(definition)),
    watch: (options: Omit<WatchOptions, "interval"> = {}) => within({ mode: "write" }, (definition) => watchPipeline(definition, options)),
    retrieve: (question: string | Question, options: RetrieveOptions = {}) =>
      within(read, (definition) => onCorpus(definition, options, Effect.flatMap(asQuestion(question), contextStagesOf(definition)))),
    ask: (question: string | Question, options: RetrieveOptions = {}) =>
      within(read, (definition) => {
        const stages = stagesOf(definition)
        return stages === undefined
          ? Effect.fail(cannotAnswer(definition))
          : onCorpus(definition, options, Effect.flatMap(asQuestion(question), stages))
      }),
    stream: (question: string | Question, options: RetrieveOptions = {}) =>
      Stream.unwrap(Effect.gen(function*() {
        const { definition, services } = yield* openPipeline(parts, read)
        const stages = stagesOf(definition)
        if (stages === undefined) return yield* cannotAnswer(definition)
        const input = yield* asQuestion(question)
        // The last stage streams after the corpus was provided to the earlier ones: it needs the same context.
        const answer = Effect.flatMap(Effect.context<R>(), (around) =>
          Effect.map(
            streamStages(definition, stages as unknown as Stage<Question, Answered, E, R>, input),
            Stream.provideContext(around)
          ))
        return yield* onCorpus(definition, options, answer).pipe(Effect.provideContext(services))
      })).pipe(Stream.scoped),
    chat: Effect.fnUntraced(function*(options: RetrieveOptions = {}) {
      const { definition, services } = yield* openPipeline(parts, read)
      const converse = yield* chatPipeline(definition, options).pipe(Effect.provideContext(services))
      const followUp = (question: FollowUp) =>
        Effect.filterOrFail(
          asked(question),
          ({ history }) => Array.isArray(history),
          () =>
            ServiceError.invalid(
              "history",
              "must be a list of the earlier exchanges, oldest first",
              "write history: [] for the first question"
            )
        )
      return (question: FollowUp) => Effect.flatMap(followUp(question), converse).pipe(Effect.provideContext(services))
    }),
    batch: <E2, R2>(
      questions: Stream.Stream<BatchQuestion, E2, R2>,
      { concurrency = 4, done = () => false }: Pick<BatchPipelineOptions, "concurrency" | "done"> = {}
    ) =>
      Stream.mapEffect(
        Stream.filter(questions, ({ customId }) => !done(customId)),
        (question) => orFailed(question, Effect.map(pipeline.ask(question), (answered) => ({ ...question, ...answered } as BatchAnswered))),
        { concurrency }
      ),
    evaluate: (options: Partial<EvaluateOptions> = {}) =>
      within(read, (definition) => evaluatePipeline(definition, { tests: definition.tests, ...options }))
  }
  // Each method's needs are those of `Pipeline`: the engine's services are provided above, and `R` is left.
  return pipeline as unknown as Pipeline<Sources, Out, E, never>
}

/**
 * Loads a pipeline from a file (YAML, JSON, or a module that exports one), with the connectors that its sources may name:
 * `Pipeline.load("pipeline.yaml", connectors)`, with `connectors` of `sluice/connectors`. Modules under the file's `use`
 * add their own. Fails with every broken rule of the file, each with line and column.
 */
export const load = (
  file: string,
  connectors: Readonly<Record<string, AnyConnectorDefinition>>
): Effect.Effect<Pipeline<string, Answered, never, never>, PipelineInvalid> =>
  loadPipeline(file).pipe(
    Effect.map((loaded) => fromFile(loaded, connectors)),
    Effect.provide([NodeFileSystem.layer, NodePath.layer])
  )
