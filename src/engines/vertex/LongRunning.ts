import { Effect } from "effect"
import type { ServiceError } from "../../domain/Errors.ts"
import { waitFor } from "../../jobs/Wait.ts"
import { statusFromWire } from "../../wire/Errors.ts"
import type { Operation } from "../../wire/messages/Operations.ts"
import { routes } from "../../wire/Routes.ts"
import { reportedBy } from "./Responses.ts"
import type { Call, Transport } from "./Transport.ts"

/** Milliseconds between looks at an operation; each look costs a management request. */
const looks = { first: 250, longest: 20_000, growth: 2 }

export const getOperation = (transport: Transport["Service"], name: string): Effect.Effect<Operation, ServiceError> =>
  transport.call({ route: routes.getOperation, params: { name } })

/**
 * Waits until an operation is done or `timeoutMs` have passed, and returns its latest state. Interrupting this does not affect the
 * operation, and any process that knows its name can wait for it again.
 */
export const poll = Effect.fn("hosted.poll")(function*(transport: Transport["Service"], started: Operation, timeoutMs: number) {
  return yield* waitFor(getOperation(transport, started.name ?? ""), ({ done }) => done === true, looks, { known: started, timeoutMs })
})

/** Waits for an operation that this process started, however long it takes, and fails with its error. */
export const finish = Effect.fnUntraced(function*(transport: Transport["Service"], started: Operation) {
  const ended = yield* poll(transport, started, Infinity)
  if (ended.error === undefined) return ended
  return yield* reportedBy(`operation ${started.name} of ${transport.endpoint.host} failed`, transport.project, statusFromWire(ended.error))
})

/** Deletes a resource, and waits until it is done. If it is gone after an unanswered attempt, the deletion succeeded. */
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
