import { Clock, Effect, Random, Result } from "effect"
import { randomUUID } from "node:crypto"
import type { CorpusName } from "../../domain/Corpus.ts"
import type { ServiceError, StateError } from "../../domain/Errors.ts"
import { runningImports } from "../../domain/Import.ts"
import { OperationName, type Operation } from "../../domain/Operation.ts"
import type { Operations } from "../../ports/Operations.ts"
import type { Quota } from "../../ports/Quota.ts"
import { quotaLost, type Transport } from "./Transport.ts"

/** Imports that the service runs at once in a project and region. */
const places = 3
/** Before the second look at those who have the places, and most between two: each look costs a management request. */
const firstWaitMs = 500
const longestWaitMs = 15_000
/** Until an import that is being started is given up for dead. */
const startMs = 15 * 60_000
/** Until an import that nobody looks at any more, or that others stand in the way of, is given up. */
const runMs = 24 * 3_600_000

/** Places that imports share: no more than `limit` are taken at once. */
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
 * Starts an import in the one place of its corpus and one of those that the service has. Both are the operation's until
 * it is done; where none is free, those who have them are looked after. An import that the service refuses because of
 * operations we know nothing of is sent again when these are done.
 */
export const inImportPlace = Effect.fnUntraced(function*(
  { operations, quota, transport }: Tools,
  corpus: CorpusName,
  start: Effect.Effect<Operation, ServiceError>
) {
  const { endpoint: { host }, parent } = transport
  const kept = <A>(effect: Effect.Effect<A, StateError>): Effect.Effect<A, ServiceError> => Effect.mapError(effect, quotaLost)
  /** Pauses that double from one to the next: short imports are soon over, and long ones are not looked at often. */
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

  /** Runs what starts an operation once there is a place, which passes to the operation. */
  const inPlace = Effect.fnUntraced(
    function*({ bucket, limit }: Places, starting: Effect.Effect<Operation, ServiceError>): Effect.fn.Return<Operation, ServiceError> {
      const me = `starting/${randomUUID()}`
      const pause = pauses()
      for (;;) {
        const holders = yield* kept(quota.occupy(bucket, limit, me, startMs))
        if (holders.length === 0) break
        const ended = yield* Effect.filter(holders, (holder) => holder.startsWith("starting/") ? Effect.succeed(false) : isOver(holder))
        yield* Effect.forEach(ended, (holder) => kept(quota.vacate(bucket, holder)), { discard: true })
        if (ended.length === 0) yield* pause
      }
      return yield* starting.pipe(
        Effect.tap((operation) => operation.done ? Effect.void : kept(quota.occupy(bucket, Infinity, operation.name, runMs))),
        Effect.onExit(() => Effect.ignore(quota.vacate(bucket, me)))
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
