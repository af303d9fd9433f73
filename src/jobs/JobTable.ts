import type { DatabaseSync, SQLOutputValue, StatementSync } from "node:sqlite"
import { Effect } from "effect"
import { ServiceError } from "../domain/Errors.ts"
import type { Page, PageRequest } from "../ports/Paging.ts"
import { transaction } from "../state/Database.ts"

export type Row = Readonly<Record<string, SQLOutputValue>>

/** A job as it is kept. */
export interface Job<A> {
  /** Of its table: later jobs have larger ones. */
  readonly sequence: number
  /** Last segment of its name. */
  readonly id: string
  readonly body: A
  readonly done: boolean
  /** Somebody asked for it to stop. */
  readonly cancelled: boolean
}

export interface JobTableOptions<A, J> {
  readonly table: "batch_jobs" | "server_operations"
  /** Whether a job has ended. One that has is never changed again. */
  readonly done: (body: A) => boolean
  /** Jobs kept, where that is bounded: the oldest that are done go first. */
  readonly kept?: number
  /** Adds what other columns of the table say. */
  readonly with?: (job: Job<A>, row: Row) => J
}

const defaultPage = 100
const largestPage = 1_000

/** Jobs as rows of the state database, which outlive the process that runs them. Synchronous; throws what SQLite throws. */
export class JobTable<A, J extends Job<A> = Job<A>> {
  readonly #db: DatabaseSync
  readonly #options: JobTableOptions<A, J>
  readonly #statements = new Map<string, StatementSync>()

  constructor(db: DatabaseSync, options: JobTableOptions<A, J>) {
    this.#db = db
    this.#options = options
  }

  /**
   * Adds the job that `make` makes, if it does. It is given the newest there is, and the ids of those of the same target
   * that are not done: nothing comes between that look and the row.
   */
  create<B extends A | undefined>(id: string, target: string, make: (newest: A | undefined, open: ReadonlyArray<string>) => B): B {
    const { kept, table } = this.#options
    return transaction(this.#db, () => {
      const newest = this.run(`SELECT * FROM ${table} ORDER BY sequence DESC LIMIT 1`).get()
      const open = this.run(`SELECT id FROM ${table} WHERE done = 0 AND target = ? ORDER BY sequence`).all(target).map((row) =>
        String(row["id"])
      )
      const body = make(newest === undefined ? undefined : this.#job(newest).body, open)
      if (body === undefined) return body
      const { lastInsertRowid } = this.run(`INSERT INTO ${table} (id, target, done, body) VALUES (?, ?, ?, ?)`)
        .run(id, target, this.#done(body), JSON.stringify(body))
      if (kept !== undefined) this.run(`DELETE FROM ${table} WHERE done = 1 AND sequence <= ?`).run(Number(lastInsertRowid) - kept)
      return body
    })
  }

  find(id: string): J | undefined {
    const row = this.run(`SELECT * FROM ${this.#options.table} WHERE id = ?`).get(id)
    return row === undefined ? undefined : this.#job(row)
  }

  /** Jobs that are not done, oldest first: those of this process, and those that one before it left. */
  open(): ReadonlyArray<J> {
    return this.run(`SELECT * FROM ${this.#options.table} WHERE done = 0 ORDER BY sequence`).all().map((row) => this.#job(row))
  }

  /** Changes a job as it is now, whoever changed it last, unless it is done. Gives what it is then; undefined where it is gone. */
  change(id: string, change: (job: J) => A): J | undefined {
    return transaction(this.#db, () => {
      const job = this.find(id)
      if (job === undefined || job.done) return job
      const body = change(job)
      this.run(`UPDATE ${this.#options.table} SET done = ?, body = ? WHERE sequence = ?`).run(
        this.#done(body),
        JSON.stringify(body),
        job.sequence
      )
      return { ...job, body, done: this.#options.done(body) }
    })
  }

  /** Asks for a job to stop: whoever runs it sees that. One that is done takes no notice. */
  cancel(id: string): void {
    this.run(`UPDATE ${this.#options.table} SET cancel = 1 WHERE id = ? AND done = 0`).run(id)
  }

  remove(id: string): void {
    this.run(`DELETE FROM ${this.#options.table} WHERE id = ?`).run(id)
  }

  /** Those before `before`, newest first; of one target, where it is given, or of what is under it. */
  before(before: number, limit: number, target = ""): ReadonlyArray<J> {
    return this.run(
      `SELECT * FROM ${this.#options.table}
       WHERE sequence < ?1 AND (?2 = '' OR target = ?2 OR substr(target, 1, length(?2) + 1) = ?2 || '/')
       ORDER BY sequence DESC LIMIT ?3`
    ).all(before, target, limit).map((row) => this.#job(row))
  }

  #job(row: Row): J {
    const job: Job<A> = {
      sequence: Number(row["sequence"]),
      id: String(row["id"]),
      body: JSON.parse(String(row["body"])) as A, // a column that only this file writes
      done: row["done"] === 1,
      cancelled: row["cancel"] === 1
    }
    return this.#options.with?.(job, row) ?? job as J // without other columns J is Job<A>
  }

  protected run(sql: string): StatementSync {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const made = this.#db.prepare(sql)
    this.#statements.set(sql, made)
    return made
  }

  #done(body: A): 0 | 1 {
    return this.#options.done(body) ? 1 : 0
  }
}

/** A page of a listing, newest first. `before` gives so many jobs before a sequence; `keep` makes an item of one, or leaves it out. */
export const pageOfJobs = Effect.fnUntraced(function*<J extends Pick<Job<unknown>, "sequence">, B, R>(
  { size = defaultPage, token = "" }: PageRequest,
  fields: { readonly size: string; readonly token: string },
  before: (sequence: number, limit: number) => Effect.Effect<ReadonlyArray<J>, ServiceError>,
  keep: (job: J) => Effect.Effect<B | undefined, ServiceError, R>
): Effect.fn.Return<Page<B>, ServiceError, R> {
  const limit = size === 0 ? defaultPage : Math.min(size, largestPage)
  if (!Number.isInteger(limit) || limit < 0) return yield* ServiceError.invalid(fields.size, "must be 1 to 1000")
  let last = token === ""
    ? Number.MAX_SAFE_INTEGER
    : Number(/^before:(\d{1,15})$/.exec(Buffer.from(token, "base64url").toString("utf8"))?.[1])
  if (Number.isNaN(last)) return yield* ServiceError.invalid(fields.token, "is not one that a listing gave")
  const items: Array<B> = []
  for (;;) {
    const found = yield* before(last, limit + 1)
    for (const job of found) {
      const item = yield* keep(job)
      if (item === undefined) continue
      if (items.length === limit) return { items, nextToken: Buffer.from(`before:${last}`).toString("base64url") }
      items.push(item)
      last = job.sequence
    }
    const end = found.at(-1)
    if (end === undefined || found.length <= limit) return { items }
    last = end.sequence
  }
})
