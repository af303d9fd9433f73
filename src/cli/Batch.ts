import { existsSync, statSync } from "node:fs"
import { dirname, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { Effect, type Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import {
  type BatchInput,
  type BatchJob,
  BatchJobName,
  type BatchOutput,
  hasEnded,
  parseTable,
  tableUri
} from "../domain/batch/BatchPrediction.ts"
import { ExitCode, ServiceError } from "../domain/Errors.ts"
import { printable } from "../domain/Text.ts"
import { lastSegment } from "../domain/ResourceNames.ts"
import { BatchEngine, type BatchServices } from "../pipeline/batch/BatchEngine.ts"
import { BatchPrediction } from "../ports/BatchPrediction.ts"
import { engineFlags, pipelineFor } from "./EngineFlags.ts"
import { exitWith } from "./Exit.ts"
import { optionalText } from "./Flags.ts"
import { Output } from "./Output.ts"
import { count, plural } from "./render/Numbers.ts"
import { printValue } from "./render/Values.ts"
import { given, root } from "./Root.ts"
import { UsageError } from "./UsageError.ts"

/** `sluice batch`, with the flags that all of its commands share. */
export const batchRoot = Command.make("batch").pipe(
  Command.withShortDescription("Send many prompts to a model as one job, or many questions to a corpus."),
  Command.withDescription(
    "Send many prompts to a model as one job: rows from a JSONL file or a table, results to new files or a new table. A row is a chat-completions request with a custom_id, which identifies its result."
  ),
  Command.withExamples([
    { command: "sluice batch submit questions.jsonl", description: "on this machine: run the job and show its progress" },
    {
      command: "sluice batch submit gs://acme/in.jsonl --to gs://acme/out --engine vertex --model llama-3.1-70b-instruct-maas",
      description: "on Vertex AI: start the job and return"
    },
    {
      command: "sluice batch results 8013846402219253760 -o answers.jsonl",
      description: "each row with its answer, or the reason it has none"
    },
    {
      command: "sluice batch run pipeline.yaml questions.jsonl -o answers.jsonl",
      description: "questions answered from a corpus, with citations"
    }
  ]),
  Command.withSharedFlags({
    ...engineFlags,
    bucket: Flag.KeyValuePair("bucket").pipe(
      Flag.withDescription("On the embedded engine: a folder that stands in for a bucket, gs://NAME/…"),
      Flag.withMetavar("NAME=FOLDER"),
      Flag.withDefault({})
    ),
    tables: optionalText("tables", "FILE", "On the embedded engine: a SQLite file; bq://ANY.main.NAME is its table NAME"),
    concurrency: Flag.Int("concurrency").pipe(
      Flag.filter((n) => n >= 1 && n <= 100, () => "Expected 1 to 100"),
      Flag.withDescription(
        "Rows, or questions of a pipeline, sent to the model concurrently; jobs on Vertex AI have their own number. Default 4"
      ),
      Flag.optional
    )
  })
)

/** Runs `body` with the batch jobs of the chosen engine. */
export const onBatch = <A, E, R>(body: Effect.Effect<A, E, R | BatchServices>) =>
  Effect.gen(function*() {
    const { dataDir } = yield* root
    const args = yield* batchRoot
    const { batchServices } = yield* Effect.promise(() => import("../compose/Batch.ts"))
    const pipeline = yield* pipelineFor(args)
    const [concurrency, tables] = [given(args.concurrency), given(args.tables)]
    return yield* body.pipe(
      Effect.provide(batchServices(pipeline, {
        dataDir,
        buckets: new Map(Object.entries(args.bucket)),
        concurrency,
        tables
      })),
      Effect.mapError((error) => error instanceof ServiceError ? readable(error) : error)
    )
  })

/** Shortens addresses of files in this folder to relative paths. */
const short = (text: string): string => text.replaceAll(pathToFileURL(`${process.cwd()}/`).href, "")

const readable = (error: ServiceError): ServiceError => {
  const { cause, code, fix, message, reason, retryAfter, violations } = error
  return new ServiceError({
    code,
    message: short(message),
    violations: violations === undefined
      ? undefined
      : violations.map(({ description, field }) => ({ field: short(field), description: short(description) })),
    fix,
    reason,
    retryAfter,
    cause
  })
}

export const jobArgument = Argument.String("job").pipe(Argument.withDescription("The job's id, as `list` shows it, or its full name"))

/** Parses the name of a job, given by id or full name. */
export const jobNamed = Effect.fnUntraced(function*(written: string) {
  const { parent } = yield* BatchEngine
  if (/^[^/\s]+$/.test(written)) return BatchJobName.make(`${parent}/batchPredictionJobs/${written}`)
  if (/^projects\/[^/]+\/locations\/[^/]+\/batchPredictionJobs\/[^/]+$/.test(written)) return BatchJobName.make(written)
  return yield* new UsageError({ message: `${written} is not the name of a batch job`, fix: "use one that `sluice batch list` shows" })
})

const fileUri = (path: string): string => pathToFileURL(resolve(path)).href

/** Parses where rows are: objects, a table, or local files, which only the embedded engine reads directly. */
export const inputOf = Effect.fnUntraced(function*(written: ReadonlyArray<string>) {
  const [first = ""] = written
  const table = first.startsWith("bq://") || !existsSync(first) ? parseTable(first) : undefined
  if (table !== undefined) {
    if (written.length > 1) return yield* new UsageError({ message: "a job reads one table", fix: "submit a job for each" })
    const input: BatchInput = { _tag: "table", uri: tableUri(table) }
    return input
  }
  const missing = written.find((place) => !/^[a-z]+:\/\//.test(place) && !existsSync(place))
  if (missing !== undefined) {
    return yield* new UsageError({
      message: `there is no file ${missing}`,
      fix: "name a JSONL file here, gs://bucket/object, or bq://project.dataset.table"
    })
  }
  const input: BatchInput = { _tag: "jsonl", uris: written.map((place) => place.includes("://") ? place : fileUri(place)) }
  return input
})

/** Parses where results go; by default beside a local input file. */
export const outputOf = Effect.fnUntraced(function*(written: Option.Option<string>, input: ReadonlyArray<string>) {
  const to = given(written)
  const [first = ""] = input
  if (to === undefined) {
    const { name } = yield* BatchEngine
    const local = name === "embedded" && !first.includes("://") && existsSync(first)
    if (!local) {
      return yield* new UsageError({
        message: "a place for the results is missing",
        fix: "give --to gs://bucket/folder or --to bq://project.dataset.table"
      })
    }
    const output: BatchOutput = { _tag: "jsonl", uriPrefix: fileUri(dirname(first)) }
    return output
  }
  const table = to.startsWith("bq://") || !(existsSync(to) && statSync(to).isDirectory()) ? parseTable(to) : undefined
  const output: BatchOutput = table !== undefined
    ? { _tag: "table", uri: tableUri(table) }
    : { _tag: "jsonl", uriPrefix: to.includes("://") ? to : fileUri(to) }
  return output
})

/** Milliseconds between lines about a running job. */
const sayEvery = 5_000

/** Reports the progress of a job on stderr. */
export const sayProgress = Effect.map(Output, ({ say }) => {
  let printed = { state: "", at: 0 }
  return (job: BatchJob): Effect.Effect<void> =>
    Effect.suspend(() => {
      const at = Date.now()
      if (hasEnded(job.state) || job.state === printed.state && at - printed.at < sayEvery) return Effect.void
      printed = { state: job.state, at }
      return say(`${lastSegment(job.name)} ${job.state.toLowerCase()}${progress(job)}`)
    })
})

/** Waits for a job and reports its progress. Interrupting the wait leaves the job running. */
export const followJob = Effect.fnUntraced(function*(name: BatchJobName) {
  const jobs = yield* BatchPrediction
  const { interrupted } = yield* Output
  Object.assign(interrupted, { what: "interrupted: the job stays", next: `go on with sluice batch status ${lastSegment(name)} --wait` })
  return yield* jobs.wait(name, { observe: yield* sayProgress })
})

const progress = ({ counts }: BatchJob): string => {
  if (counts === undefined) return ""
  const all = counts.successful + counts.failed + counts.incomplete
  return `: ${count(counts.successful + counts.failed)} of ${plural(all, "row")}${
    counts.failed === 0 ? "" : `, ${count(counts.failed)} failed`
  }`
}

/** Prints the result of a job: everything for programs; for people its end and where the results are. */
export const showJob = Effect.fnUntraced(function*(job: BatchJob) {
  const { json } = yield* root
  if (json || !hasEnded(job.state)) return yield* printValue(job)
  const output = yield* Output
  const { counts } = job
  const color = job.state === "SUCCEEDED" ? "green" : job.state === "PARTIALLY_SUCCEEDED" ? "yellow" : "red"
  yield* output.print([
    `${output.paint(color, job.state.toLowerCase().replace("_", " "))}  ${job.name}`,
    ...(counts === undefined
      ? []
      : [`answered ${count(counts.successful)}, failed ${count(counts.failed)}, not reached ${count(counts.incomplete)}`]),
    ...(job.error === undefined ? [] : [`${job.error.code}: ${printable(short(job.error.message))}`]),
    ...job.partialFailures.map(({ message }) => `  ${printable(short(message))}`),
    ...(job.results === undefined
      ? []
      : [`results  ${short(job.results.uri)}`, `         sluice batch results ${lastSegment(job.name)} -o answers.jsonl`])
  ].join("\n"))
})

/** Exit code of a job: 3 where rows failed, 1 where the job did. */
export const exitOf = ({ counts, state }: Pick<BatchJob, "counts" | "state">) =>
  exitWith(
    state === "FAILED" || state === "CANCELLED" || state === "EXPIRED"
      ? ExitCode.error
      : (counts?.failed ?? 0) > 0 || state === "PARTIALLY_SUCCEEDED"
      ? ExitCode.someFailed
      : ExitCode.done
  )
