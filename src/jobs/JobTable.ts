import type { DatabaseSync, SQLOutputValue, StatementSync } from "node:sqlite"
import { Effect } from "effect"
import { ServiceError } from "../domain/Errors.ts"
import type { Page, PageRequest } from "../ports/Paging.ts"
import { transaction } from "../state/Database.ts"

export type Row = Readonly<Record<string, SQLOutputValue>>

/** A stored job. */
export interface Job<A> {
  /** Number in the table; later jobs have larger ones. */
  readonly sequence: number
  /** Last segment of the job's name. */
  readonly id: string
  readonly body: A
  readonly done: boolean
  /** Whether the job was requested to stop. */
  readonly cancelled: boolean
}

export interface JobTableOptions<A, J> {
  readonly table: "batch_jobs" | "server_operations"
  /** Whether a job has ended. A job that has ended never changes again. */
  readonly done: (body: A) => boolean
  /** Most jobs that are kept; beyond it the oldest ended ones are deleted. Default: no limit. */
  readonly kept?: number
  /** Adds the values of further columns of the table to a job. */
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
   * Adds the job that `make` returns, if it returns one. `make` gets the newest job, and the ids of unfinished jobs with the same target;
   * no other job can be added in between.
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

  /** Unfinished jobs, oldest first, of this process and of earlier ones. */
  open(): ReadonlyArray<J> {
    return this.run(`SELECT * FROM ${this.#options.table} WHERE done = 0 ORDER BY sequence`).all().map((row) => this.#job(row))
  }

  /** Applies a change to a job's current state, unless it is done, and returns the job; undefined where it no longer exists. */
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

  /** Requests that a job stop; the process that runs it notices. Has no effect on a job that is done. */
  cancel(id: string): void {
    this.run(`UPDATE ${this.#options.table} SET cancel = 1 WHERE id = ? AND done = 0`).run(id)
  }

  remove(id: string): void {
    this.run(`DELETE FROM ${this.#options.table} WHERE id = ?`).run(id)
  }

  /** Jobs with a sequence below `before`, newest first; if given, only those of `target` or of resources under it. */
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

/** A page of a listing, newest first. `before` returns jobs before a sequence number; `keep` makes an item of a job, or leaves it out. */
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
