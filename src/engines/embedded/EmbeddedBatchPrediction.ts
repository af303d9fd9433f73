import { join } from "node:path"
import { Effect, Layer, Schedule, type Scope, Semaphore } from "effect"
import { parseBatchFilter } from "../../domain/batch/BatchFilter.ts"
import { type BatchJob, type BatchJobName, type BatchSpec, batchViolations } from "../../domain/batch/BatchPrediction.ts"
import { renamed } from "../../domain/ChatRefusal.ts"
import { ServiceError, type StateError } from "../../domain/Errors.ts"
import { refusalOf } from "../../domain/Rule.ts"
import { newId, now, timestamp } from "../../domain/Stamps.ts"
import { makeJobRunner, type Outcome } from "../../jobs/JobRunner.ts"
import { pageOfJobs } from "../../jobs/JobTable.ts"
import { waitForBatch } from "../../jobs/Wait.ts"
import { BatchPrediction } from "../../ports/BatchPrediction.ts"
import { ChatModel } from "../../ports/ChatModel.ts"
import { ObjectStore } from "../../ports/ObjectStore.ts"
import { RowModels } from "../../ports/RowModels.ts"
import type { PageRequest } from "../../ports/Paging.ts"
import { TableStore } from "../../ports/TableStore.ts"
import * as Lock from "../../state/Lock.ts"
import { State } from "../../state/State.ts"
import { checkColumns } from "../../text/rows/ReadRows.ts"
import { type BatchTools, clearLeftovers, runJob } from "./batch/BatchRun.ts"
import { BatchTable, type JobEntry } from "./batch/BatchTable.ts"
import type { Names } from "./Names.ts"
import { attemptAt, stateFailure } from "./StateFailure.ts"

export interface EmbeddedBatchOptions {
  /**
   * `always`: runs new jobs, and those that an earlier process left, for as long as the layer lives. `awaited`: runs a job only while a
   * caller waits for it, unless another process already runs jobs.
   */
  readonly run: "always" | "awaited"
  /** Rows that are sent to the model at a time. Default 4. */
  readonly concurrency?: number
  /** Whether jobs may use `file:///…`: see `FolderObjectStore`. Default false. */
  readonly files?: boolean
}

/** Whether a job uses files of this machine. Only programs that may read them run it; a server next to them does not. */
const usesFiles = ({ input, output }: BatchSpec): boolean =>
  [...(input._tag === "jsonl" ? input.uris : []), ...(output._tag === "jsonl" ? [output.uriPrefix] : [])].some((uri) =>
    uri.startsWith("file:")
  )

/** Jobs that run at a time; others wait. */
const concurrentJobs = 4
/** Milliseconds between checks for jobs that another process made, and for a lock that another process holds. */
const jobPoll = 1_000
/** Milliseconds between looks at a job somebody waits for, at first and at most: each counts its rows. */
const firstPoll = 50
const longestPoll = 1_000

/**
 * Batch prediction on one machine: sends rows from folders and SQLite tables to the configured chat model, whatever model a job names. Jobs
 * are rows of the state database and outlive the process; one process at a time runs them.
 */
export const layer = (
  names: Names,
  options: EmbeddedBatchOptions
): Layer.Layer<BatchPrediction, ServiceError, State | ObjectStore | TableStore | ChatModel> =>
  Layer.effect(
    BatchPrediction,
    Effect.gen(function*() {
      const { database, dataDir, path } = yield* State
      const { concurrency = 4 } = options
      const attempt: BatchTools["attempt"] = (body) => attemptAt(path, body)
      const table = yield* attempt(() => new BatchTable(database))
      const tables = yield* TableStore
      const objects = yield* ObjectStore
      const tools: BatchTools = {
        table,
        attempt,
        tables,
        objects,
        chat: yield* ChatModel,
        rowModels: yield* RowModels,
        places: yield* Semaphore.make(concurrency),
        concurrency
      }

      const jobOf = ({ body, done, id, rows, sequence }: JobEntry): Effect.Effect<BatchJob, ServiceError> => {
        const named = { ...body, name: names.batchJob(id) }
        return done || rows === undefined
          ? Effect.succeed(named)
          : Effect.map(attempt(() => table.counts(sequence)), (counts) => ({ ...named, counts }))
      }

      const find = Effect.fnUntraced(function*(name: BatchJob["name"]): Effect.fn.Return<JobEntry, ServiceError> {
        const id = yield* names.batchJobId(name)
        return (yield* attempt(() => table.find(id))) ?? (yield* ServiceError.notFound(`batch prediction job ${name}`))
      })

      const lock = (files: boolean) => Lock.acquire(join(dataDir, files ? "batch-files" : "batch"), "sluice batch")

      /** Takes the lock under which one process at a time runs jobs; waits while another holds it. */
      const alone = (files: boolean): Effect.Effect<void, StateError, Scope.Scope> =>
        lock(files).pipe(
          Effect.retry({ while: (error) => error.problem === "locked", schedule: Schedule.spaced(jobPoll) }),
          Effect.asVoid
        )

      const jobs = yield* makeJobRunner({ what: "job", atOnce: concurrentJobs })
      const job = (name: string) => [name, runJob(tools, name), settle(name)] as const

      /** Records how a job's work ended. An unexpected failure ends the job too, so that it does not fail again and again. */
      const settle = (name: string) => (outcome: Outcome<void>) =>
        outcome._tag !== "failed" ? Effect.void : Effect.gen(function*() {
          yield* Effect.logError(`a batch prediction job failed: ${outcome.error.message}`)
          const at = timestamp(yield* now)
          yield* attempt(() =>
            table.change(name, ({ body }) => ({ ...body, state: "FAILED", error: outcome.error, endTime: at, updateTime: at }))
          )
        })

      const run = (name: string) => Effect.ignore(jobs.run(...job(name)))
      const start = (name: string) => jobs.start(...job(name))

      let poke: ((name: string) => Effect.Effect<void>) | undefined
      if (options.run === "always") {
        yield* Effect.gen(function*() {
          yield* alone(false)
          if (options.files === true) yield* alone(true)
          yield* Effect.ignore(clearLeftovers(tools))
          poke = start
          while (true) {
            for (const { body, id } of yield* attempt(() => table.open())) if (options.files === true || !usesFiles(body)) yield* start(id)
            yield* Effect.sleep(jobPoll)
          }
        }).pipe(
          Effect.catch((error) => Effect.logError(`batch prediction jobs cannot be run: ${error.message}`)),
          Effect.forkScoped
        )
      }

      const create = Effect.fn("BatchPrediction.create")(function*(spec: BatchSpec) {
        const broken = refusalOf(batchViolations(spec, { local: options.files === true }))
        if (broken !== undefined) return yield* broken
        // Only what can be checked without reading rows. The job itself checks the rows, of which there may be many.
        if (spec.input._tag === "table") yield* checkColumns(spec.input.uri, tables, spec.model)
        else {yield* Effect.forEach(spec.input.uris, (uri, at) => within(objects.head(uri), `inputConfig.gcsSource.uris[${at}]`), {
            discard: true
          })}
        if (spec.output._tag === "table") yield* tableIsFree(spec.output.uri)
        else yield* placeIsKnown(spec.output.uriPrefix)
        const name = newId()
        const at = yield* now
        const job = yield* attempt(() =>
          table.create(name, "", (newest) => {
            // Creation times name the folders of results, so no two jobs may have the same millisecond.
            const time = timestamp(Math.max(at, newest === undefined ? 0 : (Date.parse(newest.createTime) + 1) * 1000))
            return { ...spec, state: "PENDING", partialFailures: [], createTime: time, updateTime: time }
          })
        )
        yield* poke?.(name) ?? Effect.void
        return { ...job, name: names.batchJob(name) }
      })

      /** Runs a check of an address, and attributes its error to the field that has the address. */
      const within = <A>(looked: Effect.Effect<A, ServiceError>, field: string) =>
        Effect.mapError(looked, (error) => renamed(error, () => field))

      /** Checks that objects can be put under a prefix; existing ones are left alone. */
      const placeIsKnown = (prefix: string) =>
        within(objects.head(`${prefix.replace(/\/+$/, "")}/prediction`), "outputConfig.gcsDestination.outputUriPrefix").pipe(
          Effect.catchIf(({ code }) => code === "NOT_FOUND", () => Effect.void)
        )

      /** Checks that a table does not exist, and that no other job is going to make it. */
      const tableIsFree = Effect.fnUntraced(function*(uri: string) {
        const field = "outputConfig.bigqueryDestination.outputUri"
        const there = yield* tables.head(uri).pipe(
          Effect.as(true),
          Effect.catchIf(({ code }) => code === "NOT_FOUND", () => Effect.succeed(false))
        )
        if (there) return yield* ServiceError.invalid(field, `table ${uri} is there already`, "name a table that is not there")
        const id = tables.idOf(uri)
        const open = yield* attempt(() => table.open())
        const other = open.find(({ body: { output } }) => output._tag === "table" && id !== undefined && tables.idOf(output.uri) === id)
        if (other !== undefined) return yield* ServiceError.invalid(field, `job ${names.batchJob(other.id)} is making table ${uri}`)
      })

      const get = Effect.fn("BatchPrediction.get")(function*(name: BatchJobName) {
        return yield* jobOf(yield* find(name))
      })

      const list = Effect.fn("BatchPrediction.list")(function*(page: PageRequest, filter = "") {
        const test = yield* Effect.fromResult(parseBatchFilter(filter))
        return yield* pageOfJobs(
          page,
          { size: "pageSize", token: "pageToken" },
          (before, limit) => attempt(() => table.before(before, limit)),
          (entry) => Effect.map(jobOf(entry), (job) => test(job) ? job : undefined)
        )
      })

      const cancel = Effect.fn("BatchPrediction.cancel")(function*(name: BatchJobName) {
        const entry = yield* find(name)
        yield* attempt(() => {
          table.cancel(entry.id)
          table.change(entry.id, ({ body }) => ({ ...body, state: "CANCELLING" }))
        })
        if (options.run === "always") return
        // Where no process runs jobs, no other will end this one.
        yield* lock(usesFiles(entry.body)).pipe(
          Effect.andThen(run(entry.id)),
          Effect.scoped,
          Effect.catchIf(({ problem }) => problem === "locked", () => Effect.void),
          Effect.mapError(stateFailure)
        )
      })

      const remove = Effect.fn("BatchPrediction.delete")(function*(name: BatchJobName) {
        const { body, done, id, sequence } = yield* find(name)
        if (!done) {
          return yield* new ServiceError({
            code: "FAILED_PRECONDITION",
            message: `batch prediction job ${name} is ${body.state}: only jobs that have ended can be deleted`,
            fix: "cancel it first"
          })
        }
        yield* attempt(() => table.remove(id))
        while (yield* attempt(() => table.clear(sequence))) yield* Effect.yieldNow
      })

      const follow = waitForBatch(get, { first: firstPoll, longest: longestPoll })

      const wait: BatchPrediction["Service"]["wait"] = (name, waiting) =>
        Effect.gen(function*() {
          const entry = yield* find(name)
          if (options.run === "always" || entry.done) return yield* follow(name, waiting)
          const runs = alone(usesFiles(entry.body)).pipe(
            Effect.andThen(run(entry.id)),
            Effect.andThen(Effect.never),
            Effect.scoped,
            Effect.mapError(stateFailure)
          )
          return yield* Effect.raceFirst(follow(name, waiting), runs)
        })

      return BatchPrediction.of({ create, get, list, cancel, delete: remove, wait })
    })
  )
