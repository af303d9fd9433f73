import { Effect, Schedule, Stream } from "effect"
import type { SecretError, ServiceError } from "../../domain/Errors.ts"
import type { Connector, SourceItem } from "../../ports/Connector.ts"

/** An item that changes while it is read is read again, this often. */
const rereads = 3

const again = Schedule.exponential("200 millis").pipe(Schedule.jittered)

/** The whole of an item's bytes, bounded by `maxBytes`. */
export const readItem = (
  connector: Connector,
  item: SourceItem,
  maxBytes: number
): Effect.Effect<Uint8Array, ServiceError | SecretError> =>
  connector.read(item, maxBytes).pipe(
    Stream.runCollect,
    Effect.map((parts) => (parts.length === 1 && parts[0] !== undefined ? parts[0] : concat(parts))),
    Effect.retry({
      schedule: again,
      times: rereads,
      while: (error) => error._tag === "ServiceError" && error.code === "ABORTED"
    })
  )

const concat = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
