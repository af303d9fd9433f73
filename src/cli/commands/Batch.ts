import { createHash } from "node:crypto"
import { basename } from "node:path"
import { fileURLToPath } from "node:url"
import { Effect, FileSystem, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { batchModelName, type BatchInput, type BatchSpec } from "../../domain/batch/BatchPrediction.ts"
import { ServiceError } from "../../domain/Errors.ts"
import { lastSegment } from "../../domain/ResourceNames.ts"
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
import { printDone, printValue, rows } from "../render/Values.ts"
import { given, root } from "../Root.ts"
import { UsageError } from "../UsageError.ts"

const inputs = Argument.String("input").pipe(
  Argument.withDescription("Local JSONL files, gs://bucket/object, or one table: bq://project.dataset.table"),
  Argument.variadic({ min: 1 })
)

const submit = Command.make(
  "submit",
  {
    inputs,
    to: optionalText("to", "PLACE", "gs://bucket/folder, a folder here, or a new table. Default, for a file here: beside it"),
    model: Flag.String("model").pipe(
      Flag.withDescription("The model to use; the embedded engine always uses the pipeline's"),
      Flag.withMetavar("MODEL"),
      Flag.withDefault("llama-3.1-8b-instruct-maas")
    ),
    name: Flag.String("name").pipe(Flag.withDescription("Display name of the job. Default: named after its input"), Flag.optional),
    label: Flag.KeyValuePair("label").pipe(
      Flag.withDescription("A label of the job; may be repeated"),
      Flag.withMetavar("KEY=VALUE"),
      Flag.withDefault({})
    ),
    staging: optionalText("staging", "PREFIX", "On vertex: where files of this machine are put for the job, gs://bucket/folder"),
    check: Flag.Boolean("check").pipe(
      Flag.withDescription("Check every row before the job is created; --no-check leaves that to the job"),
      Flag.withDefault(true)
    ),
    wait: Flag.Boolean("wait").pipe(
      Flag.withDescription("Wait until the job has ended. Default on the embedded engine, where waiting is what runs the job"),
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
        if (!json) yield* output.say(`${plural(rows, "row")}, no mistakes`)
      }
      const job = yield* jobs.create(request)
      if (given(args.wait) ?? engine === "embedded") {
        const ended = yield* followJob(job.name)
        yield* showJob(ended)
        return yield* exitOf(ended)
      }
      if (json) return yield* printValue(job)
      yield* output.print(`${job.state.toLowerCase()}  ${job.name}`)
      yield* output.say(`follow its progress: sluice batch status ${lastSegment(job.name)} --wait`)
    }))
  })
).pipe(
  Command.withShortDescription("Check every row, and start a job."),
  Command.withDescription(
    "Check every row of the input, reporting each mistake with its line, and start a job. A row has a unique custom_id, body.messages (text only) and optionally body.max_tokens; other columns are copied to the output, except method and url; response and id are not allowed. Exits 3 when rows failed, 1 when the job did."
  ),
  Command.withExamples([
    { command: "sluice batch submit questions.jsonl", description: "results in a new folder beside the file" },
    {
      command: "sluice batch submit bq://p.main.prompts --tables prompts.db --to bq://p.main.answers",
      description: "from one table of a SQLite file into another"
    },
    {
      command: "sluice batch submit questions.jsonl --engine vertex --staging gs://acme/in --to gs://acme/out --wait",
      description: "a local file on Vertex AI"
    }
  ])
)

/** Makes the input readable by the service: local files are stored under `prefix`, named by their content. */
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
          message: "Vertex AI cannot read local files",
          fix: "give --staging gs://bucket/folder, where they are stored first"
        })
      }
      const path = fileURLToPath(uri)
      const content = fs.stream(path).pipe(Stream.mapError(() => ServiceError.notFound(path)))
      const hash = createHash("sha256")
      yield* Stream.runForEach(content, (piece) => Effect.sync(() => void hash.update(piece)))
      const target = `${prefix.replace(/\/+$/, "")}/${hash.digest("hex").slice(0, 16)}-${basename(path)}`
      // An object of this name has this content.
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
        return yield* new UsageError({ message: `${local} is a local file`, fix: "check it with --engine embedded" })
      }
      const found = yield* checkRows(yield* inputOf(args.inputs), { objects: yield* ObjectStore, tables: yield* TableStore })
      yield* json ? output.json({ version: 1, rows: found }) : output.print(`${plural(found, "row")}, no mistakes`)
    }))
  })
).pipe(
  Command.withDescription("Check every row of an input and report each mistake with its line. Starts nothing."),
  Command.withExamples([{
    command: "sluice batch check questions.jsonl",
    description: "before somebody submits them"
  }])
)

const status = Command.make(
  "status",
  {
    job: jobArgument,
    wait: Flag.Boolean("wait").pipe(
      Flag.withDescription("Wait until it has ended; on the embedded engine this also resumes an interrupted job"),
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
    "Show a job: its state, the number of rows answered, failures, and where the results are. Exits 3 when rows failed, 1 when the job did."
  ),
  Command.withExamples([
    { command: "sluice batch status 8013846402219253760", description: "its current state" },
    { command: "sluice batch status 8013846402219253760 --wait", description: "wait until it has ended" }
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
        { title: "id", cell: (job) => lastSegment(job.name) },
        { title: "name", cell: (job) => job.displayName, flexible: true },
        { title: "model", cell: (job) => lastSegment(job.model), flexible: true },
        { title: "state", cell: (job) => job.state.toLowerCase().replace("_", " ") },
        { title: "answered", cell: ({ counts }) => counts === undefined ? "" : count(counts.successful), align: "right" },
        { title: "failed", cell: ({ counts }) => counts === undefined ? "" : count(counts.failed), align: "right" },
        { title: "created", cell: (job) => job.createTime.slice(0, 19) }
      ])
    }))
  })
).pipe(
  Command.withDescription("List jobs, newest first."),
  Command.withExamples([{ command: "sluice batch list --filter state=JOB_STATE_RUNNING", description: "running jobs" }])
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
  Command.withDescription("Ask a job to stop. Its answers so far are kept."),
  Command.withExamples([{ command: "sluice batch cancel 8013846402219253760", description: "by the id that list shows" }])
)

const remove = Command.make(
  "delete",
  { job: jobArgument },
  Effect.fn(function*(args) {
    yield* onBatch(Effect.gen(function*() {
      const name = yield* jobNamed(args.job)
      yield* (yield* BatchPrediction).delete(name)
      yield* printDone("deleted", name)
    }))
  })
).pipe(
  Command.withDescription("Delete a job that has ended from the list. Its results stay where they are."),
  Command.withExamples([{ command: "sluice batch delete 8013846402219253760", description: "by the id that list shows" }])
)

/** `sluice batch`: sends many prompts as one job. */
export const batch = batchRoot.pipe(Command.withSubcommands([submit, check, batchRun, status, list, batchResults, cancel, remove]))
