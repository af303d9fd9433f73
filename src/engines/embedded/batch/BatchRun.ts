import { Clock, type Context, Duration, Effect, Option, Result, Schedule, type Semaphore, Stream } from "effect"
import { modelId } from "../../../domain/batch/BatchPrediction.ts"
import {
  completionOf,
  failureToJson,
  ownForm,
  promptColumn,
  requestOf,
  type RowFailure,
  type RowForm
} from "../../../domain/batch/BatchRow.ts"
import { renamed } from "../../../domain/ChatRefusal.ts"
import type { JsonRecord } from "../../../domain/Chat.ts"
import { ServiceError } from "../../../domain/Errors.ts"
import type { ChatModel } from "../../../ports/ChatModel.ts"
import type { RowModels } from "../../../ports/RowModels.ts"
import type { Column } from "../../../ports/TableStore.ts"
import { noRows, RowProblems } from "../../../text/rows/CheckRows.ts"
import { readRows, type Stores } from "../../../text/rows/ReadRows.ts"
import { now, timestamp } from "../../../domain/Stamps.ts"
import { cancelled } from "../../../jobs/JobRunner.ts"
import type { AnsweredRow, BatchTable, JobEntry, KeptJob, KeptRow } from "./BatchTable.ts"

export interface BatchTools extends Stores {
  readonly table: BatchTable
  /** Runs synchronous work on the table, and turns its failures into service errors. */
  readonly attempt: <A>(body: () => A) => Effect.Effect<A, ServiceError>
  readonly chat: ChatModel["Service"]
  readonly rowModels: Context.Service.Shape<typeof RowModels>
  /** Permits for rows under way, shared by all jobs. */
  readonly places: Semaphore.Semaphore
  /** Number of these permits. */
  readonly concurrency: number
}

/** Rows that are read from the table at a time. */
const pageSize = 200
/** Rows per result file. */
const perFile = 100_000
/** Most failures that a job reports. All are counted, and are in its results. */
const mostFailures = 20
/** Number of consecutive rows that fail through no fault of their own, after which the job gives up. */
const hopeless = 20
/** Milliseconds between checks whether the job was cancelled. */
const cancelPoll = 200
/** Most different columns that rows of files may bring to a table. */
const mostColumns = 1_000

/** Codes of failures that are the row's own fault, and say nothing about further rows. */
const ownFault = new Set(["INVALID_ARGUMENT", "FAILED_PRECONDITION", "OUT_OF_RANGE"])

/**
 * Runs a job to its end, from wherever an earlier process left it. First all rows of the input are checked and copied. Then each
 * row without an answer is sent to the model. When no row is left, results are written from the copies. So a process that dies
 * loses at most the answers under way, and no row is in the results twice.
 */
export const runJob = Effect.fn("Batch.run")(function*(tools: BatchTools, name: string): Effect.fn.Return<void, ServiceError> {
  const { attempt, table } = tools
  const entry = yield* attempt(() => table.find(name))
  if (entry === undefined || entry.done) return
  yield* start(tools, entry)
  const stopped = yield* Effect.raceFirst(work(tools, name), stopping(tools, name)).pipe(
    Effect.match({ onFailure: (error) => error, onSuccess: () => undefined })
  )
  yield* finish(tools, name, stopped)
  while (yield* attempt(() => table.clear(entry.sequence))) yield* Effect.yieldNow
})

/** Deletes the rows of jobs that ended just before their process did. */
export const clearLeftovers = Effect.fnUntraced(function*({ attempt, table }: BatchTools) {
  for (const job of yield* attempt(() => table.leftovers())) {
    while (yield* attempt(() => table.clear(job))) yield* Effect.yieldNow
  }
})

const start = Effect.fnUntraced(function*({ attempt, chat, table }: BatchTools, { id }: JobEntry) {
  const at = timestamp(yield* now)
  yield* attempt(() =>
    table.change(
      id,
      ({ body }) =>
        body.state === "PENDING" ? { ...body, state: "RUNNING", startTime: at, updateTime: at, modelVersionId: chat.model } : body
    )
  )
})

const stopping = ({ attempt, table }: BatchTools, name: string): Effect.Effect<never, ServiceError> =>
  cancelled(Effect.map(attempt(() => table.find(name)), (entry) => entry === undefined || entry.done || entry.cancelled), {
    pollMs: cancelPoll,
    what: "job"
  })

const work = Effect.fnUntraced(function*(tools: BatchTools, name: string) {
  const { attempt, table } = tools
  // A turn of the event loop, so that a cancellation before the first row takes effect.
  yield* Effect.yieldNow
  const before = yield* attempt(() => table.find(name))
  if (before === undefined) return
  if (before.rows === undefined) yield* copyRows(tools, before)
  yield* tryPlace(tools, before)
  yield* answerRows(tools, name)
})

/** Copies the input, or fails with its faults. */
const copyRows = Effect.fnUntraced(function*(tools: BatchTools, { body: job, sequence: id }: JobEntry) {
  const { attempt, table, tables } = tools
  // An earlier process may have copied part of it.
  while (yield* attempt(() => table.clear(id))) yield* Effect.yieldNow
  const problems = new RowProblems()
  const columns = new Columns()
  let row = 0
  let form: RowForm | undefined
  yield* readRows(job.input, tools, job.model).pipe(
    Stream.mapEffect((group) => {
      const rows = group.flatMap((placed): ReadonlyArray<KeptRow> => {
        row += 1
        problems.addAll(placed, row)
        if (placed.row === undefined) return []
        if (job.output._tag === "table") columns.add(placed.row.carried)
        if (placed.row.form !== (form ??= placed.row.form)) {
          problems.addAll(
            { place: placed.place, problems: [{ path: "", rule: `must have ${promptColumn(form)}, as the rows before it` }] },
            row
          )
        }
        const { body, carried, customId = `#${row}` } = placed.row
        return [{ body, carried, customId, row, place: placed.place }]
      })
      return Effect.map(attempt(() => table.addRows(id, rows)), (repeated) => {
        for (const { first, place, row } of repeated) problems.addRepeated(place, first, row)
        return problems.full
      })
    }),
    Stream.takeUntil((full) => full),
    Stream.runDrain
  )
  if (problems.any) return yield* problems.error()
  if (row === 0) return yield* noRows(job.input)
  const given = job.input._tag === "table"
    ? (yield* tables.head(job.input.uri)).columns.filter(({ name }) => name !== "method" && name !== "url")
    : yield* Effect.fromResult(columns.found(form ?? "chat"))
  yield* attempt(() => table.setRows(id, row, given))
})

/** Checks, before the first row is sent, that results can be written to their destination. */
const tryPlace = Effect.fnUntraced(function*({ attempt, objects, table, tables }: BatchTools, { id }: JobEntry) {
  const entry = yield* attempt(() => table.find(id))
  if (entry === undefined) return
  const { body: job, columns = [] } = entry
  if (job.output._tag === "table") {
    return yield* tables.put(job.output.uri, outputColumns(formOf(entry), columns), Stream.empty, { replace: true })
  }
  const probe = `${resultFolder(job)}/predictions_0001.jsonl`
  yield* Effect.andThen(objects.put(probe, new Uint8Array(0)), objects.delete(probe))
})

/** The form of a job's rows, which is the same for all of them. */
const formOf = ({ body: { model }, columns = [] }: JobEntry): RowForm => {
  const has = (name: string): boolean => columns.some((column) => column.name === name)
  return has("request") && !has("body") ? ownForm(model) ?? "chat" : "chat"
}

const answerRows = Effect.fnUntraced(function*(tools: BatchTools, name: string) {
  const { attempt, concurrency, places, table } = tools
  const entry = yield* attempt(() => table.find(name))
  if (entry === undefined) return
  const { body: { model }, sequence: id } = entry
  const form = formOf(entry)
  let failedInARow = 0
  yield* Stream.paginate<number, AnsweredRow, ServiceError>(
    0,
    (after) =>
      Effect.map(
        attempt(() => table.rows(id, "open", after, pageSize)),
        (rows) => [rows, rows.length < pageSize ? Option.none() : Option.some(rows.at(-1)?.row ?? after)] as const
      )
  ).pipe(
    Stream.mapEffect((row) =>
      places.withPermit(answer(tools, id, form, model, row)).pipe(Effect.matchEffect({
        onSuccess: (response) => {
          failedInARow = 0
          return attempt(() => table.answer(id, row.row, { response }))
        },
        onFailure: (error) => {
          if (!ownFault.has(error.code)) failedInARow += 1
          const failure = { code: error.code, message: error.message }
          return Effect.andThen(
            attempt(() => table.answer(id, row.row, { error: failure })),
            failedInARow < hopeless ? Effect.void : new ServiceError({
              code: error.code,
              message: `${hopeless} rows failed one after the other, the last one with: ${error.message}`,
              fix: error.fix
            })
          )
        }
      })), { concurrency, unordered: true }),
    Stream.runDrain
  )
})

/** Most milliseconds that a model may make a row wait. */
const longestWait = 120_000

/** Retries of a row: neither a connection that breaks during an answer nor a model that asks to wait fails the row at once. */
const again = Schedule.exponential(Duration.millis(500)).pipe(
  Schedule.jittered,
  Schedule.upTo({ times: 5 }),
  Schedule.setInputType<ServiceError>(),
  Schedule.while(({ attempt, input: { retryAfter, retryable } }) =>
    retryable && (retryAfter === undefined ? attempt <= 1 : retryAfter <= longestWait)
  ),
  Schedule.modifyDelay(({ duration, input: { retryAfter } }) =>
    Effect.succeed(retryAfter === undefined ? duration : Duration.millis(retryAfter))
  )
)

const answer = Effect.fnUntraced(
  function*({ chat, rowModels }: BatchTools, id: number, form: RowForm, model: string, { body, row }: KeptRow) {
    if (form !== "chat") {
      return yield* rowModels[form](model, body).pipe(
        Effect.retry(again),
        Effect.mapError((error) => renamed(error, (field) => `request.${field}`))
      )
    }
    const request = requestOf(body)
    if ("rule" in request) return yield* ServiceError.invalid(request.path, request.rule)
    const events = yield* Stream.runCollect(chat.stream(request)).pipe(
      Effect.retry(again),
      Effect.mapError((error) => renamed(error, (field) => field.startsWith("turns") ? "body.messages" : `body.${field}`))
    )
    const created = Math.floor((yield* Clock.currentTimeMillis) / 1000)
    return completionOf(events, { id: `chatcmpl-${resultId(id, row)}`, model: chat.model, created })
  }
)

const resultId = (job: number, row: number): string => `${job}-${row}`

/** Writes the results so far, and ends the job in its final state. `stopped` is the reason if it ended early. */
const finish = Effect.fnUntraced(function*(tools: BatchTools, name: string, stopped: ServiceError | undefined) {
  const { attempt, table } = tools
  const entry = yield* attempt(() => table.find(name))
  if (entry === undefined || entry.done) return
  const counts = yield* attempt(() => table.counts(entry.sequence))
  // If not all rows were copied, there are no results and no counts.
  const counted = entry.rows === undefined ? {} : { counts }
  const written = entry.rows === undefined || counts.successful + counts.failed === 0
    ? Effect.succeed({})
    : Effect.map(writeResults(tools, entry), (results) => ({ results }))
  const outcome = yield* Effect.result(written)
  const error = stopped ?? (outcome._tag === "Failure" ? outcome.failure : undefined) ??
    (counts.successful === 0 && counts.failed > 0 ? yield* firstFailure(tools, entry.sequence) : undefined)
  const failures = yield* attempt(() => table.rows(entry.sequence, "failed", 0, mostFailures))
  const at = timestamp(yield* now)
  yield* attempt(() =>
    table.change(name, ({ body }) => ({
      ...body,
      state: error === undefined
        ? (counts.failed === 0 ? "SUCCEEDED" : "PARTIALLY_SUCCEEDED")
        : error.code === "CANCELLED"
        ? "CANCELLED"
        : "FAILED",
      endTime: at,
      updateTime: at,
      ...counted,
      ...(outcome._tag === "Success" ? outcome.success : {}),
      ...(error === undefined ? {} : { error: { code: error.code, message: error.message } }),
      partialFailures: failures.map(({ error = unknown, place }) => ({ code: error.code, message: `${place}: ${error.message}` }))
    }))
  )
})

const unknown: RowFailure = { code: "UNKNOWN", message: "" }

const firstFailure = Effect.fnUntraced(function*({ attempt, table }: BatchTools, id: number) {
  const [first] = yield* attempt(() => table.rows(id, "failed", 0, 1))
  return new ServiceError({
    code: first?.error?.code ?? "UNKNOWN",
    message: `every row failed, the first one (${first?.place}) with: ${first?.error?.message}`
  })
})

/**
 * Writes results in the service's layout: a new folder with prediction files, and with error files if rows failed; or a new table, in which
 * the response of a failed row says why. Whatever an earlier process started is overwritten.
 */
const writeResults = Effect.fnUntraced(function*(tools: BatchTools, entry: JobEntry) {
  const { body: job, columns = [], sequence: id } = entry
  const { tables } = tools
  const form = formOf(entry)
  if (job.output._tag === "table") {
    const rows = pagesOf((after) => tools.attempt(() => tools.table.asked(id, after, pageSize)))
    yield* tables.put(
      job.output.uri,
      outputColumns(form, columns),
      Stream.map(rows, (page) => page.map((row) => ({ ...outputRow(form, id, row), response: row.response ?? { error: row.error } }))),
      { replace: true }
    )
    return { _tag: "table" as const, uri: job.output.uri }
  }
  const uri = resultFolder(job)
  yield* writeFiles(tools, id, "answered", `${uri}/predictions_`, (row) => ({ ...outputRow(form, id, row), response: row.response }))
  yield* writeFiles(
    tools,
    id,
    "failed",
    `${uri}/errors_`,
    (row) => ({ ...outputRow(form, id, row), error: failureToJson(row.error ?? unknown) })
  )
  return { _tag: "folder" as const, uri }
})

const writeFiles = Effect.fnUntraced(function*(
  { attempt, objects, table }: BatchTools,
  id: number,
  state: "answered" | "failed",
  prefix: string,
  lineOf: (row: AnsweredRow) => JsonRecord
) {
  const counts = yield* attempt(() => table.counts(id))
  const files = Math.ceil((state === "answered" ? counts.successful : counts.failed) / perFile)
  let last = 0
  for (let file = 1; file <= files; file++) {
    const rows = pagesOf((after) => attempt(() => table.rows(id, state, after, pageSize)), last).pipe(
      Stream.take(perFile / pageSize),
      Stream.tap((page) => Effect.sync(() => void (last = page.at(-1)?.row ?? last))),
      Stream.map((page) => page.map((row) => `${JSON.stringify(lineOf(row))}\n`).join(""))
    )
    yield* objects.put(`${prefix}${String(file).padStart(4, "0")}.jsonl`, Stream.encodeText(rows), { contentType: "application/jsonl" })
  }
})

const pagesOf = (
  read: (after: number) => Effect.Effect<ReadonlyArray<AnsweredRow>, ServiceError>,
  from = 0
): Stream.Stream<ReadonlyArray<AnsweredRow>, ServiceError> =>
  Stream.paginate(
    from,
    (after) =>
      Effect.map(read(after), (rows) =>
        [rows.length === 0 ? [] : [rows], rows.length < pageSize ? Option.none<number>() : Option.some(rows.at(-1)?.row ?? after)] as const)
  )

/** Fields that every row of the output has; none has `method` and `url`. The status of an answered row is empty. */
const outputRow = (form: RowForm, job: number, { body, carried, customId, error, row }: AnsweredRow): JsonRecord => ({
  custom_id: form === "gemini" ? undefined : customId,
  ...carried,
  [promptColumn(form)]: body,
  ...(form === "chat" ? { id: resultId(job, row) } : { status: error?.message ?? "" })
})

const outputColumns = (form: RowForm, columns: ReadonlyArray<Column>): ReadonlyArray<Column> => [
  ...columns,
  { name: form === "chat" ? "id" : "status", type: "STRING" },
  { name: "response", type: "JSON" }
]

const resultFolder = ({ createTime, model, output }: KeptJob): string => {
  const prefix = output._tag === "jsonl" ? output.uriPrefix.replace(/\/+$/, "") : ""
  return `${prefix}/prediction-${modelId(model)}-${new Date(createTime).toISOString()}`
}

/** Collects all columns of the rows of files, which may have different ones. */
class Columns {
  readonly #types = new Map<string, Column["type"]>()

  add(carried: JsonRecord): void {
    for (const [name, value] of Object.entries(carried)) {
      if (value === null) continue
      const type = typeof value === "string" ? "STRING" : typeof value === "boolean" ? "BOOLEAN" : "JSON"
      const known = this.#types.get(name)
      if (known !== type && (known !== undefined || this.#types.size <= mostColumns)) {
        this.#types.set(name, known === undefined ? type : "JSON")
      }
    }
  }

  found(form: RowForm): Result.Result<ReadonlyArray<Column>, ServiceError> {
    const names = [...this.#types.keys()]
    const own: ReadonlyArray<Column> = form === "gemini" ? [] : [{ name: "custom_id", type: "STRING" }]
    const prompt: Column = { name: promptColumn(form), type: "JSON" }
    const folded = new Set([...own, prompt, ...outputColumns(form, [])].map(({ name }) => name))
    const twice = names.find((name) => folded.size === folded.add(name.toLowerCase()).size)
    if (twice !== undefined) {
      return Result.fail(ServiceError.invalid("inputConfig.gcsSource.uris", `rows have columns that a table cannot tell from ${twice}`))
    }
    if (names.length > mostColumns) {
      return Result.fail(
        ServiceError.invalid(
          "inputConfig.gcsSource.uris",
          `rows have more than ${mostColumns} different columns, which is more than a table takes`
        )
      )
    }
    return Result.succeed([
      ...own,
      ...[...this.#types].map(([name, type]): Column => ({ name, type })),
      prompt
    ])
  }
}
