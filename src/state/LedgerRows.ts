import type { SQLOutputValue } from "node:sqlite"
import { CorpusName } from "../domain/Corpus.ts"
import type { RagFileName } from "../domain/RagFile.ts"
import type { Generation, LedgerEntry, LedgerState, Role } from "../ports/Ledger.ts"
import { ledgerColumns } from "./LedgerTable.ts"

/** The ledger's columns, of a table with the alias `l`. */
export const prefixedColumns = ledgerColumns.split(", ").map((column) => `l.${column}`).join(", ")

/** Rows that streams fetch at a time, so that memory does not grow with the ledger. */
export const pageSize = 1_000

export type Row = Record<string, SQLOutputValue>

/** A column that holds text. */
export const text = (row: Row, key: string): string => String(row[key])

const states: ReadonlySet<string> = new Set<LedgerState>(["intent", "done", "failed", "quarantined", "skipped"])
const isState = (value: string): value is LedgerState => states.has(value)

/** An entry from a row with {@link ledgerColumns}. */
export const entryOf = (row: Row): LedgerEntry => {
  const state = text(row, "state")
  return {
    source: text(row, "source"),
    path: text(row, "path"),
    state: isState(state) ? state : "failed",
    revision: text(row, "revision"),
    fingerprint: text(row, "fingerprint"),
    size: row["size"] === null ? undefined : Number(row["size"]),
    // It was written from a RagFileName: checking it again would take longer than reading it.
    file: row["file"] === null ? undefined : text(row, "file") as RagFileName,
    reason: row["reason"] === null ? undefined : text(row, "reason"),
    message: row["message"] === null ? undefined : text(row, "message")
  }
}

/** A generation from a row of `generations`. */
export const generationOf = (row: Row): Generation => ({
  scope: text(row, "scope"),
  number: Number(row["number"]),
  // The table allows roles only.
  role: text(row, "role") as Role,
  corpus: CorpusName.make(text(row, "corpus")),
  made: row["made"] === null ? undefined : Number(row["made"]),
  whole: row["whole"] === null ? undefined : Number(row["whole"]),
  built: row["built"] === null ? undefined : text(row, "built"),
  name: row["name"] === null ? undefined : text(row, "name")
})
