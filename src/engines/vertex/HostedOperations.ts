import { Effect, Layer, Result } from "effect"
import type { ServiceError } from "../../domain/Errors.ts"
import type { Operation, OperationName } from "../../domain/Operation.ts"
import { Operations } from "../../ports/Operations.ts"
import type { PageRequest } from "../../ports/Paging.ts"
import type { Operation as WireOperation } from "../../wire/messages/Operations.ts"
import { operationFromWire } from "../../wire/Operations.ts"
import { routes } from "../../wire/Routes.ts"
import { redactText } from "../../domain/Redact.ts"
import { getOperation, poll } from "./LongRunning.ts"
import { pageOf, pageQuery } from "./Paging.ts"
import { Transport } from "./Transport.ts"

/** The service's operations. `list` leaves out those that are not about corpora and their files. */
export const layer: Layer.Layer<Operations, never, Transport> = Layer.effect(
  Operations,
  Effect.gen(function*() {
    const transport = yield* Transport
    return Operations.of({
      get: Effect.fn("HostedOperations.get")(function*(name: OperationName) {
        return yield* Effect.fromResult(decoded(yield* getOperation(transport, name)))
      }),
      list: Effect.fn("HostedOperations.list")(function*(page: PageRequest) {
        const listed = yield* transport.call({
          route: routes.listOperations,
          params: { name: transport.parent },
          query: pageQuery(page)
        })
        const ours = listed.operations?.filter((operation) => Result.isSuccess(operationFromWire(operation)))
        return yield* pageOf(page, ours, listed.nextPageToken, decoded)
      }),
      cancel: Effect.fn("HostedOperations.cancel")(function*(name: OperationName) {
        yield* transport.call({ route: routes.cancelOperation, params: { name }, body: {} })
      }),
      delete: Effect.fn("HostedOperations.delete")(function*(name: OperationName) {
        yield* transport.call({ route: routes.deleteOperation, params: { name } })
      }),
      wait: Effect.fn("HostedOperations.wait")(function*(name: OperationName, timeoutMs: number) {
        const ended = yield* poll(transport, yield* getOperation(transport, name), timeoutMs)
        return yield* Effect.fromResult(decoded(ended))
      })
    })
  })
)

/** An operation whose error repeats no key of the request that started it. */
const decoded = (wire: WireOperation): Result.Result<Operation, ServiceError> =>
  Result.map(
    operationFromWire(wire),
    (operation) =>
      operation.error === undefined
        ? operation
        : { ...operation, error: { ...operation.error, message: redactText(operation.error.message) } }
  )
