import { createHash } from "node:crypto"
import { Effect, Stream } from "effect"
import type { BatchJob } from "../domain/batch/BatchPrediction.ts"
import type { ServiceError } from "../domain/Errors.ts"
import { Generator } from "../ports/Generator.ts"
import { generateStage, retrieveFrom } from "./AskPipeline.ts"
import type { BatchQuestion } from "./batch/Questions.ts"
import type { Definition } from "./definition/Definition.ts"
import { corpusOf } from "./RunPipeline.ts"
import type { BatchSettings } from "./definition/StageSettings.ts"
import { Models } from "./Services.ts"
import { answerByJob, answerNow, type BatchAnswered, type BatchRetrieved, orFailed } from "./stages/Batch.ts"
import { withFileOffsets } from "./stages/FileOffsets.ts"

export interface BatchPipelineOptions {
  /** Identifies the questions: equal for equal questions. Their batch job is found by it again. */
  readonly questionsId: string
  /** Whether a question is answered already and can be left out. */
  readonly done?: (customId: string) => boolean
  /** Questions answered concurrently. Default 4. */
  readonly concurrency?: number
  /** Called for each change of the batch job, where one is used. */
  readonly observe?: (job: BatchJob) => Effect.Effect<void>
}

/** Settings for answering a file of questions: those of the `batch` stage, or else of the stage for a single question. */
export const batchSettings = (pipeline: Definition): Effect.Effect<Omit<BatchSettings, "_tag">, ServiceError> => {
  const batch = pipeline.stages.find((stage) => stage._tag === "batch")
  if (batch !== undefined) {
    const { _tag, ...settings } = batch
    return Effect.succeed(settings)
  }
  return Effect.map(generateStage(pipeline), ({ ground: _, ...settings }) => settings)
}

/**
 * Answers many questions from a pipeline's corpus, in their order, each with its citations or the reason it has no
 * answer. A hosted model with `staging` answers in one batch job, which a later run with the same questions finds again;
 * any other model answers at once.
 */
export const batchPipeline = Effect.fn("batchPipeline")(function*<E, R>(
  pipeline: Definition,
  questions: Stream.Stream<BatchQuestion, E, R>,
  { concurrency = 4, done = () => false, observe, questionsId }: BatchPipelineOptions
) {
  const { instruction, maxTokens, model, staging, ...sampling } = yield* batchSettings(pipeline)
  const options = {
    sampling: { ...sampling, ...(maxTokens === undefined ? {} : { maxTokens }) },
    instruction
  }
  const models = yield* Models
  const { name } = yield* corpusOf(pipeline)
  const retrieve = ({ carried, customId, ...question }: BatchQuestion) =>
    Effect.map(
      retrieveFrom(pipeline, question),
      (retrieved): BatchRetrieved => ({ ...retrieved, ...(carried === undefined ? {} : { carried }), customId })
    )
  if (model._tag !== "hosted" || staging === undefined) {
    const generator = yield* models.generator(model)
    return Stream.mapEffect(
      Stream.filter(questions, ({ customId }) => !done(customId)),
      (question) => orFailed(question, Effect.flatMap(retrieve(question), answerNow(options))).pipe(Effect.flatMap(located)),
      { concurrency }
    ).pipe(Stream.provideService(Generator, generator))
  }
  const id = createHash("sha256").update(JSON.stringify([questionsId, name, pipeline.stages])).digest("hex").slice(0, 16)
  const answers = yield* answerByJob(
    Stream.mapEffect(questions, (question) => orFailed(question, retrieve(question)), { concurrency }),
    {
      ...options,
      model: model.model,
      folder: `${staging.replace(/\/+$/, "")}/sluice-batch-${id}`,
      displayName: `sluice ${pipeline.name.slice(0, 80)} ${id}`,
      grounded: models.grounded,
      ...(observe === undefined ? {} : { observe })
    }
  )
  return Stream.filter(answers, ({ customId }) => !done(customId)).pipe(Stream.mapEffect(located))
})

/** Citations of local files point into them, like those of a single answer. */
const located = (answered: BatchAnswered) =>
  answered.answer === undefined
    ? Effect.succeed(answered)
    : Effect.map(withFileOffsets(answered.answer), (answer): BatchAnswered => ({ ...answered, answer }))

export type { BatchAnswered, BatchQuestion }
