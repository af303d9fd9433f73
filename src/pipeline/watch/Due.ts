import { Clock, Effect, Queue } from "effect"
import type { Agenda } from "./Agenda.ts"

/** Waits are cut into pieces of this, so that a laptop that slept is noticed soon after it wakes. */
const tick = 15_000

/** The clock is this far from where a wait should have left it: the machine slept, or the clock was set. */
const jump = 10_000

/** Waits until a source of an agenda is due, and takes those that are; `wake` is told when the agenda has moved forward. */
export const takeDue = (agenda: Agenda, wake: Queue.Dequeue<void>): Effect.Effect<ReadonlyArray<string>> =>
  Effect.gen(function*() {
    for (;;) {
      const now = yield* Clock.currentTimeMillis
      const wait = agenda.next - now
      if (wait <= 0) return agenda.take(now)
      const piece = Math.min(wait, tick)
      yield* Effect.raceFirst(Effect.sleep(piece), Queue.take(wake))
      const after = yield* Clock.currentTimeMillis
      if (after < now - jump || after > now + piece + jump) agenda.all(after)
    }
  })
