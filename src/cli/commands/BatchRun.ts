import { createHash } from "node:crypto"
import { Effect, FileSystem, Option, Schema, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { ExitCode, ServiceError } from "../../domain/Errors.ts"
import type { BatchAnswered } from "../../pipeline/BatchPipeline.ts"
import { batchRoot, sayProgress } from "../Batch.ts"
import { exitWith } from "../Exit.ts"
import { goesOnWhenRunAgain, Output } from "../Output.ts"
import { fromHere } from "../Paths.ts"
import { count } from "../render/Numbers.ts"
import { given, root } from "../Root.ts"
import { onEngine, openPipeline, reading } from "../Session.ts"
import { unreadable, UsageError, wrongFlag } from "../UsageError.ts"

/** `sluice batch run`: answers a file of questions from a corpus. */
export const batchRun = Command.make(
  "run",
  {
    pipeline: Argument.Path("pipeline").pipe(Argument.map(fromHere), Argument.withDescription("The pipeline whose corpus answers")),
    questions: Argument.String("questions").pipe(
      Argument.withDescription("JSON lines with question and optionally custom_id and principal; a .txt file has a question per line")
    ),
    out: Flag.String("out").pipe(
      Flag.withAlias("o"),
      Flag.withDescription("File for the answers, one JSON line each. Default: answers.jsonl"),
      Flag.withMetavar("FILE"),
      Flag.withDefault("answers.jsonl")
    )
  },
  Effect.fn(function*(args) {
    const { dataDir, json } = yield* root
    const output = yield* Output
    const { batchServices } = yield* Effect.promise(() => import("../../compose/Batch.ts"))
    const shared = yield* batchRoot
    if (Option.isSome(shared.pipeline) || Option.isSome(shared.project) || Option.isSome(shared.location)) {
      return yield* new UsageError({
        message: "--pipeline, --project and --location do not apply to batch run: the pipeline says where its corpus is",
        fix: "leave them out; --engine chooses another of the pipeline's engines"
      })
    }
    if (args.out === "-") return yield* wrongFlag("--out", "- is not stdout: answers are kept in a file, to go on from", "name a file")
    const loaded = yield* openPipeline(Option.some(args.pipeline))
    const concurrency = given(shared.concurrency)
    const tally = yield* onEngine(
      loaded,
      reading,
      Effect.gen(function*() {
        const [{ batchPipeline, batchSettings }, { readQuestions }] = yield* Effect.promise(() =>
          Promise.all([import("../../pipeline/BatchPipeline.ts"), import("../../pipeline/batch/Questions.ts")])
        )
        const questionsId = yield* contentHash(args.questions).pipe(Effect.catch(() => unreadable("questions", args.questions)))
        const stages = createHash("sha256").update(JSON.stringify([questionsId, loaded.pipeline.name, loaded.pipeline.stages])).digest(
          "hex"
        ).slice(0, 8)
        const fs = yield* FileSystem.FileSystem
        const questions = readQuestions(args.questions, bytesOf(args.questions, fs), args.questions.endsWith(".txt") ? "text" : "json")
        // All mistakes first: a long batch must not fail at its last question.
        yield* Stream.runDrain(questions)
        goesOnWhenRunAgain(output)
        const answers = yield* answerFile(args.out, `${args.out}.${stages}.part`)
        if (answers.tally.all > 0) yield* output.say(`continuing after ${count(answers.tally.all)} answers in ${answers.part}`)
        const { model, staging } = yield* batchSettings(loaded.pipeline)
        const answered = yield* batchPipeline(loaded.pipeline, questions, {
          questionsId,
          done: answers.has,
          observe: yield* sayProgress,
          concurrency
        })
        yield* Stream.runForEach(answered, answers.add)
        // The jobs have the answers: running the command again finds them.
        yield* answers.finish({ keep: answers.tally.failed > 0 && !(model._tag === "hosted" && staging !== undefined) })
        return answers.tally
      }).pipe(Effect.provide(batchServices(loaded.pipeline, { dataDir })))
    ).pipe(Effect.scoped)
    if (json) yield* output.json({ version: 1, type: "batch", out: args.out, ...tally })
    else {yield* output.print(
        `answered ${count(tally.answered)}, not in the corpus ${count(tally.unsupported)}, failed ${count(tally.failed)}: ${args.out}`
      )}
    if (tally.failed > 0) yield* output.say("run it again to ask only the failed questions")
    return yield* exitWith(tally.failed > 0 ? ExitCode.someFailed : ExitCode.done)
  })
).pipe(
  Command.withShortDescription("Answer a file of questions from a corpus, with citations."),
  Command.withDescription(
    "Answer a file of questions from a pipeline's corpus, each with its citations, in their order. Models that answer at once get a few questions at a time; a hosted model of the pipeline's batch stage gets all of them in one job. Run again after an interruption, or when questions failed, it continues with the unanswered questions, whose answers then come last. Exits 3 when questions failed."
  ),
  Command.withExamples([
    {
      command: "sluice batch run pipeline.yaml questions.jsonl -o answers.jsonl",
      description: "{\"custom_id\": \"q1\", \"question\": \"…\"} per line"
    },
    { command: "sluice batch run pipeline.yaml questions.txt", description: "one question per line, into answers.jsonl" }
  ])
)

const bytesOf = (path: string, fs: FileSystem.FileSystem): Stream.Stream<Uint8Array, ServiceError> =>
  fs.stream(path).pipe(Stream.mapError(() => ServiceError.invalid("questions", `${path} cannot be read`)))

const contentHash = Effect.fnUntraced(function*(path: string) {
  const hash = createHash("sha256")
  yield* Stream.runForEach(bytesOf(path, yield* FileSystem.FileSystem), (piece) => Effect.sync(() => void hash.update(piece)))
  return hash.digest("hex")
})

const Line = Schema.fromJsonString(Schema.Struct({
  custom_id: Schema.String,
  grounded: Schema.optional(Schema.Boolean),
  error: Schema.optional(Schema.Unknown)
}))
const decodeLine = Schema.decodeOption(Line)

/**
 * Collects answers as they arrive: in `part` until all are there, so that an interruption loses none. Failed questions of
 * an earlier run are asked again.
 */
const answerFile = Effect.fnUntraced(function*(path: string, part: string) {
  const fs = yield* FileSystem.FileSystem
  const unwritable = () => ServiceError.invalid("--out", `${part} cannot be written`)
  const before = yield* fs.readFileString(part).pipe(Effect.orElseSucceed(() => ""))
  // Text after the last line end was being written when the process ended.
  const whole = before.slice(0, before.lastIndexOf("\n") + 1)
  const done = new Set<string>()
  const tally = { all: 0, answered: 0, unsupported: 0, failed: 0, kept: false }
  const note = (failed: boolean, grounded: boolean): void => {
    tally.all += 1
    tally[failed ? "failed" : grounded ? "answered" : "unsupported"] += 1
  }
  const kept = whole.split("\n").filter((text) => {
    const line = Option.getOrUndefined(decodeLine(text))
    if (line === undefined || line.error !== undefined) return false
    done.add(line.custom_id)
    note(false, line.grounded === true)
    return true
  }).map((text) => `${text}\n`).join("")
  if (kept !== before) {
    const temporary = `${part}.tmp`
    yield* Effect.andThen(fs.writeFileString(temporary, kept), fs.rename(temporary, part)).pipe(Effect.mapError(unwritable))
  }
  const file = yield* fs.open(part, { flag: "a" }).pipe(Effect.mapError(unwritable))
  const encoder = new TextEncoder()
  return {
    part,
    tally,
    has: (customId: string) => done.has(customId),
    add: (answered: BatchAnswered) => {
      note(answered.error !== undefined, answered.answer?.grounded === true)
      return file.writeAll(encoder.encode(`${JSON.stringify(shown(answered))}\n`)).pipe(Effect.mapError(unwritable))
    },
    /** Renames the part file to its final name; with `keep`, later runs continue from it as well. */
    finish: Effect.fnUntraced(function*({ keep }: { readonly keep: boolean }) {
      tally.kept = keep
      yield* file.sync
      if (keep) yield* fs.copyFile(part, `${path}.tmp`)
      yield* fs.rename(keep ? `${path}.tmp` : part, path)
    }, Effect.mapError(unwritable))
  }
})

const shown = ({ answer, carried, customId, error, question }: BatchAnswered): object => ({
  custom_id: customId,
  question,
  ...carried,
  ...(answer === undefined ? {} : {
    answer: answer.text,
    grounded: answer.grounded,
    citations: answer.citations,
    model: answer.model,
    usage: answer.usage
  }),
  ...(error === undefined ? {} : { error })
})
