import { accessSync, constants, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { pathToFileURL } from "node:url"
import { StateError } from "../domain/Errors.ts"
import { isBundle } from "./Bundle.ts"
import { migrations } from "./Migrations.ts"

/** The database's file name inside a data directory. */
export const databaseFile = "sluice.db"

/** Path of the database at a place, which is a data directory or a bundle (`Bundle.ts`). */
export const databaseAt = (place: string): string => isBundle(place) ? place : join(place, databaseFile)

/** Milliseconds for which a connection waits for another one's write to end. */
const busyTimeout = 10_000

/** What a person may put into a data directory before its first use. */
const putBefore: ReadonlySet<string> = new Set(["secrets", "models.yaml"])

/**
 * Makes the data directory, with mode 0700 and a `.gitignore` that makes git ignore it. A folder with other files in it gets none:
 * git would ignore these too.
 *
 * @throws {StateError} when the place cannot be written
 */
export const prepareDataDir = (dataDir: string): void => {
  try {
    makeFolder(dataDir, 0o700)
    if (readdirSync(dataDir).some((name) => !putBefore.has(name))) return
    writeFileSync(join(dataDir, ".gitignore"), "*\n", { flag: "wx", mode: 0o600 })
  } catch (cause) {
    if (isNodeError(cause) && cause.code === "EEXIST" && isDirectory(dataDir)) return
    if (isNodeError(cause) && cause.code === "ENOENT") throw unmade(cause, dataDir)
    throw asStateError(cause, dataDir)
  }
}

const unmade = (cause: unknown, dataDir: string): StateError =>
  new StateError({ problem: "readOnly", message: `${dataDir} cannot be made there (ENOENT)`, fix: "use another --data-dir", cause })

/**
 * Makes a folder, and the folders above it that are missing. `recursive` of `mkdirSync` does not return where the system refuses a folder as
 * not found, as in `/proc`.
 */
export const makeFolder = (folder: string, mode?: number): void => {
  const path = resolve(folder)
  if (isDirectory(path)) return
  if (!existsSync(dirname(path))) makeFolder(dirname(path), mode)
  try {
    mkdirSync(path, { mode })
  } catch (cause) {
    // Another process may have made it.
    if (!isDirectory(path)) throw cause
  }
}

/**
 * Opens the state database of a data directory, and brings its schema up to date. Synchronous, and usable from any thread; the caller
 * closes it. A directory that cannot be written is opened for reading, and so is a bundle, which must have been checked before.
 *
 * @throws {StateError} damaged, newer than this program, read-only or full; the file is then as it was
 */
export const openDatabase = (dataDir: string, options: { readonly readOnly?: boolean } = {}): DatabaseSync => {
  const path = databaseAt(dataDir)
  const sealed = path === dataDir || isSealed(dataDir)
  const readOnly = sealed || (options.readOnly ?? false)
  try {
    if (!readOnly) prepareDataDir(dataDir)
    const db = new DatabaseSync(sealed ? sealedUrl(path) : path, { timeout: busyTimeout, readOnly })
    try {
      // Lets space that merges free be given back (Committer.shrink). It has an effect only before the first write.
      if (!readOnly && db.prepare("PRAGMA page_count").get()?.["page_count"] === 0) db.exec("PRAGMA auto_vacuum = INCREMENTAL")
      // A read-only connection cannot switch to WAL. FULL and fullfsync: commits survive not only the end of the process but also a loss of
      // power.
      if (!readOnly) db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON")
      db.exec("PRAGMA foreign_keys = ON; PRAGMA temp_store = FILE; PRAGMA cache_size = -16384")
      migrate(db, path, readOnly)
      if (sealed && userVersion(db) < migrations.length) throw outdated(path)
      return db
    } catch (cause) {
      db.close()
      throw cause
    }
  } catch (cause) {
    throw asStateError(cause, path)
  }
}

/** Whether a data directory has a database but cannot be written, such as a mounted image: it can still be read. */
const isSealed = (dataDir: string): boolean => {
  try {
    accessSync(join(dataDir, databaseFile), constants.R_OK)
  } catch {
    return false
  }
  try {
    accessSync(dataDir, constants.W_OK)
    return false
  } catch {
    return true
  }
}

/**
 * The URL of a database that cannot be written. To read a database in WAL mode, SQLite needs to make an index of the WAL next to it. A
 * database that was closed has no WAL, so it is opened as immutable instead.
 */
const sealedUrl = (path: string): URL => {
  if (basename(path) === databaseFile && (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) {
    throw new StateError({
      problem: "readOnly",
      message: `${path} was not closed by its last writer, and its directory cannot be written`,
      fix: "run `sluice status` once where the directory can be written"
    })
  }
  const url = pathToFileURL(path)
  url.searchParams.set("immutable", "1")
  return url
}

const outdated = (path: string): StateError =>
  new StateError({
    problem: "readOnly",
    message: `${path} was written by an older Sluice, and cannot be brought up to date where its directory cannot be written`,
    fix: "run `sluice status` once where the directory can be written"
  })

const migrate = (db: DatabaseSync, path: string, readOnly: boolean): void => {
  const version = userVersion(db)
  if (version > migrations.length) {
    throw new StateError({
      problem: "newer",
      message: `${path} was written by a newer Sluice (schema ${version}; this one knows ${migrations.length})`,
      fix: "upgrade Sluice, or point --data-dir at another directory"
    })
  }
  if (version === migrations.length || readOnly) return
  transaction(db, () => {
    // Another process may have migrated while this one waited for the lock.
    for (const sql of migrations.slice(userVersion(db))) db.exec(sql)
    db.exec(`PRAGMA user_version = ${migrations.length}`)
  })
}

const userVersion = (db: DatabaseSync): number => {
  const row = db.prepare("PRAGMA user_version").get()
  return typeof row?.["user_version"] === "number" ? row["user_version"] : 0
}

/** Runs `body` in one immediate transaction: either all of it is durable, or none. */
export const transaction = <A>(db: DatabaseSync, body: () => A): A => {
  db.exec("BEGIN IMMEDIATE")
  try {
    const result = body()
    db.exec("COMMIT")
    return result
  } catch (cause) {
    if (db.isTransaction) db.exec("ROLLBACK")
    throw cause
  }
}

const isNodeError = (cause: unknown): cause is NodeJS.ErrnoException & { readonly errcode?: number } => cause instanceof Error

const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false

/** SQLite's primary result codes (sqlite3.h). */
const sqliteCodes: Record<number, { readonly problem: StateError["problem"]; readonly say: string; readonly fix: string }> = {
  5: { problem: "locked", say: "is held by another process", fix: "wait for the other sluice to end, or use another --data-dir" },
  8: { problem: "readOnly", say: "cannot be written", fix: "make it writable, or use another --data-dir" },
  // A limit of a file's size is an input/output error to SQLite. Like a full disk, it concerns every file of a run.
  10: {
    problem: "full",
    say: "cannot be read or written: the disk or a limit of the system refuses it",
    fix: "check the disk, its quota and the limit of a file's size (ulimit -f); nothing committed was lost"
  },
  11: {
    problem: "damaged",
    say: "is damaged",
    fix: "restore it from a backup, or move it away and run again to rebuild it; it was not changed"
  },
  13: { problem: "full", say: "cannot grow: the disk is full", fix: "free some space and run again; nothing committed was lost" },
  14: {
    problem: "readOnly",
    say: "cannot be opened",
    fix: "check that the directory exists and can be written, or use another --data-dir"
  },
  26: { problem: "damaged", say: "is not a Sluice database", fix: "move the file away, or use another --data-dir; it was not changed" }
}

const errnoProblems: Record<string, StateError["problem"]> = {
  ENOSPC: "full",
  EDQUOT: "full",
  EACCES: "readOnly",
  EPERM: "readOnly",
  EROFS: "readOnly",
  ENOTDIR: "readOnly",
  EEXIST: "readOnly"
}

/** The error for a database whose structure SQLite finds damaged. */
export const damagedDatabase = (path: string, found: string): StateError =>
  new StateError({
    problem: "damaged",
    message: `${path} is damaged: ${found}`,
    fix: "restore it from a backup, or move it away and run again to rebuild it; it was not changed"
  })

/** A failure of SQLite or of the disk as an error that a user understands. */
export const asStateError = (cause: unknown, path: string): StateError => {
  if (cause instanceof StateError) return cause
  if (isNodeError(cause)) {
    const known = cause.errcode === undefined ? undefined : sqliteCodes[cause.errcode & 0xff]
    if (known !== undefined) {
      return new StateError({ problem: known.problem, message: `${path} ${known.say}`, fix: known.fix, cause })
    }
    const problem = cause.code === undefined ? undefined : errnoProblems[cause.code]
    if (problem !== undefined) {
      return new StateError({
        problem,
        message: `${path}: ${problem === "full" ? "the disk is full" : "cannot be written"} (${cause.code})`,
        fix: problem === "full" ? "free some space and run again" : "make the directory writable, or use another --data-dir",
        cause
      })
    }
  }
  return new StateError({
    problem: "other",
    message: `${path}: ${cause instanceof Error ? cause.message : String(cause)}`,
    fix: "nothing committed was lost: run again, and report this if it happens again",
    cause
  })
}
