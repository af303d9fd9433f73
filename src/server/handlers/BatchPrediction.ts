import { Effect } from "effect"
import { BatchJobName } from "../../domain/BatchPrediction.ts"
import { ServiceError } from "../../domain/Errors.ts"
import { BatchPrediction } from "../../ports/BatchPrediction.ts"
import { batchJobToWire, batchSpecFromWire, inJobBody } from "../../wire/BatchPredictions.ts"
import { BatchPredictionJob } from "../../wire/messages/BatchPrediction.ts"
import { type Handlers, take } from "../Call.ts"
import { LongRunning } from "../operations/LongRunning.ts"
import { answered } from "./Operations.ts"
import { pageOf } from "./paging.ts"

type Methods = Pick<
  Handlers,
  | "createBatchPredictionJob"
  | "listBatchPredictionJobs"
  | "getBatchPredictionJob"
  | "cancelBatchPredictionJob"
  | "deleteBatchPredictionJob"
>

/** Batch prediction jobs over the engine, which runs them. Files of this machine are not to be had over HTTP. */
export const batchHandlers = (defaultEmbedding: string): Effect.Effect<Methods, never, BatchPrediction | LongRunning> =>
  Effect.gen(function*() {
    const jobs = yield* BatchPrediction
    const operations = yield* LongRunning
    return {
      createBatchPredictionJob: Effect.fnUntraced(function*({ body, names }) {
        const created = Effect.flatMap(take(batchSpecFromWire(body)), jobs.create)
        return batchJobToWire(names.renamed(yield* Effect.mapError(created, inJobBody)))
      }),
      listBatchPredictionJobs: Effect.fnUntraced(function*({ names, query }) {
        const { items, nextToken } = yield* jobs.list(pageOf(query), query.filter)
        const masked = yield* mask(query.readMask)
        return {
          batchPredictionJobs: items.map((job) => masked(batchJobToWire(names.renamed(job)))),
          ...(nextToken === undefined ? {} : { nextPageToken: nextToken })
        }
      }),
      getBatchPredictionJob: ({ names, params }) =>
        Effect.map(jobs.get(BatchJobName.make(names.toEngine(params.name))), (job) => batchJobToWire(names.renamed(job))),
      cancelBatchPredictionJob: ({ names, params }) => Effect.as(jobs.cancel(BatchJobName.make(names.toEngine(params.name))), {}),
      deleteBatchPredictionJob: Effect.fnUntraced(function*({ names, params, slowBy, version }) {
        const name = BatchJobName.make(names.toEngine(params.name))
        yield* jobs.delete(name)
        return answered(yield* operations.finished("deleteBatchJob", name, { slowBy }), version, names, defaultEmbedding)
      })
    }
  })

/** Leaves of each job the fields that were asked for: `name,state`; all, where nothing is said. */
const mask = (paths = ""): Effect.Effect<(job: BatchPredictionJob) => BatchPredictionJob, ServiceError> => {
  const wanted = paths.split(",").map((path) => path.trim().replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())).filter((path) => path !== "")
  if (wanted.length === 0 || wanted.includes("*")) return Effect.succeed((job) => job)
  const strange = wanted.find((field) => !Object.hasOwn(BatchPredictionJob.fields, field))
  if (strange !== undefined) return Effect.fail(ServiceError.invalid("read_mask", `${strange.slice(0, 100)} is no field of a job by itself`))
  return Effect.succeed((job) => Object.fromEntries(Object.entries(job).filter(([field]) => wanted.includes(field))))
}
