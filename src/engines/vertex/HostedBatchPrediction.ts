import { isDeepStrictEqual } from "node:util"
import { Clock, Effect, Layer, Option, Result, Stream } from "effect"
import { type BatchJob, type BatchJobName, type BatchSpec, batchViolations } from "../../domain/batch/BatchPrediction.ts"
import { refusalOf } from "../../domain/Rule.ts"
import { waitForBatch } from "../../jobs/Wait.ts"
import { BatchPrediction } from "../../ports/BatchPrediction.ts"
import { type PageRequest, pages } from "../../ports/Paging.ts"
import { batchJobFromWire, batchSpecToWire } from "../../wire/batch/BatchPredictions.ts"
import { routes } from "../../wire/Routes.ts"
import { deleteOnce } from "./LongRunning.ts"
import { inDoubt, idempotentWrite } from "./IdempotentWrite.ts"
import { pageOf, pageQuery } from "./Paging.ts"
import { Transport } from "./Transport.ts"
import { Unanswered } from "./Unanswered.ts"

export interface HostedBatchOptions {
  /** Milliseconds before the second look at a job that is being waited for. Default 2,000. */
  readonly firstDelay?: number
}

/** Most milliseconds between two looks: each costs a request, and jobs take minutes to a day. */
const longestDelay = 60_000

/** Clocks are assumed to differ by less. The same job is hardly ever requested twice within this time. */
const skewMs = 60_000

/**
 * Batch prediction by the service, in one project and location. `list` leaves out jobs of other kinds, such as those of custom models that
 * read CSV.
 */
export const layer = (options: HostedBatchOptions = {}): Layer.Layer<BatchPrediction, never, Transport> =>
  Layer.effect(
    BatchPrediction,
    Effect.gen(function*() {
      const transport = yield* Transport
      const { parent } = transport

      const get = Effect.fn("HostedBatchPrediction.get")(function*(name: BatchJobName) {
        return yield* Effect.fromResult(batchJobFromWire(yield* transport.call({ route: routes.getBatchPredictionJob, params: { name } })))
      })

      const list = Effect.fn("HostedBatchPrediction.list")(function*(page: PageRequest, filter?: string) {
        const query = { ...pageQuery(page), ...(filter === undefined ? {} : { filter }) }
        const listed = yield* transport.call({ route: routes.listBatchPredictionJobs, params: { parent }, query })
        const ours = listed.batchPredictionJobs?.filter((job) => Result.isSuccess(batchJobFromWire(job)))
        return yield* pageOf(page, ours, listed.nextPageToken, batchJobFromWire)
      })

      const create = Effect.fn("HostedBatchPrediction.create")(function*(spec: BatchSpec) {
        const broken = refusalOf(batchViolations(spec))
        if (broken !== undefined) return yield* broken
        const body = batchSpecToWire(spec)
        const since = yield* Clock.currentTimeMillis
        return yield* idempotentWrite<BatchJob>({
          retry: transport.retry,
          send: Effect.flatMap(
            transport.callOnce({ route: routes.createBatchPredictionJob, params: { parent }, body }),
            // The job was made, whatever the answer is.
            (made) => Effect.mapError(Effect.fromResult(batchJobFromWire(made)), (error) => new Unanswered({ error }))
          ),
          find: pages((page) => list(page, `display_name=${JSON.stringify(spec.displayName)}`), 100).pipe(
            Stream.filter((job) => isDeepStrictEqual(batchSpecToWire(job), body) && Date.parse(job.createTime) >= since - skewMs),
            Stream.runHead,
            Effect.map(Option.getOrUndefined)
          )
        })
      }, Effect.catchTag("Unanswered", ({ error }) => Effect.fail(inDoubt(error, "the job was made", "sluice batch list"))))

      return BatchPrediction.of({
        create,
        get,
        list,
        wait: waitForBatch(get, { first: options.firstDelay ?? 2_000, longest: longestDelay }),
        cancel: Effect.fn("HostedBatchPrediction.cancel")(function*(name) {
          yield* transport.call({ route: routes.cancelBatchPredictionJob, params: { name }, body: {} })
        }),
        delete: Effect.fn("HostedBatchPrediction.delete")(function*(name) {
          yield* deleteOnce(transport, { route: routes.deleteBatchPredictionJob, params: { name } })
        })
      })
    })
  )
