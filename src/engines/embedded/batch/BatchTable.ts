import type { DatabaseSync, SQLOutputValue, StatementSync } from "node:sqlite"
import { defined } from "../../../domain/Defined.ts"
import type { BatchCounts, BatchJob } from "../../../domain/batch/BatchPrediction.ts"
import type { BatchRow, RowFailure } from "../../../domain/batch/BatchRow.ts"
import type { JsonRecord } from "../../../domain/Chat.ts"
import { parseExactly } from "../../../domain/Json.ts"
import type { Column } from "../../../ports/TableStore.ts"
import { transaction } from "../../../state/Database.ts"

/** A job as it is kept: its name is the engine's to give. */
export type KeptJob = Omit<BatchJob, "name">

/** A job's line in the table. */
export interface JobEntry {
  readonly id: number
  /** Last segment of its name. */
  readonly name: string
  readonly job: KeptJob
  readonly ended: boolean
  readonly cancelled: boolean
  /** Of its input, once they are all here. */
  readonly rows: number | undefined
  readonly columns: ReadonlyArray<Column> | undefined
}

/** A row of a job, as it is kept while the job goes on. */
export interface KeptRow extends Omit<BatchRow, "form"> {
  /** Of a row without one, its number. */
  readonly customId: string
  readonly row: number
  readonly place: string
}

export interface AnsweredRow extends KeptRow {
  readonly response?: JsonRecord
  readonly error?: RowFailure
}

type Row = Readonly<Record<string, SQLOutputValue>>

const states = { open: 0, answered: 1, failed: 2 } as const
type RowState = keyof typeof states

/** Rows deleted in one transaction: others wait for it. */
const perDelete = 2_000

/** Jobs and their rows in the state database. Synchronous; throws what SQLite throws. */
export class BatchTable {
  readonly #db: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()

  constructor(db: DatabaseSync) {
    this.#db = db
  }

  /** `job` is made from the time of the newest one there is, in RFC 3339. */
  create(name: string, job: (newest: string | undefined) => KeptJob): KeptJob {
    return transaction(this.#db, () => {
      const newest = this.#run("SELECT job ->> 'createTime' AS time FROM batch_jobs ORDER BY id DESC LIMIT 1").get()?.["time"]
      const made = job(typeof newest === "string" ? newest : undefined)
      this.#run("INSERT INTO batch_jobs (name, job) VALUES (?, ?)").run(name, JSON.stringify(made))
      return made
    })
  }

  find(name: string): JobEntry | undefined {
    const row = this.#run("SELECT * FROM batch_jobs WHERE name = ?").get(name)
    return row === undefined ? undefined : entryOf(row)
  }

  /** Newest first, those before `before`. */
  page(before: number, limit: number): ReadonlyArray<JobEntry> {
    return this.#run("SELECT * FROM batch_jobs WHERE id < ? ORDER BY id DESC LIMIT ?").all(before, limit).map(entryOf)
  }

  /** Jobs that have not ended, oldest first. */
  open(): ReadonlyArray<JobEntry> {
    return this.#run("SELECT * FROM batch_jobs WHERE ended = 0 ORDER BY id").all().map(entryOf)
  }

  /** Changes a job, unless it has ended. */
  change(name: string, change: (entry: JobEntry) => { readonly job: Partial<KeptJob>; readonly ended?: true; readonly cancelled?: true }): void {
    transaction(this.#db, () => {
      const entry = this.find(name)
      if (entry === undefined || entry.ended) return
      const { cancelled = entry.cancelled, ended = false, job } = change(entry)
      this.#run("UPDATE batch_jobs SET job = ?, ended = ?, cancel = ? WHERE id = ?")
        .run(JSON.stringify({ ...entry.job, ...defined(job) }), ended ? 1 : 0, cancelled ? 1 : 0, entry.id)
    })
  }

  remove(name: string): void {
    this.#run("DELETE FROM batch_jobs WHERE name = ?").run(name)
  }

  /** Keeps the rows but those whose `custom_id` an earlier row has, which it tells. */
  addRows(job: number, rows: ReadonlyArray<KeptRow>): ReadonlyArray<{ readonly row: number; readonly place: string; readonly first: string }> {
    return transaction(this.#db, () => {
      const insert = this.#run("INSERT INTO batch_rows (job, row, custom_id, place, body, carried) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING")
      const find = this.#run("SELECT place FROM batch_rows WHERE job = ? AND custom_id = ?")
      return rows.flatMap(({ body, carried, customId, place, row }) =>
        insert.run(job, row, customId, place, JSON.stringify(body), JSON.stringify(carried)).changes === 0
          ? [{ row, place, first: String(find.get(job, customId)?.["place"]) }]
          : [])
    })
  }

  /** All rows are here. */
  setRows(job: number, rows: number, columns: ReadonlyArray<Column>): void {
    this.#run("UPDATE batch_jobs SET rows = ?, columns = ? WHERE id = ?").run(rows, JSON.stringify(columns), job)
  }

  /** Rows in this state after `after`, in their order. */
  rows(job: number, state: RowState, after: number, limit: number): ReadonlyArray<AnsweredRow> {
    return this.#run("SELECT * FROM batch_rows WHERE job = ? AND state = ? AND row > ? ORDER BY row LIMIT ?")
      .all(job, states[state], after, limit).map(keptRow)
  }

  /** Rows that have been asked, after `after`, in their order. */
  asked(job: number, after: number, limit: number): ReadonlyArray<AnsweredRow> {
    return this.#run("SELECT * FROM batch_rows WHERE job = ? AND row > ? AND state <> 0 ORDER BY row LIMIT ?")
      .all(job, after, limit).map(keptRow)
  }

  answer(job: number, row: number, result: { readonly response: JsonRecord } | { readonly error: RowFailure }): void {
    const [state, answer] = "response" in result ? [states.answered, result.response] : [states.failed, result.error]
    this.#run("UPDATE batch_rows SET state = ?, answer = ? WHERE job = ? AND row = ?").run(state, JSON.stringify(answer), job, row)
  }

  counts(job: number): BatchCounts {
    const found = new Map(
      this.#run("SELECT state, count(*) AS n FROM batch_rows WHERE job = ? GROUP BY state").all(job).map(({ n, state }) => [state, Number(n)])
    )
    return { successful: found.get(1) ?? 0, failed: found.get(2) ?? 0, incomplete: found.get(0) ?? 0 }
  }

  /** Deletes some rows of a job; whether there may be more. */
  clear(job: number): boolean {
    const last = this.#run("SELECT row FROM batch_rows WHERE job = ? ORDER BY row LIMIT 1 OFFSET ?").get(job, perDelete - 1)?.["row"]
    this.#run("DELETE FROM batch_rows WHERE job = ? AND row <= ?").run(job, last ?? Number.MAX_SAFE_INTEGER)
    return last !== undefined
  }

  /** Jobs that have ended, or are gone, whose rows are still here. */
  leftovers(): ReadonlyArray<number> {
    return this.#run("SELECT DISTINCT job FROM batch_rows WHERE job NOT IN (SELECT id FROM batch_jobs WHERE ended = 0)").all()
      .map(({ job }) => Number(job))
  }

  #run(sql: string): StatementSync {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const made = this.#db.prepare(sql)
    this.#statements.set(sql, made)
    return made
  }
}

// Columns that only this file writes.
const entryOf = (row: Row): JobEntry => ({
  id: Number(row["id"]),
  name: String(row["name"]),
  job: JSON.parse(String(row["job"])) as KeptJob,
  ended: row["ended"] === 1,
  cancelled: row["cancel"] === 1,
  rows: row["rows"] === null ? undefined : Number(row["rows"]),
  columns: row["columns"] === null ? undefined : JSON.parse(String(row["columns"])) as ReadonlyArray<Column>
})

// Likewise.
const keptRow = (row: Row): AnsweredRow => ({
  row: Number(row["row"]),
  place: String(row["place"]),
  customId: String(row["custom_id"]),
  body: parseExactly(String(row["body"])) as JsonRecord,
  carried: parseExactly(String(row["carried"])) as JsonRecord,
  response: row["state"] === states.answered ? JSON.parse(String(row["answer"])) as JsonRecord : undefined,
  error: row["state"] === states.failed ? JSON.parse(String(row["answer"])) as RowFailure : undefined
})
