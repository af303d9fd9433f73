import { Effect, Stream } from "effect"
import type { Answer } from "../../domain/Answer.ts"
import { type BatchJob, batchModelName, type BatchSpec } from "../../domain/batch/BatchPrediction.ts"
import { type BatchResult, completionText, type RowFailure } from "../../domain/batch/BatchRow.ts"
import type { ChatEvent, ChatRequest, JsonRecord } from "../../domain/Chat.ts"
import { ServiceError } from "../../domain/Errors.ts"
import { parseExactly } from "../../domain/Json.ts"
import type { Context } from "../../domain/Retrieval.ts"
import { BatchPrediction } from "../../ports/BatchPrediction.ts"
import { ChatModel } from "../../ports/ChatModel.ts"
import { Generator, type GroundedRequest } from "../../ports/Generator.ts"
import { ObjectStore } from "../../ports/ObjectStore.ts"
import { pages } from "../../ports/Paging.ts"
import { TableStore } from "../../ports/TableStore.ts"
import { gatherResults } from "../../text/rows/JoinResults.ts"
import { lineGroups } from "../../text/rows/ReadRows.ts"
import type { BatchQuestion } from "../batch/Questions.ts"

/** A question of a batch with the evidence for it. */
export interface BatchRetrieved extends BatchQuestion {
  readonly contexts: ReadonlyArray<Context>
}

/** What came of one question. */
export interface BatchAnswered extends BatchQuestion {
  readonly answer?: Answer
  readonly error?: RowFailure
}

type Options = Pick<GroundedRequest, "instruction" | "sampling">

/** What fails one question, with what it says; what would fail every other one too fails the batch. */
export const orFailed = <A, E, R>(
  question: BatchQuestion,
  done: Effect.Effect<A, E | ServiceError, R>
): Effect.Effect<A | BatchAnswered, E | ServiceError, R> =>
  Effect.catchIf(done, isOfQuestion, ({ code, message }) => Effect.succeed<BatchAnswered>({ ...question, error: { code, message } }))

const isOfQuestion = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && error.code !== "UNAUTHENTICATED" && error.code !== "PERMISSION_DENIED"

/** Answers a question by the generator there is, at once. */
export const answerNow = (options: Options) => (retrieved: BatchRetrieved): Effect.Effect<BatchAnswered, ServiceError, Generator> =>
  Effect.gen(function*() {
    const { contexts, ...question } = retrieved
    const generator = yield* Generator
    return { ...question, answer: yield* generator.answer({ ...options, question: question.question, contexts }) }
  }).pipe(Effect.withSpan("stage.batch"))

/** How a hosted model is asked in one job. */
export interface BatchJobOptions extends Options {
  readonly model: string
  /** `gs://bucket/folder`, for this batch alone: what is there of an earlier attempt is gone on from. */
  readonly folder: string
  /** What the job is called; a job of this name that has not failed is taken for this one's. */
  readonly displayName: string
  /** Makes a chat model answer from contexts and nothing else. */
  readonly grounded: (chat: ChatModel["Service"]) => Effect.Effect<Generator["Service"]>
  readonly observe?: (job: BatchJob) => Effect.Effect<void>
}

/** A line of what is kept for a job: a question with its contexts, or one that has its error already. */
type Kept = BatchRetrieved | BatchAnswered

/**
 * Answers all questions by one batch job. The questions with their contexts, and the prompts made of them, are put into
 * object storage first; the model's answers are then verified against those very contexts, as answers given at once are.
 * Every step that is done is found done by whoever comes again: nothing is asked for twice.
 */
export const answerByJob = Effect.fn("stage.batch.job")(function*<E, R>(retrieved: Stream.Stream<Kept, E, R>, options: BatchJobOptions) {
  const objects = yield* ObjectStore
  const tables = yield* TableStore
  const contexts = `${options.folder}/contexts.jsonl`
  const prompts = `${options.folder}/prompts.jsonl`
  // An object is there when it is whole. What goes wrong with the questions on the way to one is ours to fail with.
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
  const kept = keptLines(objects, contexts)
  yield* keep(prompts, Stream.filter(kept, needsModel).pipe(Stream.mapEffect((line) => promptRow(line, options))))

  const prompted = (yield* objects.head(prompts)).size > 0
  const results = prompted ? yield* gatherResults(yield* followedJob(prompts, options), { objects, tables }) : undefined
  return Stream.mapEffect(
    kept,
    Effect.fnUntraced(function*(line): Effect.fn.Return<BatchAnswered, ServiceError> {
      if (!("contexts" in line)) return line
      const { contexts, ...question } = line
      const result = needsModel(line) ? results?.take(line.customId) ?? missing : undefined
      if (result?.error !== undefined) return { ...question, error: result.error }
      const answer = completionText(result?.response ?? {})
      return {
        ...question,
        answer: yield* (yield* options.grounded(saying(options.model, answer))).answer({ question: question.question, contexts })
      }
    })
  )
})

const missing: Pick<BatchResult, "error" | "response"> = {
  error: { code: "NOT_FOUND", message: "the job has no result for this question" }
}

/** Without evidence there is nothing to ask. */
const needsModel = (line: Kept): line is BatchRetrieved => "contexts" in line && line.contexts.length > 0

const isThere = (objects: ObjectStore["Service"], uri: string): Effect.Effect<boolean, ServiceError> =>
  objects.head(uri).pipe(Effect.as(true), Effect.catchIf(({ code }) => code === "NOT_FOUND", () => Effect.succeed(false)))

const keptLines = (objects: ObjectStore["Service"], uri: string): Stream.Stream<Kept, ServiceError> =>
  lineGroups(objects.get(uri, Infinity)).pipe(
    Stream.flattenIterable,
    Stream.mapEffect((line) =>
      "text" in line
        ? Effect.try({
          try: () => parseExactly(line.text) as Kept, // a line that `keep` wrote
          catch: () => ServiceError.internal(`${uri}:${line.number} is not what was written there`)
        })
        : Effect.fail(ServiceError.internal(`${uri}:${line.number} is not what was written there`))
    )
  )

/** The row that asks for an answer: what the generator would have said to the model. */
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
    Effect.map(() => ({ custom_id: customId, method: "POST", url: "/v1/chat/completions", body: bodyOf(prompted ?? { turns: [] }) }))
  )
}

const bodyOf = ({ maxTokens, seed, system, temperature, topP, turns }: ChatRequest): JsonRecord => ({
  messages: [
    ...(system === undefined ? [] : [{ role: "system", content: system }]),
    ...turns.map(({ parts, role }) => ({ role, content: parts.map((part) => ("text" in part ? part.text : "")).join("") }))
  ],
  max_tokens: maxTokens,
  temperature,
  top_p: topP,
  seed
})

/** A model that has said what it has to say. */
const saying = (model: string, text: string): ChatModel["Service"] =>
  ChatModel.of({
    model,
    stream: () => Stream.fromIterable<ChatEvent>([{ type: "text", candidate: 0, text }, { type: "end", candidate: 0, reason: "stop" }])
  })

/** The job over these prompts, made or found, once it has ended with results. */
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
  if (job.results !== undefined && job.state !== "FAILED" && job.state !== "CANCELLED") return job
  return yield* new ServiceError({
    code: job.error?.code ?? "ABORTED",
    message: `${job.name} ended ${job.state}${job.error === undefined ? "" : `: ${job.error.message}`}`,
    fix: "run it again: the questions are not retrieved for again, and a new job is made"
  })
})
