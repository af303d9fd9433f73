import type { DatabaseSync } from "node:sqlite"
import { type BatchCounts, type BatchJob, hasEnded } from "../../../domain/batch/BatchPrediction.ts"
import type { BatchRow, RowFailure } from "../../../domain/batch/BatchRow.ts"
import type { JsonRecord } from "../../../domain/Chat.ts"
import { parseExactly } from "../../../domain/Json.ts"
import type { Column } from "../../../ports/TableStore.ts"
import { type Job, JobTable, type Row } from "../../../jobs/JobTable.ts"
import { transaction } from "../../../state/Database.ts"

/** A stored job, without its name, which the engine derives. */
export type KeptJob = Omit<BatchJob, "name">

export interface JobEntry extends Job<KeptJob> {
  /** Number of rows of the input, once all are copied. */
  readonly rows: number | undefined
  readonly columns: ReadonlyArray<Column> | undefined
}

/** A row of a job, as it is stored while the job runs. */
export interface KeptRow extends Omit<BatchRow, "form"> {
  /** The row's `custom_id`; its number where it has none. */
  readonly customId: string
  readonly row: number
  readonly place: string
}

export interface AnsweredRow extends KeptRow {
  readonly response?: JsonRecord
  readonly error?: RowFailure
}

const states = { open: 0, answered: 1, failed: 2 } as const
type RowState = keyof typeof states

/** Rows that are deleted in one transaction, while other writers wait. */
const perDelete = 2_000

/** Jobs and their rows in the state database. Synchronous; throws what SQLite throws. */
export class BatchTable extends JobTable<KeptJob, JobEntry> {
  readonly #db: DatabaseSync

  constructor(db: DatabaseSync) {
    super(db, { table: "batch_jobs", done: ({ state }) => hasEnded(state), with: withColumns })
    this.#db = db
  }

  /** Stores rows, except those whose `custom_id` an earlier row has, and returns these. */
  addRows(
    job: number,
    rows: ReadonlyArray<KeptRow>
  ): ReadonlyArray<{ readonly row: number; readonly place: string; readonly first: string }> {
    return transaction(this.#db, () => {
      const insert = this.run(
        "INSERT INTO batch_rows (job, row, custom_id, place, body, carried) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
      )
      const find = this.run("SELECT place FROM batch_rows WHERE job = ? AND custom_id = ?")
      return rows.flatMap(({ body, carried, customId, place, row }) =>
        insert.run(job, row, customId, place, JSON.stringify(body), JSON.stringify(carried)).changes === 0
          ? [{ row, place, first: String(find.get(job, customId)?.["place"]) }]
          : []
      )
    })
  }

  /** Notes that all rows were copied. */
  setRows(job: number, rows: number, columns: ReadonlyArray<Column>): void {
    this.run("UPDATE batch_jobs SET rows = ?, columns = ? WHERE sequence = ?").run(rows, JSON.stringify(columns), job)
  }

  /** Rows in a state, after the row `after`, in their order. */
  rows(job: number, state: RowState, after: number, limit: number): ReadonlyArray<AnsweredRow> {
    return this.run("SELECT * FROM batch_rows WHERE job = ? AND state = ? AND row > ? ORDER BY row LIMIT ?")
      .all(job, states[state], after, limit).map(keptRow)
  }

  /** Rows that were sent to the model, after the row `after`, in their order. */
  asked(job: number, after: number, limit: number): ReadonlyArray<AnsweredRow> {
    return this.run("SELECT * FROM batch_rows WHERE job = ? AND row > ? AND state <> 0 ORDER BY row LIMIT ?")
      .all(job, after, limit).map(keptRow)
  }

  answer(job: number, row: number, result: { readonly response: JsonRecord } | { readonly error: RowFailure }): void {
    const [state, answer] = "response" in result ? [states.answered, result.response] : [states.failed, result.error]
    this.run("UPDATE batch_rows SET state = ?, answer = ? WHERE job = ? AND row = ?").run(state, JSON.stringify(answer), job, row)
  }

  counts(job: number): BatchCounts {
    const found = new Map(
      this.run("SELECT state, count(*) AS n FROM batch_rows WHERE job = ? GROUP BY state").all(job).map((
        { n, state }
      ) => [state, Number(n)])
    )
    return { successful: found.get(1) ?? 0, failed: found.get(2) ?? 0, incomplete: found.get(0) ?? 0 }
  }

  /** Deletes some rows of a job. Returns whether there may be more. */
  clear(job: number): boolean {
    const last = this.run("SELECT row FROM batch_rows WHERE job = ? ORDER BY row LIMIT 1 OFFSET ?").get(job, perDelete - 1)?.["row"]
    this.run("DELETE FROM batch_rows WHERE job = ? AND row <= ?").run(job, last ?? Number.MAX_SAFE_INTEGER)
    return last !== undefined
  }

  /** Jobs whose rows still exist, although they have ended or were deleted. */
  leftovers(): ReadonlyArray<number> {
    return this.run("SELECT DISTINCT job FROM batch_rows WHERE job NOT IN (SELECT sequence FROM batch_jobs WHERE done = 0)").all()
      .map(({ job }) => Number(job))
  }
}

// Only this file writes these columns.
const withColumns = (job: Job<KeptJob>, row: Row): JobEntry => ({
  ...job,
  rows: row["rows"] === null ? undefined : Number(row["rows"]),
  columns: row["columns"] === null ? undefined : JSON.parse(String(row["columns"])) as ReadonlyArray<Column>
})

// Only this file writes these columns.
const keptRow = (row: Row): AnsweredRow => ({
  row: Number(row["row"]),
  place: String(row["place"]),
  customId: String(row["custom_id"]),
  body: parseExactly(String(row["body"])) as JsonRecord,
  carried: parseExactly(String(row["carried"])) as JsonRecord,
  response: row["state"] === states.answered ? JSON.parse(String(row["answer"])) as JsonRecord : undefined,
  error: row["state"] === states.failed ? JSON.parse(String(row["answer"])) as RowFailure : undefined
})
