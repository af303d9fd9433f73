import { DatabaseSync, type StatementSync } from "node:sqlite"

/** Writes between commits: a commit of a temporary file is cheap, and a transaction of any length is not. */
const perTransaction = 10_000

/**
 * A map of texts that may be larger than memory: in a file of the system's temporary folder once it is more than a few
 * megabytes, which goes with it.
 */
export class Spill {
  readonly #db: DatabaseSync
  readonly #insert: StatementSync
  readonly #find: StatementSync
  readonly #take: StatementSync
  readonly #rest: StatementSync
  #open = 0

  constructor() {
    // An empty name is SQLite's for a private database in a temporary file.
    this.#db = new DatabaseSync("")
    this.#db.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -8192")
    this.#db.exec("CREATE TABLE spill (key TEXT PRIMARY KEY, value TEXT NOT NULL, taken INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID")
    this.#insert = this.#db.prepare("INSERT INTO spill (key, value) VALUES (?, ?) ON CONFLICT DO NOTHING")
    this.#find = this.#db.prepare("SELECT value FROM spill WHERE key = ?")
    this.#take = this.#db.prepare("UPDATE spill SET taken = 1 WHERE key = ? RETURNING value")
    this.#rest = this.#db.prepare("SELECT count(*) AS n FROM spill WHERE taken = 0")
  }

  /** Keeps the first value of a key; answers the one that was there already, if any. */
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
