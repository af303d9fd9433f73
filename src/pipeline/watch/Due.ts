import { Clock, Effect, Queue } from "effect"
import type { Agenda } from "./Agenda.ts"

/** Waits are cut into pieces of this length in milliseconds, so that a wake-up of the machine is noticed soon. */
const tick = 15_000

/** A deviation of the clock from the end of a wait, in milliseconds, which means that the machine slept, or the clock was set. */
const jump = 10_000

/**
 * Waits until a source of an agenda is due, and takes those that are; `wake` receives an element when the next due time
 * has moved forward.
 */
export const takeDue = (agenda: Agenda, wake: Queue.Dequeue<void>): Effect.Effect<ReadonlyArray<string>> =>
  Effect.gen(function*() {
    for (;;) {
      const now = yield* Clock.currentTimeMillis
      const wait = agenda.next - now
      if (wait <= 0) return agenda.take(now)
      const piece = Math.min(wait, tick)
      yield* Effect.raceFirst(Effect.sleep(piece), Queue.take(wake))
      const after = yield* Clock.currentTimeMillis
      if (after < now - jump || after > now + piece + jump) agenda.all()
    }
  })
