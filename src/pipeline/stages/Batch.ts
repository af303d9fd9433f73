import { Effect, Pull, Stream } from "effect"
import type { Answer } from "../../domain/Answer.ts"
import { type BatchJob, batchModelName, type BatchSpec, hasEnded } from "../../domain/batch/BatchPrediction.ts"
import {
  type BatchResult,
  completionEnd,
  completionText,
  ownForm,
  readRow,
  type RowFailure,
  rowKey,
  rowOf
} from "../../domain/batch/BatchRow.ts"
import type { ChatEvent, ChatRequest, JsonRecord } from "../../domain/Chat.ts"
import { messageOf, SecretError, ServiceError, StateError } from "../../domain/Errors.ts"
import { parseExactly } from "../../domain/Json.ts"
import type { Context } from "../../domain/Retrieval.ts"
import { BatchPrediction } from "../../ports/BatchPrediction.ts"
import { ChatModel } from "../../ports/ChatModel.ts"
import { Generator, type GroundedRequest } from "../../ports/Generator.ts"
import { ObjectStore } from "../../ports/ObjectStore.ts"
import { pages } from "../../ports/Paging.ts"
import { TableStore } from "../../ports/TableStore.ts"
import { gatherResults, type Results } from "../../text/rows/JoinResults.ts"
import { lineGroups } from "../../text/rows/ReadRows.ts"
import type { BatchQuestion } from "../batch/Questions.ts"
import { PipelineInvalid } from "../definition/PipelineInvalid.ts"

/** A question of a batch with the contexts retrieved for it. */
export interface BatchRetrieved extends BatchQuestion {
  readonly contexts: ReadonlyArray<Context>
}

/** The result for one question: its answer, or the error that prevented one. */
export interface BatchAnswered extends BatchQuestion {
  readonly answer?: Answer
  readonly error?: RowFailure
}

type Options = Pick<GroundedRequest, "instruction" | "sampling">

/**
 * Turns a failure of one question into its result, that of a custom stage too; a failure that would hit every other question too
 * fails the batch.
 */
export const orFailed = <A, E, R>(
  question: BatchQuestion,
  done: Effect.Effect<A, E | ServiceError, R>
): Effect.Effect<A | BatchAnswered, E | ServiceError, R> =>
  Effect.catchIf(done, isOfQuestion, (error) =>
    Effect.succeed<BatchAnswered>({
      ...question,
      error: { code: error instanceof ServiceError ? error.code : "UNKNOWN", message: messageOf(error) }
    }))

const isOfQuestion = (error: unknown): boolean =>
  error instanceof ServiceError
    ? error.code !== "UNAUTHENTICATED" && error.code !== "PERMISSION_DENIED"
    : !(error instanceof StateError || error instanceof SecretError || error instanceof PipelineInvalid)

/** Answers a question at once, with the generator in context. */
export const answerNow = (options: Options) => (retrieved: BatchRetrieved): Effect.Effect<BatchAnswered, ServiceError, Generator> =>
  Effect.gen(function*() {
    const { contexts, ...question } = retrieved
    const generator = yield* Generator
    return { ...question, answer: yield* generator.answer({ ...options, question: question.question, contexts }) }
  }).pipe(Effect.withSpan("stage.batch"))

/** Options of a batch job of a hosted model. */
export interface BatchJobOptions extends Options {
  readonly model: string
  /** `gs://bucket/folder`, for this batch alone: an earlier attempt's objects there are continued from. */
  readonly folder: string
  /** Display name of the job; an existing job of this name that has not failed is taken for this one. */
  readonly displayName: string
  /** Makes a chat model answer from contexts and nothing else. */
  readonly grounded: (chat: ChatModel["Service"]) => Effect.Effect<Generator["Service"]>
  readonly observe?: (job: BatchJob) => Effect.Effect<void>
}

/** A line kept for a job: a question with its contexts, or one that already failed. */
type Kept = BatchRetrieved | BatchAnswered

/**
 * Answers all questions with one batch job. The questions with their contexts, and the prompts made of them, are written
 * to object storage first; the model's answers are then verified against those very contexts, like answers given at once.
 * Run again after an interruption, it continues with the first step not done yet; run again after the job has ended, it asks
 * the questions that failed once more, with one further job.
 */
export const answerByJob = Effect.fn("stage.batch.job")(function*<E, R>(retrieved: Stream.Stream<Kept, E, R>, options: BatchJobOptions) {
  if (options.sampling?.seed !== undefined && ownForm(batchModelName(options.model)) === "anthropic") {
    return yield* ServiceError.invalid("seed", `is not supported by ${options.model}`, "leave it out, or use another model")
  }
  const objects = yield* ObjectStore
  const tables = yield* TableStore
  const contexts = `${options.folder}/contexts.jsonl`
  const prompts = promptsOf(options.folder, 1)
  // An object exists only once it is complete. A failure of the questions themselves is reported instead of that of the upload.
  const keep = Effect.fnUntraced(function*<E2, R2>(uri: string, lines: Stream.Stream<object, E2, R2>) {
    if (yield* isThere(objects, uri)) return
    let failure: E2 | undefined
    const context = yield* Effect.context<R2>()
    const body = Stream.map(lines, (line) => `${JSON.stringify(line)}\n`).pipe(
      Stream.encodeText,
      Stream.provideContext(context),
      Stream.mapError((error) => {
        failure = error
        return new ServiceError({ code: "CANCELLED", message: `${uri} could not be made` })
      })
    )
    yield* objects.put(uri, body, { contentType: "application/jsonl" }).pipe(
      Effect.mapError((error): E2 | ServiceError => failure ?? error)
    )
  })
  yield* keep(contexts, retrieved)
  const kept = keptLines<Kept>(objects, contexts)
  yield* keep(prompts, Stream.filter(kept, needsModel).pipe(Stream.mapEffect((line) => promptRow(line, options))))

  const answerOf = Effect.fnUntraced(function*({ contexts, ...question }: BatchRetrieved, result: BatchResult | undefined) {
    if (result?.error !== undefined) return { ...question, error: result.error }
    const generator = yield* options.grounded(saying(options.model, result?.response ?? {}))
    return yield* orFailed(
      question,
      Effect.map(generator.answer({ question: question.question, contexts }), (answer): BatchAnswered => ({ ...question, answer }))
    )
  })
  const jobs: Array<Results> = []
  /** Every question as the jobs so far have answered it, with the prompt of those that a model was asked. */
  const answers = Stream.unwrap(Effect.gen(function*() {
    // One for each question with contexts, in their order.
    const next = yield* taking(keptLines<JsonRecord>(objects, prompts))
    return Stream.mapEffect(
      kept,
      Effect.fnUntraced(
        function*(line): Effect.fn.Return<{ readonly answered: BatchAnswered; readonly prompt?: JsonRecord }, ServiceError> {
          if (!("contexts" in line)) return { answered: line }
          const prompt = needsModel(line) ? yield* next : undefined
          if (prompt === undefined) return { answered: yield* answerOf(line, undefined) }
          const { row } = readRow(prompt, batchModelName(options.model))
          const results = row === undefined ? [] : jobs.flatMap((job) => job.take(rowKey(row)) ?? [])
          return { answered: yield* answerOf(line, results.at(-1) ?? missing(line.customId)), prompt }
        }
      )
    )
  }))
  const unanswered = answers.pipe(
    Stream.flatMap(({ answered, prompt }) => answered.error === undefined || prompt === undefined ? Stream.empty : Stream.succeed(prompt))
  )
  for (let n = 1; (yield* objects.head(promptsOf(options.folder, n))).size > 0; n++) {
    const { before, hasResults, job } = yield* followedJob(promptsOf(options.folder, n), options)
    if (hasResults) jobs.push(yield* gatherResults(job, { objects, tables }))
    else if (n === 1) return yield* endedWithout(job)
    // One new job a run: a question may fail each time.
    if (!before) break
    yield* keep(promptsOf(options.folder, n + 1), unanswered)
  }
  return Stream.map(answers, ({ answered }) => answered)
})

/** The prompts of a job: the first asks all questions, each further one those that the ones before it left without an answer. */
const promptsOf = (folder: string, job: number): string => `${folder}/prompts${job === 1 ? "" : `-${job}`}.jsonl`

const missing = (customId: string): BatchResult => ({
  customId,
  error: { code: "NOT_FOUND", message: "the job has no result for this question" }
})

/** Without contexts there is nothing to ask the model. */
const needsModel = (line: Kept): line is BatchRetrieved => "contexts" in line && line.contexts.length > 0

const isThere = (objects: ObjectStore["Service"], uri: string): Effect.Effect<boolean, ServiceError> =>
  objects.head(uri).pipe(Effect.as(true), Effect.catchIf(({ code }) => code === "NOT_FOUND", () => Effect.succeed(false)))

const keptLines = <A>(objects: ObjectStore["Service"], uri: string): Stream.Stream<A, ServiceError> =>
  lineGroups(objects.get(uri, Infinity)).pipe(
    Stream.flattenIterable,
    Stream.mapEffect((line) =>
      "text" in line
        ? Effect.try({
          try: () => parseExactly(line.text) as A, // a line that `keep` wrote
          catch: () => ServiceError.internal(`${uri}:${line.number} is not what was written there`)
        })
        : Effect.fail(ServiceError.internal(`${uri}:${line.number} is not what was written there`))
    )
  )

/** The request row of a question: what the generator would have sent to the model. */
const promptRow = ({ contexts, customId, question }: BatchRetrieved, options: BatchJobOptions) => {
  let prompted: ChatRequest | undefined
  const listens = ChatModel.of({
    model: options.model,
    stream: (request) => {
      prompted = request
      return Stream.empty
    }
  })
  const { instruction, sampling } = options
  return Effect.flatMap(options.grounded(listens), ({ answer }) => answer({ question, contexts, instruction, sampling })).pipe(
    Effect.map(() => rowOf(batchModelName(options.model), customId, prompted ?? { turns: [] }))
  )
}

/** A chat model that returns this response, whatever the request. */
const saying = (model: string, response: JsonRecord): ChatModel["Service"] =>
  ChatModel.of({
    model,
    stream: () =>
      Stream.fromIterable<ChatEvent>([
        { type: "text", candidate: 0, text: completionText(response) },
        { type: "end", candidate: 0, ...completionEnd(response) }
      ])
  })

/** Takes the elements of a stream one by one; undefined once there are no more. */
const taking = Effect.fnUntraced(function*<A, E, R>(stream: Stream.Stream<A, E, R>) {
  const pull = yield* Stream.toPull(stream)
  let here: ReadonlyArray<A> = []
  let at = 0
  const next: Effect.Effect<A | undefined, E, R> = Effect.suspend(() =>
    at < here.length
      ? Effect.succeed(here[at++])
      : Pull.matchEffect(pull, {
        onSuccess: (elements) => {
          here = elements
          at = 0
          return next
        },
        onFailure: Effect.failCause,
        onDone: () => Effect.undefined
      })
  )
  return next
})

/** Creates or finds the job over these prompts, and returns it once it has ended; `before`: it had ended before. */
const followedJob = Effect.fnUntraced(function*(prompts: string, { displayName, folder, model, observe }: BatchJobOptions) {
  const jobs = yield* BatchPrediction
  const spec: BatchSpec = {
    displayName,
    model: batchModelName(model),
    input: { _tag: "jsonl", uris: [prompts] },
    output: { _tag: "jsonl", uriPrefix: `${folder}/results` }
  }
  const known = yield* pages((page) => jobs.list(page, `display_name=${JSON.stringify(displayName)}`)).pipe(
    Stream.filter(({ input, state }) =>
      state !== "FAILED" && state !== "CANCELLED" && state !== "EXPIRED" && input._tag === "jsonl" && input.uris[0] === prompts
    ),
    Stream.runHead
  )
  const { name } = known._tag === "Some" ? known.value : yield* jobs.create(spec)
  const job = yield* jobs.wait(name, observe === undefined ? {} : { observe })
  return {
    job,
    hasResults: job.results !== undefined && job.state !== "FAILED" && job.state !== "CANCELLED",
    before: known._tag === "Some" && hasEnded(known.value.state)
  }
})

const endedWithout = (job: BatchJob): ServiceError =>
  new ServiceError({
    code: job.error?.code ?? "ABORTED",
    message: `${job.name} ended ${job.state}${job.error === undefined ? "" : `: ${job.error.message}`}`,
    fix: "run it again: the questions are not retrieved for again, and a new job is made"
  })
