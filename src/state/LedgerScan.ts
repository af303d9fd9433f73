import type { DatabaseSync } from "node:sqlite"
import { type LedgerEntry, type QueuedWork, recoveredPath } from "../ports/Ledger.ts"
import { entryOf, pageSize, prefixedColumns, type Row, text } from "./LedgerRows.ts"
import { ledgerColumns } from "./LedgerTable.ts"

/** Scans opened so far in this process. */
let scans = 0

/** Names of a scan's temporary tables. */
interface ScanTables {
  /** Paths that were listed, or count as listed. */
  readonly seen: string
  /** Missing entries that a moved item was matched with. */
  readonly claimed: string
  /** Paths that the source reported as gone. */
  readonly gone: string
  /** Work for after the listing. */
  readonly queued: string
  /** Missing entries by content, once they are needed. */
  readonly absent: string
  /** Addresses that were listed, each with the source that listed it first. */
  readonly addressed: string
}

/** The sizes of missing entries. */
interface Absent {
  readonly bySize: ReadonlySet<number>
  /** Whether the size of some is not known. */
  readonly anyUnsized: boolean
}

const createTables = (db: DatabaseSync, id: number): ScanTables => {
  const tables = {
    seen: `temp.seen${id}`,
    claimed: `temp.claimed${id}`,
    gone: `temp.gone${id}`,
    queued: `temp.queued${id}`,
    absent: `temp.absent${id}`,
    addressed: `temp.addressed${id}`
  }
  db.exec(`
    CREATE TABLE ${tables.seen} (source TEXT, path TEXT, PRIMARY KEY (source, path)) WITHOUT ROWID;
    CREATE TABLE ${tables.claimed} (source TEXT, path TEXT, PRIMARY KEY (source, path)) WITHOUT ROWID;
    CREATE TABLE ${tables.gone} (source TEXT, path TEXT, PRIMARY KEY (source, path)) WITHOUT ROWID;
    CREATE TABLE ${tables.queued} (id INTEGER PRIMARY KEY, source TEXT, path TEXT, work TEXT NOT NULL, UNIQUE (source, path));
    CREATE TABLE ${tables.addressed} (address TEXT PRIMARY KEY, source TEXT) WITHOUT ROWID;
  `)
  return tables
}

const statementsOf = (db: DatabaseSync, tables: ScanTables) => ({
  find: db.prepare(`SELECT ${ledgerColumns} FROM ledger WHERE scope = ? AND source = ? AND path = ?`),
  // Paths of recovered entries start with "#", which "$" comes after.
  findRecovered: db.prepare("SELECT 1 FROM ledger WHERE scope = ? AND source = ? AND path >= '#' AND path < '$' LIMIT 1"),
  see: db.prepare(`INSERT OR IGNORE INTO ${tables.seen} VALUES (?, ?)`),
  // Many paths at once, as a JSON array: a run without changes would spend most of its time on one statement for each.
  seeMany: db.prepare(`INSERT OR IGNORE INTO ${tables.seen} SELECT ?, value FROM json_each(?)`),
  findMany: db.prepare(
    `SELECT j.key AS place, ${prefixedColumns} FROM json_each(?) j
     CROSS JOIN ledger l ON l.scope = ? AND l.source = ? AND l.path = j.value`
  ),
  claim: db.prepare(`INSERT OR IGNORE INTO ${tables.claimed} VALUES (?, ?)`),
  unsee: db.prepare(`DELETE FROM ${tables.seen} WHERE source = ? AND path = ?`),
  forget: db.prepare(`INSERT OR IGNORE INTO ${tables.gone} VALUES (?, ?)`),
  isQueued: db.prepare(`SELECT 1 FROM ${tables.queued} WHERE source = ? AND path = ?`),
  unqueue: db.prepare(`DELETE FROM ${tables.queued} WHERE source = ? AND path = ?`),
  queue: db.prepare(`INSERT OR REPLACE INTO ${tables.queued} (source, path, work) VALUES (?, ?, ?)`)
})

/** Number of the ledger's entries that have a file, by source. */
const filesBySource = (db: DatabaseSync, scope: string): ReadonlyMap<string, number> =>
  new Map(
    db.prepare("SELECT source, count(*) AS n FROM ledger WHERE scope = ? AND file IS NOT NULL GROUP BY source").all(scope)
      .map((row) => [text(row, "source"), Number(row["n"])])
  )

/**
 * The temporary tables of one scan. They are in SQLite's temporary database, which spills to disk: seeing 100,000 paths takes no memory
 * and writes nothing to the state database. Each scan has its own tables: a program may run several scans at once. The methods do what
 * those of the port's `Scan` with the same names say.
 */
export class LedgerScan {
  /** Condition on `ledger l`: no source listed the entry. */
  readonly unseen: string
  /** Condition on `ledger l`: no move was matched with the entry. */
  readonly unclaimed: string
  readonly #db: DatabaseSync
  readonly #scope: string
  readonly #id = ++scans
  readonly #tables: ScanTables
  readonly #statements: ReturnType<typeof statementsOf>
  readonly #known: ReadonlyMap<string, number>
  #absent: Absent | undefined

  constructor(db: DatabaseSync, scope: string) {
    this.#db = db
    this.#scope = scope
    this.#tables = createTables(db, this.#id)
    this.#statements = statementsOf(db, this.#tables)
    const { claimed, seen } = this.#tables
    this.unseen = `NOT EXISTS (SELECT 1 FROM ${seen} s WHERE s.source = l.source AND s.path = l.path)`
    this.unclaimed = `NOT EXISTS (SELECT 1 FROM ${claimed} c WHERE c.source = l.source AND c.path = l.path)`
    // Counted before the run adds entries: the share that may be deleted is of what was known at the start.
    this.#known = filesBySource(db, scope)
  }

  see(source: string, paths: ReadonlyArray<string>, pathHash: (path: string) => string): ReadonlyArray<LedgerEntry | undefined> {
    const db = this.#db
    db.exec("BEGIN")
    try {
      const entries = this.#see(source, paths, pathHash)
      db.exec("COMMIT")
      return entries
    } catch (cause) {
      if (db.isTransaction) db.exec("ROLLBACK")
      throw cause
    }
  }

  #see(source: string, paths: ReadonlyArray<string>, pathHash: (path: string) => string): ReadonlyArray<LedgerEntry | undefined> {
    const { find, findMany, findRecovered, see, seeMany } = this.#statements
    const listed = JSON.stringify(paths.map((path) => path.toWellFormed()))
    seeMany.run(source, listed)
    const own = new Map(findMany.all(listed, this.#scope, source).map((row) => [row["place"], entryOf(row)]))
    const anyRecovered = own.size < paths.length && findRecovered.get(this.#scope, source) !== undefined
    return paths.map((path, place) => {
      const entry = own.get(place)
      if (entry !== undefined || !anyRecovered) return entry
      const recovered = find.get(this.#scope, source, recoveredPath(pathHash(path)))
      if (recovered === undefined) return undefined
      see.run(source, text(recovered, "path"))
      return entryOf(recovered)
    })
  }

  seeAll(source: string): void {
    this.#db.prepare(`INSERT OR IGNORE INTO ${this.#tables.seen} SELECT source, path FROM ledger WHERE scope = ? AND source = ?`)
      .run(this.#scope, source)
  }

  seeUnder(source: string, folder: string, before?: string): void {
    this.#db.prepare(
      `INSERT OR IGNORE INTO ${this.#tables.seen} SELECT source, path FROM ledger
       WHERE scope = ? AND source = ? AND (substr(path, 1, length(?)) = ? AND (? IS NULL OR path < ?) OR substr(path, 1, 1) = ?)`
    ).run(this.#scope, source, folder, folder, before ?? null, before ?? null, recoveredPath(""))
  }

  forget(source: string, path: string): boolean {
    const { forget, unqueue, unsee } = this.#statements
    unsee.run(source, path)
    forget.run(source, path)
    return unqueue.run(source, path).changes > 0
  }

  seeRest(source: string): Record<string, number> {
    const { gone, seen } = this.#tables
    const rest = `FROM ledger l WHERE scope = ? AND source = ? AND ${this.unseen}
      AND NOT EXISTS (SELECT 1 FROM ${gone} g WHERE g.source = l.source AND g.path = l.path)`
    const counts = this.#db.prepare(`SELECT state, count(*) AS n ${rest} GROUP BY state`).all(this.#scope, source)
    this.#db.prepare(`INSERT INTO ${seen} SELECT source, path ${rest}`).run(this.#scope, source)
    return Object.fromEntries(counts.map((row) => [text(row, "state"), Number(row["n"])]))
  }

  listedBy(source: string, addresses: ReadonlyArray<string>): ReadonlyArray<string> {
    const { addressed } = this.#tables
    const listed = JSON.stringify(addresses.map((address) => address.toWellFormed()))
    this.#db.prepare(`INSERT OR IGNORE INTO ${addressed} SELECT value, ? FROM json_each(?)`).run(source, listed)
    return this.#db.prepare(`SELECT a.source FROM json_each(?) j CROSS JOIN ${addressed} a ON a.address = j.value ORDER BY j.key`)
      .all(listed).map((row) => text(row, "source"))
  }

  restart(source: string): void {
    const { addressed, gone, queued, seen } = this.#tables
    for (const table of [seen, gone, queued, addressed]) this.#db.prepare(`DELETE FROM ${table} WHERE source = ?`).run(source)
  }

  countMissing(source: string): { readonly missing: number; readonly known: number } {
    const row = this.#db.prepare(
      `SELECT count(*) AS missing FROM ledger l
       WHERE scope = ? AND source = ? AND file IS NOT NULL AND ${this.unseen} AND ${this.unclaimed}`
    ).get(this.#scope, source)
    return { missing: Number(row?.["missing"] ?? 0), known: this.#known.get(source) ?? 0 }
  }

  mayMove(size: number | undefined): boolean {
    const { anyUnsized, bySize } = this.#missing()
    return anyUnsized || (size === undefined ? bySize.size > 0 : bySize.has(size))
  }

  claim(contentHash: string): LedgerEntry | undefined {
    this.#missing()
    const row = this.#db.prepare(
      `SELECT ${ledgerColumns} FROM ${this.#tables.absent} l WHERE content = ? AND ${this.unclaimed} ORDER BY source, path LIMIT 1`
    ).get(contentHash)
    if (row === undefined) return undefined
    const entry = entryOf(row)
    this.#statements.claim.run(entry.source, entry.path)
    return entry
  }

  /** Copies the missing entries into an indexed table, once the listings are over: they are looked up by content. */
  #missing(): Absent {
    if (this.#absent !== undefined) return this.#absent
    const { absent } = this.#tables
    this.#db.exec(`CREATE TABLE ${absent} AS
      SELECT ${prefixedColumns}, substr(l.fingerprint, 1, instr(l.fingerprint, '.') - 1) AS content
      FROM ledger l WHERE 0`)
    this.#db.prepare(
      `INSERT INTO ${absent} SELECT ${prefixedColumns}, substr(l.fingerprint, 1, instr(l.fingerprint, '.') - 1)
       FROM ledger l WHERE scope = ? AND state = 'done' AND ${this.unseen}`
    ).run(this.#scope)
    this.#db.exec(`CREATE INDEX temp.absent_content${this.#id} ON absent${this.#id} (content, source, path)`)
    const sizes = this.#db.prepare(`SELECT DISTINCT size FROM ${absent}`).all().map((row) => row["size"])
    return this.#absent = {
      bySize: new Set(sizes.filter((size) => typeof size === "number")),
      anyUnsized: sizes.includes(null)
    }
  }

  queue(work: ReadonlyArray<QueuedWork>): number {
    const { isQueued, queue } = this.#statements
    let first = 0
    this.#db.exec("BEGIN")
    for (const item of work) {
      if (isQueued.get(item.source, item.path) === undefined) first += 1
      queue.run(item.source, item.path, item.work)
    }
    this.#db.exec("COMMIT")
    return first
  }

  /** One page of queued work, from the row after `after`: rows with `id` and `work`. */
  queued(after: number): ReadonlyArray<Row> {
    return this.#db.prepare(`SELECT id, work FROM ${this.#tables.queued} WHERE id > ? ORDER BY id LIMIT ?`).all(after, pageSize)
  }

  /** Drops the tables. */
  close(): void {
    for (const table of Object.values(this.#tables)) this.#db.exec(`DROP TABLE IF EXISTS ${table}`)
  }
}
