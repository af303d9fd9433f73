import { DatabaseSync, type StatementSync } from "node:sqlite"

/** Writes between commits: a commit of a temporary file is cheap, but a transaction without bound is not. */
const perTransaction = 10_000

/**
 * A map of texts that may be larger than memory: once it exceeds a few megabytes, it is in a file of the system's temporary folder, which
 * is removed with it.
 */
export class Spill {
  readonly #db: DatabaseSync
  readonly #insert: StatementSync
  readonly #find: StatementSync
  readonly #take: StatementSync
  readonly #rest: StatementSync
  #open = 0

  constructor() {
    // An empty name means a private database in a temporary file to SQLite.
    this.#db = new DatabaseSync("")
    this.#db.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -8192")
    this.#db.exec("CREATE TABLE spill (key TEXT PRIMARY KEY, value TEXT NOT NULL, taken INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID")
    this.#insert = this.#db.prepare("INSERT INTO spill (key, value) VALUES (?, ?) ON CONFLICT DO NOTHING")
    this.#find = this.#db.prepare("SELECT value FROM spill WHERE key = ?")
    this.#take = this.#db.prepare("UPDATE spill SET taken = 1 WHERE key = ? RETURNING value")
    this.#rest = this.#db.prepare("SELECT count(*) AS n FROM spill WHERE taken = 0")
  }

  /** Stores a value, unless the key has one; returns the value that was there already, if any. */
  add(key: string, value: string): string | undefined {
    if (this.#open === 0) this.#db.exec("BEGIN")
    this.#open += 1
    const { changes } = this.#insert.run(key, value)
    if (this.#open >= perTransaction) this.#commit()
    return changes === 0 ? String(this.#find.get(key)?.["value"]) : undefined
  }

  /** The value of a key, which counts as taken from then on. */
  take(key: string): string | undefined {
    const row = this.#take.get(key)
    return row === undefined ? undefined : String(row["value"])
  }

  /** How many keys were not taken. */
  get left(): number {
    return Number(this.#rest.get()?.["n"])
  }

  close(): void {
    this.#db.close()
  }

  #commit(): void {
    if (this.#open > 0) this.#db.exec("COMMIT")
    this.#open = 0
  }
}
