import { Effect } from "effect"
import { BatchJobName } from "../../domain/batch/BatchPrediction.ts"
import { BatchPrediction } from "../../ports/BatchPrediction.ts"
import { batchJobToWire, batchSpecFromWire, inJobBody } from "../../wire/batch/BatchPredictions.ts"
import { BatchPredictionJob } from "../../wire/messages/BatchPrediction.ts"
import { type Handlers, take } from "../Call.ts"
import { LongRunning } from "../operations/LongRunning.ts"
import { answered } from "./Operations.ts"
import { nextPage, pageOf } from "./Paging.ts"
import { readMask } from "./ReadMask.ts"

type Methods = Pick<
  Handlers,
  | "createBatchPredictionJob"
  | "listBatchPredictionJobs"
  | "getBatchPredictionJob"
  | "cancelBatchPredictionJob"
  | "deleteBatchPredictionJob"
>

/** Batch prediction jobs, which the engine runs. Files of this machine cannot be used over HTTP. */
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
        const masked = yield* readMask(BatchPredictionJob, query.readMask)
        return {
          batchPredictionJobs: items.map((job) => masked(batchJobToWire(names.renamed(job)))),
          ...nextPage(nextToken)
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
