import type { DatabaseSync, StatementSync } from "node:sqlite"
import type { LedgerChange } from "../ports/Ledger.ts"

export const ledgerColumns = "source, path, state, revision, fingerprint, size, file, reason, message"

/** Writes to the ledger's table. Synchronous; the caller opens the transaction. */
export class LedgerTable {
  readonly #put: StatementSync
  readonly #remove: StatementSync

  constructor(db: DatabaseSync) {
    this.#put = db.prepare(
      `INSERT INTO ledger (scope, ${ledgerColumns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET state = excluded.state, revision = excluded.revision,
         fingerprint = excluded.fingerprint, size = excluded.size, file = excluded.file,
         reason = excluded.reason, message = excluded.message`
    )
    this.#remove = db.prepare("DELETE FROM ledger WHERE scope = ? AND source = ? AND path = ?")
  }

  write(scope: string, { put = [], remove = [] }: LedgerChange): void {
    for (const { path, source } of remove) this.#remove.run(scope, source, path)
    for (const e of put) {
      this.#put.run(
        scope,
        e.source,
        e.path,
        e.state,
        e.revision,
        e.fingerprint,
        e.size ?? null,
        e.file ?? null,
        e.reason ?? null,
        e.message ?? null
      )
    }
  }
}
