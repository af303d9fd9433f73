import { Clock, Effect, Layer } from "effect"
import { DatabaseSync } from "node:sqlite"
import type { StateError } from "../domain/Errors.ts"
import { Quota, type Spending } from "../ports/Quota.ts"
import { asStateError, transaction } from "./Database.ts"
import { State } from "./State.ts"
import { quotaAmounts, quotaTables } from "./tables/Quota.ts"

/** Length of a bucket's window: slightly more than a minute, as a service counts a turn when it arrives, not when it was taken. */
const windowMs = 61_000

/**
 * Turns are rows, each with the time at which it is due, so that every process sees who waits. A bucket lets its limit through at once, and
 * then as much as turns that are a minute old had taken. A process that dies wastes only the turns that it was waiting for.
 */
const make = (database: DatabaseSync, path: string) => {
  const run = <A>(body: () => A): Effect.Effect<A, StateError> =>
    Effect.try({ try: () => transaction(database, body), catch: (cause) => asStateError(cause, path) })

  const forget = database.prepare("DELETE FROM quota_turns WHERE bucket = ? AND at < ?")
  const state = database.prepare("SELECT max(at) AS last, sum(amount) AS used FROM quota_turns WHERE bucket = ?")
  // Finds the latest turn that, together with those after it, leaves no room.
  const full = database.prepare(`
    SELECT at FROM (SELECT at, sum(amount) OVER (ORDER BY at DESC, id DESC) AS used FROM quota_turns WHERE bucket = ?)
    WHERE used > ? ORDER BY at DESC LIMIT 1`)
  const enter = database.prepare("INSERT INTO quota_turns (bucket, at, amount) VALUES (?, ?, ?)")
  const settle = database.prepare("UPDATE quota_turns SET amount = ? WHERE id = ?")
  const due = database.prepare("SELECT at FROM quota_turns WHERE id = ?")
  const leave = database.prepare("DELETE FROM quota_turns WHERE id = ?")
  const putOff = database.prepare("UPDATE quota_turns SET at = at + ? WHERE bucket = ? AND at > ?")
  const paused = database.prepare("SELECT until FROM quota_pauses WHERE bucket = ?")
  const setPause = database.prepare("INSERT INTO quota_pauses VALUES (?, ?) ON CONFLICT DO UPDATE SET until = excluded.until")
  const expire = database.prepare("DELETE FROM quota_places WHERE until <= ?")
  const holders = database.prepare("SELECT holder FROM quota_places WHERE bucket = ? ORDER BY since, holder")
  const hold = database.prepare("INSERT INTO quota_places VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET until = excluded.until")
  const release = database.prepare("DELETE FROM quota_places WHERE bucket = ? AND holder = ?")

  const earliest = ({ amount, bucket, perMinute }: Spending, now: number): number => {
    const { last, used } = state.get(bucket) ?? {}
    const room = perMinute - Math.min(amount, perMinute)
    // Adding up turn by turn is worthwhile only where there is not enough room for all.
    const before = Number(used ?? 0) > room ? Number(full.get(bucket, room)?.["at"] ?? -Infinity) : -Infinity
    return Math.max(now, Number(last ?? 0), before + windowMs, Number(paused.get(bucket)?.["until"] ?? 0))
  }

  const spend = Effect.fnUntraced(function*(spendings: ReadonlyArray<Spending>) {
    const now = yield* Clock.currentTimeMillis
    const turn = yield* run(() => {
      for (const { bucket } of spendings) forget.run(bucket, now - windowMs)
      const at = Math.max(...spendings.map((spending) => earliest(spending, now)))
      return { at, ids: spendings.map(({ amount, bucket }) => Number(enter.run(bucket, at, Math.ceil(amount)).lastInsertRowid)) }
    })
    // A pause may postpone the turn while it is being waited for.
    const dueNow = run(() => Math.max(...turn.ids.map((id) => Number(due.get(id)?.["at"] ?? 0))))
    yield* Effect.gen(function*() {
      for (let at = turn.at; at > (yield* Clock.currentTimeMillis); at = yield* dueNow) {
        yield* Effect.sleep(at - (yield* Clock.currentTimeMillis))
      }
    }).pipe(Effect.onInterrupt(() => Effect.ignore(run(() => turn.ids.forEach((id) => leave.run(id))))))
    return turn.ids
  })

  return Quota.of({
    take: (bucket, perMinute) => Effect.asVoid(spend([{ bucket, perMinute, amount: 1 }])),
    spend,
    settle: (receipt, amount) => Effect.asVoid(run(() => settle.run(Math.ceil(amount), receipt))),
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

/** Quota that all processes of a data directory share. */
export const layer: Layer.Layer<Quota, never, State> = Layer.effect(
  Quota,
  Effect.map(State, ({ database, path }) => make(database, path))
)

/** Quota of this process alone. */
export const layerMemory: Layer.Layer<Quota> = Layer.effect(
  Quota,
  Effect.acquireRelease(
    Effect.sync(() => {
      const database = new DatabaseSync(":memory:")
      database.exec(quotaTables + quotaAmounts)
      return database
    }),
    (database) => Effect.sync(() => database.close())
  ).pipe(Effect.map((database) => make(database, ":memory:")))
)
