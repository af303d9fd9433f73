import { Context, Effect, Layer } from "effect"
import type { StateError } from "../domain/Errors.ts"
import type { LedgerChange } from "../ports/Ledger.ts"
import { asStateError, transaction } from "./Database.ts"
import { LedgerTable } from "./LedgerTable.ts"
import { State } from "./State.ts"

/**
 * How changes reach the ledger's table. An engine that writes to the same database from a thread of its own provides
 * this, so that its commits and the ledger's go together instead of waiting for each other's lock.
 */
export class LedgerWrites extends Context.Service<LedgerWrites, {
  /** All of a change is durable when it returns, or none is. */
  readonly write: (scope: string, change: LedgerChange) => Effect.Effect<void, StateError>
}>()("sluice/state/LedgerWrites") {
  /** Writes from this thread, each change a transaction of its own. */
  static readonly layerDirect = Layer.effect(
    LedgerWrites,
    Effect.gen(function*() {
      const { database, path } = yield* State
      const table = new LedgerTable(database)
      return LedgerWrites.of({
        write: (scope, change) =>
          Effect.try({
            try: () => transaction(database, () => table.write(scope, change)),
            catch: (cause) => asStateError(cause, path)
          })
      })
    })
  )
}
