import { Clock, Effect, Random } from "effect"
import type { ServiceError } from "../../domain/Errors.ts"
import { statusFromWire } from "../../wire/Errors.ts"
import type { Operation } from "../../wire/messages/Operations.ts"
import { routes } from "../../wire/Routes.ts"
import type { Call, Transport } from "./Transport.ts"

/** Milliseconds before the second look at an operation, and most between two: each look costs a management request. */
const firstDelay = 250
const longestDelay = 20_000
const growth = 2

export const getOperation = (transport: Transport["Service"], name: string): Effect.Effect<Operation, ServiceError> =>
  transport.call({ route: routes.getOperation, params: { name } })

/**
 * Looks at an operation until it is done or `timeoutMs` have passed, and gives its latest state. Only looks:
 * interrupting it leaves the operation alone, and whoever knows its name can go on.
 */
export const poll = Effect.fn("hosted.poll")(function*(
  transport: Transport["Service"],
  started: Operation,
  timeoutMs: number
): Effect.fn.Return<Operation, ServiceError> {
  const name = started.name ?? ""
  const deadline = (yield* Clock.currentTimeMillis) + timeoutMs
  let operation = started
  for (let delay = firstDelay; operation.done !== true; delay = Math.min(longestDelay, delay * growth)) {
    const left = deadline - (yield* Clock.currentTimeMillis)
    if (left <= 0) break
    yield* Effect.sleep(Math.min(left, delay * (yield* Random.nextBetween(0.8, 1.2))))
    operation = yield* getOperation(transport, name)
  }
  return operation
})

/** Follows an operation of ours to its end, however long that takes; its error is ours. */
export const finish = Effect.fnUntraced(function*(transport: Transport["Service"], started: Operation) {
  const ended = yield* poll(transport, started, Infinity)
  return ended.error === undefined ? ended : yield* statusFromWire(ended.error)
})

/** Deletes, and waits until it is done. That it is gone after an attempt without an answer is what was wanted. */
export const deleteOnce = <P extends string, Q>(
  transport: Transport["Service"],
  call: Call<P, Q, never, Operation>
): Effect.Effect<void, ServiceError> =>
  Effect.suspend(() => {
    let open = false
    return transport.callOnce(call).pipe(
      Effect.catchTag("Unanswered", ({ error }) => {
        open = true
        return Effect.fail(error)
      }),
      Effect.catchIf((error) => open && error.code === "NOT_FOUND", () => Effect.succeed<Operation>({ done: true })),
      transport.retry,
      Effect.flatMap((started) => finish(transport, started)),
      Effect.asVoid
    )
  })
