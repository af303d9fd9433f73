import { Effect, Schedule } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { StateError } from "../domain/Errors.ts"
import { asStateError, prepareDataDir } from "./Database.ts"

/**
 * Locks the data directory for one writer. The lock is an exclusive SQLite transaction, so the operating system releases it however the
 * process ends. A note next to it names the holder.
 *
 * Waits up to `waitMs` (default 0), then fails with the holder's name. `waiting` is called once with that name.
 */
export const acquire = (
  dataDir: string,
  command: string,
  waitMs = 0,
  waiting: (error: StateError) => Effect.Effect<void> = () => Effect.void
) => {
  const attempt = Effect.try({ try: () => lock(dataDir, command), catch: (cause) => asStateError(cause, dataDir) })
  const isLocked = (error: StateError) => error.problem === "locked"
  const patient = attempt.pipe(
    Effect.catchIf((error) => isLocked(error) && waitMs > 0, (error) =>
      Effect.andThen(
        waiting(error),
        attempt.pipe(
          Effect.retry({ while: isLocked, times: Math.ceil(waitMs / pollMs), schedule: pollSchedule })
        )
      ))
  )
  return Effect.acquireRelease(patient, (db) => Effect.sync(() => db.close()))
}

const pollMs = 200
const pollSchedule = Schedule.spaced(pollMs)

const lock = (dataDir: string, command: string): DatabaseSync => {
  prepareDataDir(dataDir)
  const note = join(dataDir, "lock.json")
  const db = new DatabaseSync(join(dataDir, "lock.db"), { timeout: 0 })
  try {
    db.exec("BEGIN EXCLUSIVE")
  } catch (cause) {
    db.close()
    const failure = asStateError(cause, dataDir)
    if (failure.problem !== "locked") throw failure
    throw new StateError({
      problem: "locked",
      message: `${dataDir} is being written by ${holder(note)}`,
      fix: "wait for it to end, as `sluice run --wait SECONDS` and the option waitMs do, or use another data directory"
    })
  }
  writeFileSync(note, JSON.stringify({ pid: process.pid, command, since: new Date().toISOString() }))
  return db
}

const holder = (note: string): string => {
  try {
    const holder: unknown = JSON.parse(readFileSync(note, "utf8"))
    if (typeof holder === "object" && holder !== null && "pid" in holder && "command" in holder && "since" in holder) {
      return `\`${holder.command}\` (process ${holder.pid}, since ${holder.since})`
    }
  } catch {
    // The holder may have taken the lock but not written its note yet.
  }
  return "another sluice"
}
