import { Clock, Effect, Layer } from "effect"
import { DatabaseSync } from "node:sqlite"
import type { StateError } from "../domain/Errors.ts"
import { Quota } from "../ports/Quota.ts"
import { asStateError, transaction } from "./Database.ts"
import { State } from "./State.ts"
import { quotaTables } from "./tables/Quota.ts"

/** A service counts a turn when it arrives, which may be a little later than it was taken. */
const windowMs = 61_000

/**
 * Turns as rows, each with the time it is due, so that whoever looks at the table sees who waits: a bucket lets through
 * what it may at once, then one turn for each that is a minute old. A process that dies loses the turns it waited for,
 * which nobody else needs.
 */
const make = (database: DatabaseSync, path: string) => {
  const run = <A>(body: () => A): Effect.Effect<A, StateError> =>
    Effect.try({ try: () => transaction(database, body), catch: (cause) => asStateError(cause, path) })

  const forget = database.prepare("DELETE FROM quota_turns WHERE at < ?")
  const full = database.prepare("SELECT at FROM quota_turns WHERE bucket = ? ORDER BY at DESC LIMIT 1 OFFSET ?")
  const enter = database.prepare("INSERT INTO quota_turns (bucket, at) VALUES (?, ?)")
  const due = database.prepare("SELECT at FROM quota_turns WHERE id = ?")
  const leave = database.prepare("DELETE FROM quota_turns WHERE id = ?")
  const putOff = database.prepare("UPDATE quota_turns SET at = at + ? WHERE bucket = ? AND at > ?")
  const paused = database.prepare("SELECT until FROM quota_pauses WHERE bucket = ?")
  const setPause = database.prepare("INSERT INTO quota_pauses VALUES (?, ?) ON CONFLICT DO UPDATE SET until = excluded.until")
  const expire = database.prepare("DELETE FROM quota_places WHERE until <= ?")
  const holders = database.prepare("SELECT holder FROM quota_places WHERE bucket = ? ORDER BY since, holder")
  const hold = database.prepare("INSERT INTO quota_places VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET until = excluded.until")
  const release = database.prepare("DELETE FROM quota_places WHERE bucket = ? AND holder = ?")

  return Quota.of({
    take: Effect.fnUntraced(function*(bucket: string, perMinute: number) {
      const now = yield* Clock.currentTimeMillis
      const turn = yield* run(() => {
        forget.run(now - windowMs)
        const before = Number(full.get(bucket, perMinute - 1)?.["at"] ?? -Infinity)
        const at = Math.max(now, before + windowMs, Number(paused.get(bucket)?.["until"] ?? 0))
        return { id: enter.run(bucket, at).lastInsertRowid, at }
      })
      // A pause may put the turn off while it is waited for.
      yield* Effect.gen(function*() {
        for (let at = turn.at; at > (yield* Clock.currentTimeMillis); at = yield* run(() => Number(due.get(turn.id)?.["at"] ?? 0))) {
          yield* Effect.sleep(at - (yield* Clock.currentTimeMillis))
        }
      }).pipe(Effect.onInterrupt(() => Effect.ignore(run(() => leave.run(turn.id)))))
    }),
    pause: Effect.fnUntraced(function*(bucket: string, milliseconds: number) {
      const now = yield* Clock.currentTimeMillis
      yield* run(() => {
        const until = now + Math.ceil(milliseconds)
        const before = Math.max(now, Number(paused.get(bucket)?.["until"] ?? 0))
        if (until <= before) return
        putOff.run(until - before, bucket, now)
        setPause.run(bucket, until)
      })
    }),
    occupy: Effect.fnUntraced(function*(bucket: string, limit: number, holder: string, forMs: number) {
      const now = yield* Clock.currentTimeMillis
      return yield* run(() => {
        expire.run(now)
        const others = holders.all(bucket).map((row) => String(row["holder"])).filter((other) => other !== holder)
        if (others.length >= limit) return others
        hold.run(bucket, holder, now, now + forMs)
        return []
      })
    }),
    vacate: (bucket, holder) => Effect.asVoid(run(() => release.run(bucket, holder)))
  })
}

/** Shared by the processes of one data directory. */
export const layer: Layer.Layer<Quota, never, State> = Layer.effect(
  Quota,
  Effect.map(State, ({ database, path }) => make(database, path))
)

/** Of this process alone. */
export const layerMemory: Layer.Layer<Quota> = Layer.effect(
  Quota,
  Effect.acquireRelease(
    Effect.sync(() => {
      const database = new DatabaseSync(":memory:")
      database.exec(quotaTables)
      return database
    }),
    (database) => Effect.sync(() => database.close())
  ).pipe(Effect.map((database) => make(database, ":memory:")))
)
