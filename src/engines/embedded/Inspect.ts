import { Effect } from "effect"
import { existsSync, statSync } from "node:fs"
import { join } from "node:path"
import type { DatabaseSync } from "node:sqlite"
import { StateError } from "../../domain/Errors.ts"
import { damageFix } from "./store/Commands.ts"
import { Committer } from "./store/Committer.ts"
import { type DamagedFile, verifyStore } from "./store/Verify.ts"
import { asStateError, damagedDatabase, databaseFile, openDatabase } from "../../state/Database.ts"

/** Most damaged files that a message names. */
const named = 10

/**
 * Reads every page of a data directory's database and verifies every checksum. Returns a text with its size and contents; undefined where
 * no database exists yet. Fails where it is damaged. Damaged files are marked, if the database can be written, and the next run reads
 * them again.
 */
export const inspect = (dataDir: string): Effect.Effect<string | undefined, StateError> => {
  const path = join(dataDir, databaseFile)
  return Effect.try({
    try: () => {
      if (!existsSync(path)) return undefined
      const verified = reading(dataDir, (db) => {
        // What is left of a first run that could not write it, as on a full disk.
        if (db.prepare("PRAGMA user_version").get()?.["user_version"] === 0) return undefined
        const found = db.prepare("PRAGMA quick_check(1)").get()?.["quick_check"]
        if (found !== "ok") throw damagedDatabase(path, String(found))
        return verifyStore(db)
      })
      if (verified === undefined) return undefined
      const { chunks, damaged, damagedCorpora, damagedIndex, files } = verified
      if (damagedCorpora.length > 0) {
        throw new StateError({
          problem: "damaged",
          message: `${path} is damaged: the records of ${damagedCorpora.length === 1 ? "corpus" : "corpora"} ${damagedCorpora.join(", ")}`,
          fix: "restore it from a backup, or move it away and run again to rebuild it; it was not changed"
        })
      }
      if (damaged.length > 0) {
        mark(dataDir, damaged)
        const names = damaged.slice(0, named).map(({ displayName, what }) => `${displayName} (its ${what})`)
        const more = damaged.length > named ? ` and ${damaged.length - named} more` : ""
        throw new StateError({
          problem: "damaged",
          message: `${damaged.length} of ${files} files in ${path} are damaged: ${names.join(", ")}${more}`,
          fix: damageFix
        })
      }
      const bytes = [path, `${path}-wal`].reduce((sum, each) => sum + (statSync(each, { throwIfNoEntry: false })?.size ?? 0), 0)
      const index = damagedIndex === 0 ? "" : `; its index is damaged, and the next question rebuilds it`
      return `${path} is whole, ${(bytes / 1e6).toFixed(1)} MB: ${files} files, ${chunks} chunks${index}`
    },
    catch: (cause) => asStateError(cause, path)
  })
}

const reading = <A>(dataDir: string, body: (db: DatabaseSync) => A): A => {
  const db = openDatabase(dataDir, { readOnly: true })
  try {
    return body(db)
  } finally {
    db.close()
  }
}

/** Marks damaged files. If the database cannot be written now, the next reader that meets the damage marks them. */
const mark = (dataDir: string, damaged: ReadonlyArray<DamagedFile>): void => {
  let db: DatabaseSync | undefined
  try {
    db = openDatabase(dataDir)
    const committer = new Committer(db, join(dataDir, databaseFile))
    committer.commit(damaged.map(({ id, what }, i) => ({
      id: i,
      kind: "noteDamage",
      payload: { files: [id], what: `its ${what} is damaged in the database` }
    })))
  } catch {
    // Read-only, or held by another program.
  } finally {
    db?.close()
  }
}
