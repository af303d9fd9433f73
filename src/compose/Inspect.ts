import { Effect } from "effect"
import { existsSync, statSync } from "node:fs"
import { join } from "node:path"
import { StateError } from "../domain/Errors.ts"
import { asStateError, databaseFile, openDatabase } from "../state/Database.ts"

/** Reads every page of a data directory's database. Says its size; `undefined` where there is none yet. */
export const inspect = (dataDir: string): Effect.Effect<string | undefined, StateError> => {
  const path = join(dataDir, databaseFile)
  return Effect.try({
    try: () => {
      if (!existsSync(path)) return undefined
      const db = openDatabase(dataDir, { readOnly: true })
      try {
        const found = db.prepare("PRAGMA quick_check(1)").get()?.["quick_check"]
        if (found === "ok") return `${path} is whole, ${(statSync(path).size / 1e6).toFixed(1)} MB`
        throw new StateError({
          problem: "damaged",
          message: `${path} is damaged: ${String(found)}`,
          fix: "restore it from a backup, or move it away and run again to rebuild it; it was not changed"
        })
      } finally {
        db.close()
      }
    },
    catch: (cause) => asStateError(cause, path)
  })
}
