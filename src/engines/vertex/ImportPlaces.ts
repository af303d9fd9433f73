import { Effect, Random } from "effect"
import { randomUUID } from "node:crypto"
import type { ServiceError } from "../../domain/Errors.ts"
import { OperationName, type Operation } from "../../domain/Operation.ts"
import type { Operations } from "../../ports/Operations.ts"
import type { Quota } from "../../ports/Quota.ts"
import { quotaLost, type Transport } from "./Transport.ts"

/** Imports that the service runs at once in a project and region. */
const places = 3
/** Between two looks at those who have the places. */
const waitMs = 15_000
/** Until an import that is being started is given up for dead. */
const startMs = 15 * 60_000
/** An import that nobody looks at any more. */
const runMs = 24 * 3_600_000

/**
 * Starts an import in one of the places the service has. The place is the operation's until it is done; where none is
 * free, those who have them are looked after.
 */
export const inImportPlace = Effect.fnUntraced(function*(
  { operations, quota, transport }: {
    readonly operations: Operations["Service"]
    readonly quota: Quota["Service"]
    readonly transport: Transport["Service"]
  },
  start: Effect.Effect<Operation, ServiceError>
) {
  const bucket = `${transport.endpoint.host}/${transport.parent}/imports`
  const me = `starting/${randomUUID()}`
  const vacate = (holder: string) => Effect.mapError(quota.vacate(bucket, holder), quotaLost)

  for (;;) {
    const holders = yield* Effect.mapError(quota.occupy(bucket, places, me, startMs), quotaLost)
    if (holders.length === 0) break
    const ended = yield* Effect.filter(holders, (holder) => holder.startsWith("starting/") ? Effect.succeed(false) : isOver(operations, holder))
    yield* Effect.forEach(ended, vacate, { discard: true })
    if (ended.length === 0) yield* Effect.sleep(waitMs * (yield* Random.nextBetween(0.8, 1.2)))
  }
  return yield* start.pipe(
    Effect.tap((operation) =>
      operation.done ? Effect.void : Effect.mapError(quota.occupy(bucket, Infinity, operation.name, runMs), quotaLost)),
    Effect.onExit(() => Effect.ignore(vacate(me)))
  )
})

const isOver = (operations: Operations["Service"], name: string): Effect.Effect<boolean, ServiceError> =>
  operations.get(OperationName.make(name)).pipe(
    Effect.map((operation) => operation.done),
    Effect.catchIf(({ code }) => code === "NOT_FOUND", () => Effect.succeed(true))
  )
