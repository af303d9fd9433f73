import { createHash } from "node:crypto"
import { basename } from "node:path"
import { fileURLToPath } from "node:url"
import { Effect, FileSystem, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { batchModelName, type BatchInput, type BatchSpec } from "../../domain/batch/BatchPrediction.ts"
import { ServiceError } from "../../domain/Errors.ts"
import { BatchEngine } from "../../pipeline/batch/BatchEngine.ts"
import { BatchPrediction } from "../../ports/BatchPrediction.ts"
import { ObjectStore } from "../../ports/ObjectStore.ts"
import { pages } from "../../ports/Paging.ts"
import { TableStore } from "../../ports/TableStore.ts"
import { batchResults } from "./BatchResults.ts"
import { batchRun } from "./BatchRun.ts"
import { batchRoot, exitOf, followJob, inputOf, jobArgument, jobNamed, onBatch, outputOf, showJob } from "../Batch.ts"
import { optionalText } from "../Flags.ts"
import { Output } from "../Output.ts"
import { count, plural } from "../render/Numbers.ts"
import { printValue, rows } from "../render/Values.ts"
import { idOf } from "../Resources.ts"
import { given, root } from "../Root.ts"
import { UsageError } from "../UsageError.ts"

const inputs = Argument.String("input").pipe(
  Argument.withDescription("JSONL files here, gs://bucket/object, or one table: bq://project.dataset.table"),
  Argument.variadic({ min: 1 })
)

const submit = Command.make(
  "submit",
  {
    inputs,
    to: optionalText("to", "PLACE", "gs://bucket/folder, a folder here, or a new table. Default, for a file here: beside it"),
    model: Flag.String("model").pipe(
      Flag.withDescription("The model that is asked; the embedded engine asks the pipeline's, whatever is said here"),
      Flag.withMetavar("MODEL"),
      Flag.withDefault("llama-3.1-8b-instruct-maas")
    ),
    name: Flag.String("name").pipe(Flag.withDescription("What the job is called. Default: after its input"), Flag.optional),
    label: Flag.KeyValuePair("label").pipe(
      Flag.withDescription("Kept with the job; may be repeated"),
      Flag.withMetavar("KEY=VALUE"),
      Flag.withDefault({})
    ),
    staging: optionalText("staging", "PREFIX", "On vertex: where files of this machine are put for the job, gs://bucket/folder"),
    check: Flag.Boolean("check").pipe(
      Flag.withDescription("Look at every row before the job is made; --no-check leaves that to the job"),
      Flag.withDefault(true)
    ),
    wait: Flag.Boolean("wait").pipe(
      Flag.withDescription("Stay until the job has ended. Default on the embedded engine, where it is what runs the job"),
      Flag.optional
    )
  },
  Effect.fn(function*(args) {
    const { json } = yield* root
    const output = yield* Output
    yield* onBatch(Effect.gen(function*() {
      const { name: engine } = yield* BatchEngine
      const jobs = yield* BatchPrediction
      const { checkBatch } = yield* Effect.promise(() => import("../../pipeline/batch/SubmitBatch.ts"))
      const named = yield* inputOf(args.inputs)
      const spec = (input: BatchInput, to: BatchSpec["output"]): BatchSpec => ({
        displayName: given(args.name) ?? basename(args.inputs[0] ?? "").slice(0, 128),
        model: batchModelName(args.model),
        input,
        output: to,
        labels: Object.keys(args.label).length === 0 ? undefined : args.label
      })
      const to = yield* outputOf(args.to, args.inputs)
      const input = engine === "vertex" ? yield* staged(named, given(args.staging)) : named
      const request = spec(input, to)
      if (args.check) {
        const { rows, warnings } = yield* checkBatch(request)
        for (const warning of warnings) yield* output.say(output.paintError("yellow", `warning: ${warning}`))
        if (!json) yield* output.say(`${plural(rows, "row")}, nothing wrong with any`)
      }
      const job = yield* jobs.create(request)
      if (given(args.wait) ?? engine === "embedded") {
        const ended = yield* followJob(job.name)
        yield* showJob(ended)
        return yield* exitOf(ended)
      }
      if (json) return yield* printValue(job)
      yield* output.print(`${job.state.toLowerCase()}  ${job.name}`)
      yield* output.say(`see how it goes: sluice batch status ${idOf(job.name)} --wait`)
    }))
  })
).pipe(
  Command.withShortDescription("Check every row, and start a job."),
  Command.withDescription(
    "Check every row of the input, telling each mistake at its line, and start a job. A row has custom_id (unlike any other's), body.messages (text only) and, where wanted, body.max_tokens; other columns are handed over to the output, method and url are not, and response and id may not be there. Exits 3 when rows failed, 1 when the job did."
  ),
  Command.withExamples([
    { command: "sluice batch submit questions.jsonl", description: "results in a new folder beside the file" },
    {
      command: "sluice batch submit bq://p.main.prompts --tables prompts.db --to bq://p.main.answers",
      description: "from one table of a SQLite file into another"
    },
    {
      command: "sluice batch submit questions.jsonl --engine vertex --staging gs://acme/in --to gs://acme/out --wait",
      description: "a file of this machine on Vertex AI"
    }
  ])
)

/** The same objects where the service can read them: files of this machine are put under `prefix`, named by their content. */
const staged = Effect.fnUntraced(function*(input: BatchInput, prefix: string | undefined) {
  if (input._tag === "table") return input
  const fs = yield* FileSystem.FileSystem
  const objects = yield* ObjectStore
  const uris = yield* Effect.forEach(
    input.uris,
    Effect.fnUntraced(function*(uri) {
      if (!uri.startsWith("file://")) return uri
      if (prefix === undefined) {
        return yield* new UsageError({
          message: "Vertex AI reads no files of this machine",
          fix: "give --staging gs://bucket/folder, where they are put first"
        })
      }
      const path = fileURLToPath(uri)
      const content = fs.stream(path).pipe(Stream.mapError(() => ServiceError.notFound(path)))
      const hash = createHash("sha256")
      yield* Stream.runForEach(content, (piece) => Effect.sync(() => void hash.update(piece)))
      const target = `${prefix.replace(/\/+$/, "")}/${hash.digest("hex").slice(0, 16)}-${basename(path)}`
      // What has this name has this content.
      yield* objects.put(target, content, { when: "absent", contentType: "application/jsonl" }).pipe(
        Effect.catchIf(({ code }) => code === "ALREADY_EXISTS", () => Effect.void)
      )
      return target
    })
  )
  return { ...input, uris }
})

const check = Command.make(
  "check",
  { inputs },
  Effect.fn(function*(args) {
    const { json } = yield* root
    const output = yield* Output
    yield* onBatch(Effect.gen(function*() {
      const { checkRows } = yield* Effect.promise(() => import("../../text/rows/CheckRows.ts"))
      const local = args.inputs.find((place) => !place.includes("://"))
      if ((yield* BatchEngine).name === "vertex" && local !== undefined) {
        return yield* new UsageError({ message: `${local} is a file of this machine`, fix: "check it with --engine embedded" })
      }
      const found = yield* checkRows(yield* inputOf(args.inputs), { objects: yield* ObjectStore, tables: yield* TableStore })
      yield* json ? output.json({ version: 1, rows: found }) : output.print(`${plural(found, "row")}, nothing wrong with any`)
    }))
  })
).pipe(
  Command.withDescription("Look at every row of an input and tell what is wrong with it, each mistake at its line. Starts nothing."),
  Command.withExamples([{
    command: "sluice batch check questions.jsonl",
    description: "before they are submitted, by somebody else perhaps"
  }])
)

const status = Command.make(
  "status",
  {
    job: jobArgument,
    wait: Flag.Boolean("wait").pipe(
      Flag.withDescription("Stay until it has ended; on the embedded engine that also takes up a job that was interrupted"),
      Flag.withDefault(false)
    )
  },
  Effect.fn(function*(args) {
    yield* onBatch(Effect.gen(function*() {
      const name = yield* jobNamed(args.job)
      const job = args.wait ? yield* followJob(name) : yield* (yield* BatchPrediction).get(name)
      yield* showJob(job)
      return yield* exitOf(job)
    }))
  })
).pipe(
  Command.withDescription(
    "Show a job: its state, how many rows are answered, what failed, where the results are. Exits 3 when rows failed, 1 when the job did."
  ),
  Command.withExamples([
    { command: "sluice batch status 8013846402219253760", description: "as it is now" },
    { command: "sluice batch status 8013846402219253760 --wait", description: "until it has ended" }
  ])
)

const list = Command.make(
  "list",
  {
    filter: optionalText("filter", "FILTER", "Only those for which this holds, for example state=JOB_STATE_FAILED or labels.team=\"a\"")
  },
  Effect.fn(function*(args) {
    yield* onBatch(Effect.gen(function*() {
      const jobs = yield* BatchPrediction
      yield* rows(pages((page) => jobs.list(page, given(args.filter))), [
        { title: "id", cell: (job) => idOf(job.name) },
        { title: "name", cell: (job) => job.displayName, flexible: true },
        { title: "model", cell: (job) => idOf(job.model), flexible: true },
        { title: "state", cell: (job) => job.state.toLowerCase().replace("_", " ") },
        { title: "answered", cell: ({ counts }) => counts === undefined ? "" : count(counts.successful), align: "right" },
        { title: "failed", cell: ({ counts }) => counts === undefined ? "" : count(counts.failed), align: "right" },
        { title: "created", cell: (job) => job.createTime.slice(0, 19) }
      ])
    }))
  })
).pipe(
  Command.withDescription("List jobs, newest first."),
  Command.withExamples([{ command: "sluice batch list --filter state=JOB_STATE_RUNNING", description: "those that are under way" }])
)

const cancel = Command.make(
  "cancel",
  { job: jobArgument },
  Effect.fn(function*(args) {
    yield* onBatch(Effect.gen(function*() {
      const jobs = yield* BatchPrediction
      const name = yield* jobNamed(args.job)
      yield* jobs.cancel(name)
      yield* showJob(yield* jobs.get(name))
    }))
  })
).pipe(
  Command.withDescription("Ask a job to stop. What it has answered is kept."),
  Command.withExamples([{ command: "sluice batch cancel 8013846402219253760", description: "by the id that list shows" }])
)

const remove = Command.make(
  "delete",
  { job: jobArgument },
  Effect.fn(function*(args) {
    const { json } = yield* root
    const output = yield* Output
    yield* onBatch(Effect.gen(function*() {
      const name = yield* jobNamed(args.job)
      yield* (yield* BatchPrediction).delete(name)
      yield* json ? output.json({ version: 1, deleted: name }) : output.print(`deleted ${name}`)
    }))
  })
).pipe(
  Command.withDescription("Forget a job that has ended. Its results stay where they are."),
  Command.withExamples([{ command: "sluice batch delete 8013846402219253760", description: "by the id that list shows" }])
)

/** `sluice batch`: many prompts as one job. */
export const batch = batchRoot.pipe(Command.withSubcommands([submit, check, batchRun, status, list, batchResults, cancel, remove]))
