import { Context, Effect, Layer } from "effect"
import type { DatabaseSync } from "node:sqlite"
import type { StateError } from "../domain/Errors.ts"
import type { LedgerChange } from "../ports/Ledger.ts"
import { asStateError, transaction } from "./Database.ts"
import { LedgerTable } from "./LedgerTable.ts"
import { State } from "./State.ts"

/** An SQL statement that changes rows, with its parameters. */
export interface Statement {
  readonly sql: string
  readonly parameters: ReadonlyArray<string | number | null>
}

/** Runs statements within the caller's transaction, and returns for each the id of the row that it inserted, if it did. */
export const runStatements = (db: DatabaseSync, statements: ReadonlyArray<Statement>): ReadonlyArray<number> =>
  statements.map(({ parameters, sql }) => Number(db.prepare(sql).run(...parameters).lastInsertRowid))

/**
 * Writes changes to the ledger's table. An engine that writes to the same database from its own thread provides this, so that its commits
 * and the ledger's are made together instead of waiting for each other's lock.
 */
export class LedgerWrites extends Context.Service<LedgerWrites, {
  /** Writes a change. When it returns, all of the change is durable; if it fails, none is. */
  readonly write: (scope: string, change: LedgerChange) => Effect.Effect<void, StateError>
  /**
   * Like {@link runStatements}, in one transaction of the thread that is writing now. Undefined where no thread is: the caller may then
   * write itself, without waiting for this process. It must not do so otherwise, as SQLite waits for seconds only, and a merge of a large
   * index takes longer.
   */
  readonly through: (statements: ReadonlyArray<Statement>) => Effect.Effect<ReadonlyArray<number>, StateError> | undefined
}>()("sluice/state/LedgerWrites") {
  /** Writes from the calling thread, each change in its own transaction. */
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
