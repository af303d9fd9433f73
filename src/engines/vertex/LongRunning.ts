import { Effect } from "effect"
import type { ServiceError } from "../../domain/Errors.ts"
import { waitFor } from "../../jobs/Wait.ts"
import { statusFromWire } from "../../wire/Errors.ts"
import type { Operation } from "../../wire/messages/Operations.ts"
import { routes } from "../../wire/Routes.ts"
import type { Call, Transport } from "./Transport.ts"

/** Milliseconds before the second look at an operation, and most between two: each look costs a management request. */
const looks = { first: 250, longest: 20_000, growth: 2 }

export const getOperation = (transport: Transport["Service"], name: string): Effect.Effect<Operation, ServiceError> =>
  transport.call({ route: routes.getOperation, params: { name } })

/**
 * Looks at an operation until it is done or `timeoutMs` have passed, and gives its latest state. Only looks:
 * interrupting it leaves the operation alone, and whoever knows its name can go on.
 */
export const poll = Effect.fn("hosted.poll")(function*(transport: Transport["Service"], started: Operation, timeoutMs: number) {
  return yield* waitFor(getOperation(transport, started.name ?? ""), ({ done }) => done === true, looks, { known: started, timeoutMs })
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
