import { Context, Effect, Layer } from "effect"
import type { DatabaseSync } from "node:sqlite"
import type { StateError } from "../domain/Errors.ts"
import type { LedgerChange } from "../ports/Ledger.ts"
import { asStateError, transaction } from "./Database.ts"
import { LedgerTable } from "./LedgerTable.ts"
import { State } from "./State.ts"

/** SQL that changes rows, and its parameters. */
export interface Statement {
  readonly sql: string
  readonly parameters: ReadonlyArray<string | number | null>
}

/** Runs statements, within the caller's transaction, and answers the row that each inserted, where it did. */
export const runStatements = (db: DatabaseSync, statements: ReadonlyArray<Statement>): ReadonlyArray<number> =>
  statements.map(({ parameters, sql }) => Number(db.prepare(sql).run(...parameters).lastInsertRowid))

/**
 * How changes reach the ledger's table. An engine that writes to the same database from a thread of its own provides
 * this, so that its commits and the ledger's go together instead of waiting for each other's lock.
 */
export class LedgerWrites extends Context.Service<LedgerWrites, {
  /** All of a change is durable when it returns, or none is. */
  readonly write: (scope: string, change: LedgerChange) => Effect.Effect<void, StateError>
  /**
   * {@link runStatements} in one transaction of the thread that writes now. Undefined where none does: whoever asks may
   * then write himself, and waits for nobody of this process. SQLite's own waiting ends after seconds, and a merge of a
   * large index takes longer.
   */
  readonly through: (statements: ReadonlyArray<Statement>) => Effect.Effect<ReadonlyArray<number>, StateError> | undefined
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
          }),
        through: () => undefined
      })
    })
  )
}
