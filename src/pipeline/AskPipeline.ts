import { Context, Effect, Stream } from "effect"
import type { StreamPart } from "../domain/Answer.ts"
import { type SecretError, ServiceError } from "../domain/Errors.ts"
import type { Files } from "../ports/Files.ts"
import type { Retrieval } from "../ports/Retrieval.ts"
import type { TextPool } from "../text/TextPool.ts"
import { type Extensions, ExtensionsInUse } from "./Extensions.ts"
import type { Definition } from "./definition/Definition.ts"
import { withCorpus } from "./RunPipeline.ts"
import { type GenerateSettings, queryModel, searchesItself, type StageValue } from "./definition/StageSettings.ts"
import type { Models } from "./Services.ts"
import { diversify } from "./stages/Diversify.ts"
import { expand } from "./stages/Expand.ts"
import { type Answered, generateBySettings, searching } from "./stages/Generate.ts"
import { rank } from "./stages/Rank.ts"
import {
  CorpusInUse,
  hasContexts,
  type Question,
  retrieve,
  type Retrieved,
  type RetrieveOptions,
  RetrieveOverrides,
  strangerAmong
} from "./stages/Retrieve.ts"
import { retrieveEach, writtenBy } from "./stages/RetrieveEach.ts"
import { type AnyStage, runStage, runStages, sequence, type Stage } from "./stages/Stage.ts"

/** A stage of a pipeline file, with its services and errors. */
type FileStage<In, Out> = Stage<In, Out, ServiceError | SecretError, Retrieval | Files | Models | CorpusInUse | TextPool>

/** Stages of a file up to the contexts: retrieve, and any that rank, diversify or expand. */
export const contextStages = (pipeline: Definition, extensions: Extensions): FileStage<Question, Retrieved> => {
  if (extensions.composed !== undefined) return extensions.composed.toContexts as FileStage<Question, Retrieved> // composed in this order
  const stages = stagesIn(pipeline, extensions)
  const answering = stages.findIndex(({ gives }) => gives === "answered")
  return sequence(stages.slice(0, answering === -1 ? stages.length : answering).map(({ stage }) => stage)) as FileStage<Question, Retrieved> // the schema holds stages to their order
}

/**
 * The stages of a composition up to the contexts. One that says of itself that it answers is not run; any other function is
 * run to see. What the stages before the answer gave last is taken.
 */
export const contextsOf = (name: string, parts: ReadonlyArray<AnyStage>): Stage<Question, Retrieved, unknown, unknown> => {
  const answering = parts.findIndex(({ gives, settings, stream }) =>
    gives === "answered" || settings?._tag === "generate" || stream !== undefined
  )
  const before = answering === -1 ? parts : parts.slice(0, answering)
  return Effect.fnUntraced(function*(question: Question) {
    // What a question carries is no answer: it must not end the stages early, a filter of contexts among them.
    const carried = fieldsOf(question).answer
    let value: unknown = question
    let retrieved: Retrieved | undefined
    for (const [at, stage] of before.entries()) {
      value = yield* runStage(stage, at, value)
      const { answer, ...rest } = fieldsOf(value)
      if (answer === undefined || answer === carried) {
        if (hasContexts(value)) retrieved = value
      } else {
        if (retrieved === undefined && hasContexts(rest)) retrieved = rest
        break
      }
    }
    return retrieved ?? (yield* cannotRetrieve(name))
  })
}

const fieldsOf = (value: unknown): { readonly answer?: unknown } => (typeof value === "object" && value !== null ? value : {})

const cannotRetrieve = (name: string): ServiceError =>
  new ServiceError({
    code: "FAILED_PRECONDITION",
    message: `pipeline ${name} has no stage that gives contexts, so it cannot retrieve`,
    fix: "put retrieve() among its stages, or one of your own that adds `contexts`"
  })

/** Each stage of a file except `chat` and `batch`, and the kind of value it returns. */
const stagesIn = (
  { stages }: Definition,
  extensions: Extensions
): ReadonlyArray<{ readonly stage: AnyStage; readonly gives: StageValue }> =>
  stages.flatMap((settings) => {
    switch (settings._tag) {
      case "retrieve": {
        const { _tag, queries, ...options } = settings
        const model = queryModel(stages)
        const stage = queries === undefined || model === undefined
          ? retrieve(options)
          : retrieveEach({ ...options, queries: writtenBy(model, queries) })
        return [{ stage, gives: "retrieved" }]
      }
      case "rank":
        return [{ stage: rank(settings.rank), gives: "retrieved" }]
      case "diversify":
        return [{ stage: diversify(settings), gives: "retrieved" }]
      case "expand": {
        const { _tag, ...options } = settings
        return [{ stage: expand(options), gives: "retrieved" }]
      }
      case "generate":
        return [{ stage: generateBySettings(settings), gives: "answered" }]
      case "own": {
        const definition = extensions.stages[settings.kind]
        return definition === undefined ? [] : [{ stage: definition(settings.settings as never), gives: definition.gives }] // decoded by its own schema
      }
      case "chat":
      case "batch":
        return []
    }
  })

/** All stages of a file, from question to answer; undefined where none answers. */
export const answerStages = (pipeline: Definition, extensions: Extensions): FileStage<Question, Answered> | undefined => {
  if (extensions.composed !== undefined) return extensions.composed.toAnswer as FileStage<Question, Answered> // composed in this order
  const settings = generateSettings(pipeline)
  if (settings === undefined) return undefined
  if (searchesItself(settings) && settings.model._tag === "hosted") {
    const stage = pipeline.stages.find(({ _tag }) => _tag === "retrieve")
    if (stage?._tag !== "retrieve") return searching(settings, settings.model.model)
    const { _tag, queries: _, ...options } = stage
    return searching(settings, settings.model.model, options)
  }
  const stages = stagesIn(pipeline, extensions)
  const all = stages.some(({ gives }) => gives === "answered") ? stages : [...stages, { stage: generateBySettings(settings) }]
  return sequence(all.map(({ stage }) => stage)) as FileStage<Question, Answered> // composed in this order
}

/** A chat stage answers a single question like the first one of a conversation. */
const generateSettings = ({ stages }: Definition): GenerateSettings | undefined => {
  const generate = stages.find((stage) => stage._tag === "generate")
  if (generate !== undefined) return generate
  const chat = stages.find((stage) => stage._tag === "chat")
  if (chat === undefined) return undefined
  const { turns: _, ...settings } = chat
  return { ...settings, _tag: "generate" }
}

/** Settings a pipeline answers with. A pipeline without a generate stage is `FAILED_PRECONDITION`. */
export const generateStage = (pipeline: Definition): Effect.Effect<Omit<GenerateSettings, "_tag">, ServiceError> => {
  const settings = generateSettings(pipeline)
  return settings === undefined ? Effect.fail(cannotAnswer(pipeline)) : Effect.succeed(settings)
}

export const cannotAnswer = ({ name }: Definition): ServiceError =>
  new ServiceError({
    code: "FAILED_PRECONDITION",
    message: `pipeline ${name} has no generate stage, so it cannot answer`,
    fix: "add a generate stage (`- generate: {}` in a file, generate() in code), or only retrieve"
  })

/** Runs a pipeline's stages up to the contexts: retrieve, and any rankers. `overrides` take precedence over the file. */
export const retrieveFrom = Effect.fn("retrieveFrom")(function*(
  pipeline: Definition,
  question: Question,
  overrides: RetrieveOptions = {}
) {
  return yield* onCorpus(pipeline, overrides, contextStages(pipeline, yield* ExtensionsInUse)(question))
})

/** Runs all of a pipeline's stages and answers. A pipeline without a generate stage is `FAILED_PRECONDITION`. */
export const askPipeline = Effect.fn("askPipeline")(function*(
  pipeline: Definition,
  question: Question,
  overrides: RetrieveOptions = {}
) {
  const stages = answerStages(pipeline, yield* ExtensionsInUse)
  if (stages === undefined) return yield* cannotAnswer(pipeline)
  return yield* onCorpus(pipeline, overrides, stages(question))
})

/** Provides the pipeline's corpus, and a question's overrides, to its stages. */
export const onCorpus = <A, E, R>(pipeline: Definition, overrides: RetrieveOptions, stages: Effect.Effect<A, E, R>) =>
  withCorpus(pipeline, (name) => {
    const strange = strangerAmong(overrides)
    return strange === undefined
      ? Effect.updateContext(stages, (around: Context.Context<Exclude<R, CorpusInUse>>) =>
        // All that the stages need is around, or added here.
        around.pipe(Context.add(CorpusInUse, name), Context.add(RetrieveOverrides, overrides)) as Context.Context<R>)
      : Effect.fail(strange)
  })

/**
 * Streams the answer of composed stages: all but the last run first; the contexts that they found are the first part, and the last
 * stage streams the rest. A last stage that cannot stream returns its answer as one part; stages that give no answer are
 * `FAILED_PRECONDITION`.
 */
export const streamStages = <E, R>(
  pipeline: Definition,
  stages: Stage<Question, Answered, E, R>,
  question: Question
): Effect.Effect<Stream.Stream<StreamPart, E, R>, E | ServiceError, R> => {
  const parts = stages.parts ?? [stages as AnyStage]
  const last = parts.at(-1)
  if (last?.stream === undefined) {
    return Effect.flatMap(stages(question), ({ answer, contexts = [] }: Partial<Answered> = {}) =>
      answer === undefined
        ? Effect.fail(cannotAnswer(pipeline))
        : Effect.succeed(
          Stream.fromIterable<StreamPart>([
            { _tag: "contexts", contexts },
            { _tag: "text", text: answer.text },
            { _tag: "done", answer }
          ])
        ))
  }
  const { stream } = last
  const streamed = stream as (input: Question) => Stream.Stream<StreamPart, E, R> // likewise
  return Effect.map(
    runStages<Question, Question & Partial<Retrieved>, E, R>(parts.slice(0, -1), question),
    (input) => Stream.concat(Stream.succeed<StreamPart>({ _tag: "contexts", contexts: input.contexts ?? [] }), streamed(input))
  )
}
