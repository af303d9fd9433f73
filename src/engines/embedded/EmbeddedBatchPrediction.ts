import { join } from "node:path"
import { Cause, Effect, FiberMap, Layer, Schedule, type Scope, Semaphore } from "effect"
import { parseBatchFilter } from "../../domain/batch/BatchFilter.ts"
import { type BatchJob, type BatchJobName, type BatchSpec, batchViolations, parseTable, tableUri } from "../../domain/batch/BatchPrediction.ts"
import { renamed } from "../../domain/ChatRefusal.ts"
import { ServiceError, type StateError } from "../../domain/Errors.ts"
import { refusalOf } from "../../domain/Rule.ts"
import { BatchPrediction, waitByLooking } from "../../ports/BatchPrediction.ts"
import { ChatModel } from "../../ports/ChatModel.ts"
import { ObjectStore } from "../../ports/ObjectStore.ts"
import { RowModels } from "../../ports/RowModels.ts"
import type { PageRequest } from "../../ports/Paging.ts"
import { TableStore } from "../../ports/TableStore.ts"
import { asStateError } from "../../state/Database.ts"
import * as Lock from "../../state/Lock.ts"
import { State } from "../../state/State.ts"
import { checkColumns } from "../../text/rows/ReadRows.ts"
import { type BatchTools, clearLeftovers, runJob } from "./batch/BatchRun.ts"
import { BatchTable, type JobEntry } from "./batch/BatchTable.ts"
import { newId, type Names } from "./Names.ts"
import { stateFailure } from "./StateFailure.ts"
import { now, timestamp } from "./Timestamp.ts"

export interface EmbeddedBatchOptions {
  /**
   * `always`: as long as the layer lives, jobs are run as they come, and those taken up that an earlier process left.
   * `awaited`: a job is run by whoever waits for it, unless another process runs jobs already.
   */
  readonly run: "always" | "awaited"
  /** Rows put to the model at once. Default 4. */
  readonly concurrency?: number
  /** Take `file:///…`: see `FolderObjectStore`. Default false. */
  readonly files?: boolean
}

/** Jobs over files of this machine are for programs that may read them: a server beside those leaves them alone. */
const usesFiles = ({ input, output }: BatchSpec): boolean =>
  [...(input._tag === "jsonl" ? input.uris : []), ...(output._tag === "jsonl" ? [output.uriPrefix] : [])].some((uri) => uri.startsWith("file:"))

/** Jobs that run at once; others wait. */
const concurrentJobs = 4
/** Milliseconds between looks for jobs that another process made, and for a lock that another one holds. */
const jobPoll = 1_000
/** Milliseconds between looks at a job somebody waits for, at first and at most: each counts its rows. */
const firstPoll = 50
const longestPoll = 1_000

const defaultPage = 100
const largestPage = 1_000

/**
 * Batch prediction on one machine: rows from folders and SQLite tables, put to the chat model there is, whatever model a
 * job names. Jobs are rows of the state database and outlive the process; one process at a time runs them.
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
      const attempt: BatchTools["attempt"] = (body) =>
        Effect.try({ try: body, catch: (cause) => cause instanceof ServiceError ? cause : stateFailure(asStateError(cause, path)) })
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

      const jobOf = ({ ended, id, job, name, rows }: JobEntry): Effect.Effect<BatchJob, ServiceError> => {
        const named = { ...job, name: names.batchJob(name) }
        return ended || rows === undefined ? Effect.succeed(named) : Effect.map(attempt(() => table.counts(id)), (counts) => ({ ...named, counts }))
      }

      const find = Effect.fnUntraced(function*(name: BatchJob["name"]): Effect.fn.Return<JobEntry, ServiceError> {
        const id = yield* names.batchJobId(name)
        return (yield* attempt(() => table.find(id))) ?? (yield* ServiceError.notFound(`batch prediction job ${name}`))
      })

      const lock = (files: boolean) => Lock.acquire(join(dataDir, files ? "batch-files" : "batch"), "sluice batch")

      /** One process at a time; what another one holds is waited for. */
      const alone = (files: boolean): Effect.Effect<void, StateError, Scope.Scope> =>
        lock(files).pipe(
          Effect.retry({ while: (error) => error.problem === "locked", schedule: Schedule.spaced(jobPoll) }),
          Effect.asVoid
        )

      /** What goes wrong with a job beyond what it can tell itself ends it, so that it does not fail again and again. */
      const drive = (name: string) =>
        runJob(tools, name).pipe(
          Effect.catchCauseIf((cause) => !Cause.hasInterruptsOnly(cause), Effect.fnUntraced(function*(cause) {
            const error = Cause.squash(cause)
            const { code, message } = error instanceof ServiceError ? error : ServiceError.internal("the job failed unexpectedly")
            const at = timestamp(yield* now)
            yield* Effect.logError("a batch prediction job failed", Cause.pretty(cause))
            yield* attempt(() => table.change(name, () => ({
              ended: true,
              job: { state: "FAILED", error: { code, message }, endTime: at, updateTime: at }
            })))
          })),
          Effect.ignore
        )

      const running = yield* FiberMap.make<string>()
      let poke: ((name: string) => Effect.Effect<void>) | undefined
      if (options.run === "always") {
        const places = yield* Semaphore.make(concurrentJobs)
        yield* Effect.gen(function*() {
          yield* alone(false)
          if (options.files === true) yield* alone(true)
          yield* Effect.ignore(clearLeftovers(tools))
          const start = (name: string) => FiberMap.run(running, name, places.withPermit(drive(name)), { onlyIfMissing: true }).pipe(Effect.asVoid)
          poke = start
          while (true) {
            for (const { job, name } of yield* attempt(() => table.open())) if (options.files === true || !usesFiles(job)) yield* start(name)
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
        // What can be seen without reading a row. The rows themselves are the job's to look at, however many they are.
        if (spec.input._tag === "table") yield* checkColumns(spec.input.uri, tables, spec.model)
        else yield* Effect.forEach(spec.input.uris, (uri, at) => within(objects.head(uri), `inputConfig.gcsSource.uris[${at}]`), { discard: true })
        if (spec.output._tag === "table") yield* tableIsFree(spec.output.uri)
        else yield* placeIsKnown(spec.output.uriPrefix)
        const name = newId()
        const at = yield* now
        const job = yield* attempt(() => table.create(name, (newest) => {
          // Their times name the folders of their results: no two jobs may have the same millisecond.
          const time = timestamp(Math.max(at, newest === undefined ? 0 : (Date.parse(newest) + 1) * 1000))
          return { ...spec, state: "PENDING", partialFailures: [], createTime: time, updateTime: time }
        }))
        yield* poke?.(name) ?? Effect.void
        return { ...job, name: names.batchJob(name) }
      })

      /** What a store says of an address, about the field that it stood in. */
      const within = <A>(looked: Effect.Effect<A, ServiceError>, field: string) => Effect.mapError(looked, (error) => renamed(error, () => field))

      /** Whether objects may be put there; what is there already is left alone. */
      const placeIsKnown = (prefix: string) =>
        within(objects.head(`${prefix.replace(/\/+$/, "")}/prediction`), "outputConfig.gcsDestination.outputUriPrefix").pipe(
          Effect.catchIf(({ code }) => code === "NOT_FOUND", () => Effect.void)
        )

      /** The table must not be there, nor be what another job is going to make. */
      const tableIsFree = Effect.fnUntraced(function*(uri: string) {
        const field = "outputConfig.bigqueryDestination.outputUri"
        const there = yield* tables.head(uri).pipe(Effect.as(true), Effect.catchIf(({ code }) => code === "NOT_FOUND", () => Effect.succeed(false)))
        if (there) return yield* ServiceError.invalid(field, `table ${uri} is there already`, "name a table that is not there")
        const same = (other: string) => {
          const [a, b] = [parseTable(uri), parseTable(other)]
          return a !== undefined && b !== undefined && tableUri({ ...a, project: "" }) === tableUri({ ...b, project: "" })
        }
        const open = yield* attempt(() => table.open())
        const other = open.find(({ job: { output } }) => output._tag === "table" && same(output.uri))
        if (other !== undefined) return yield* ServiceError.invalid(field, `job ${names.batchJob(other.name)} is making table ${uri}`)
      })

      const get = Effect.fn("BatchPrediction.get")(function*(name: BatchJobName) {
        return yield* jobOf(yield* find(name))
      })

      const list = Effect.fn("BatchPrediction.list")(function*({ size = defaultPage, token = "" }: PageRequest, filter = "") {
        const test = yield* Effect.fromResult(parseBatchFilter(filter))
        const limit = size === 0 ? defaultPage : Math.min(size, largestPage)
        if (!Number.isInteger(limit) || limit < 0) return yield* ServiceError.invalid("pageSize", "must be 1 to 1000")
        let before = token === "" ? Number.MAX_SAFE_INTEGER : Number(/^before:(\d{1,15})$/.exec(Buffer.from(token, "base64url").toString("utf8"))?.[1])
        if (Number.isNaN(before)) return yield* ServiceError.invalid("pageToken", "is not one that a listing gave")
        const items: Array<BatchJob> = []
        for (;;) {
          const page = yield* attempt(() => table.page(before, largestPage))
          for (const entry of page) {
            const job = yield* jobOf(entry)
            if (!test(job)) continue
            if (items.length === limit) return { items, nextToken: Buffer.from(`before:${before}`).toString("base64url") }
            items.push(job)
            before = entry.id
          }
          if (page.length < largestPage) return { items }
          before = page.at(-1)?.id ?? 0
        }
      })

      const cancel = Effect.fn("BatchPrediction.cancel")(function*(name: BatchJobName) {
        const entry = yield* find(name)
        yield* attempt(() => table.change(entry.name, () => ({ cancelled: true, job: { state: "CANCELLING" } })))
        if (options.run === "always") return
        // Where nobody runs it, there is nobody else to end it.
        yield* lock(usesFiles(entry.job)).pipe(
          Effect.andThen(drive(entry.name)),
          Effect.scoped,
          Effect.catchIf(({ problem }) => problem === "locked", () => Effect.void),
          Effect.mapError(stateFailure)
        )
      })

      const remove = Effect.fn("BatchPrediction.delete")(function*(name: BatchJobName) {
        const { ended, id, job, name: key } = yield* find(name)
        if (!ended) {
          return yield* new ServiceError({
            code: "FAILED_PRECONDITION",
            message: `batch prediction job ${name} is ${job.state}: only jobs that have ended can be deleted`,
            fix: "cancel it first"
          })
        }
        yield* attempt(() => table.remove(key))
        while (yield* attempt(() => table.clear(id))) yield* Effect.yieldNow
      })

      const follow = waitByLooking(get, { first: firstPoll, longest: longestPoll })

      const wait: BatchPrediction["Service"]["wait"] = (name, waiting) =>
        Effect.gen(function*() {
          const entry = yield* find(name)
          if (options.run === "always" || entry.ended) return yield* follow(name, waiting)
          const runs = alone(usesFiles(entry.job)).pipe(Effect.andThen(drive(entry.name)), Effect.andThen(Effect.never), Effect.scoped, Effect.mapError(stateFailure))
          return yield* Effect.raceFirst(follow(name, waiting), runs)
        })

      return BatchPrediction.of({ create, get, list, cancel, delete: remove, wait })
    })
  )
