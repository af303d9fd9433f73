import { Clock, Effect, Random, Result } from "effect"
import { randomUUID } from "node:crypto"
import type { CorpusName } from "../../domain/Corpus.ts"
import type { ServiceError, StateError } from "../../domain/Errors.ts"
import { runningImports } from "../../domain/Import.ts"
import { OperationName, type Operation } from "../../domain/Operation.ts"
import { claim, isOrphan, release } from "../../jobs/JobRunner.ts"
import type { Operations } from "../../ports/Operations.ts"
import type { Quota } from "../../ports/Quota.ts"
import { quotaLost, type Transport } from "./Transport.ts"

/** Imports that the service runs at the same time in a project and region. */
const places = 3
/** Milliseconds before the second look at the operations that have the places; each look costs a management request. */
const firstWaitMs = 500
/** Most milliseconds between two such looks. */
const longestWaitMs = 15_000
/** Milliseconds after which an import that is still being started counts as dead. */
const startMs = 15 * 60_000
/** Milliseconds after which an import is given up that nobody watches any more, or that waits for others. */
const runMs = 24 * 3_600_000

/** Prefix of a holder that is still starting its import: the id of its process, and its own. */
const starting = "starting/"

const wasStartedByDead = (holder: string): boolean => {
  const [, pid = "", id = ""] = holder.split("/")
  return isOrphan(id, Number(pid))
}

/** Places that imports share: at most `limit` are taken at a time. */
interface Places {
  readonly bucket: string
  readonly limit: number
}

interface Tools {
  readonly operations: Operations["Service"]
  readonly quota: Quota["Service"]
  readonly transport: Transport["Service"]
}

/**
 * Starts an import once its corpus's only place and one of the service's places are free. The operation keeps both until it is done; while
 * none is free, the operations that have them are watched. An import that the service refuses because of operations unknown here is sent
 * again when these are done.
 */
export const inImportPlace = Effect.fnUntraced(function*(
  { operations, quota, transport }: Tools,
  corpus: CorpusName,
  start: Effect.Effect<Operation, ServiceError>
) {
  const { endpoint: { host }, parent } = transport
  const kept = <A>(effect: Effect.Effect<A, StateError>): Effect.Effect<A, ServiceError> => Effect.mapError(effect, quotaLost)
  /** Pauses that double each time: short imports are soon over, and long ones need few looks. */
  const pauses = () => {
    let waitMs = firstWaitMs / 2
    return Effect.flatMap(Random.nextBetween(0.8, 1.2), (jitter) => {
      waitMs = Math.min(longestWaitMs, waitMs * 2)
      return Effect.sleep(waitMs * jitter)
    })
  }
  const isOver = (name: string): Effect.Effect<boolean, ServiceError> =>
    operations.get(OperationName.make(name)).pipe(
      Effect.map((operation) => operation.done),
      Effect.catchIf(({ code }) => code === "NOT_FOUND", () => Effect.succeed(true))
    )

  /** Starts an operation once a place is free, and passes the place to the operation. */
  const inPlace = Effect.fnUntraced(
    function*({ bucket, limit }: Places, start: Effect.Effect<Operation, ServiceError>): Effect.fn.Return<Operation, ServiceError> {
      const id = randomUUID()
      const me = `${starting}${process.pid}/${id}`
      claim(id)
      const pause = pauses()
      return yield* Effect.gen(function*() {
        for (;;) {
          const holders = yield* kept(quota.occupy(bucket, limit, me, startMs))
          if (holders.length === 0) break
          const ended = yield* Effect.filter(
            holders,
            (holder) => holder.startsWith(starting) ? Effect.sync(() => wasStartedByDead(holder)) : isOver(holder)
          )
          yield* Effect.forEach(ended, (holder) => kept(quota.vacate(bucket, holder)), { discard: true })
          if (ended.length === 0) yield* pause
        }
        return yield* start.pipe(
          Effect.tap((operation) => operation.done ? Effect.void : kept(quota.occupy(bucket, Infinity, operation.name, runMs)))
        )
      }).pipe(
        Effect.onExit(() => Effect.andThen(Effect.sync(() => release(id)), Effect.ignore(quota.vacate(bucket, me))))
      )
    }
  )

  const placed = inPlace(
    { bucket: `${host}/${corpus}/imports`, limit: 1 },
    inPlace({ bucket: `${host}/${parent}/imports`, limit: places }, start)
  )
  const giveUp = (yield* Clock.currentTimeMillis) + runMs
  for (;;) {
    const started = yield* Effect.result(placed)
    if (Result.isSuccess(started)) return started.success
    const others = runningImports(started.failure)
    if (others === undefined || (yield* Clock.currentTimeMillis) >= giveUp) return yield* started.failure
    const pause = pauses()
    do yield* pause
    while (!(yield* Effect.forEach(others, (id) => isOver(`${parent}/operations/${id}`))).every(Boolean))
  }
})
