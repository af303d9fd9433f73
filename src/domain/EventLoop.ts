import { Effect } from "effect"

/** Milliseconds for which work that never waits may hold the event loop before timers, sockets and aborts have their turn. */
const mostHeld = 8

/** When the first piece of work of this pass of the loop began; undefined where none has. */
let heldSince: number | undefined

/**
 * Before a piece of work that takes a millisecond or more and waits for nothing: lets the event loop turn where such work has
 * held it for {@link mostHeld}. A caller that awaits one answer after the other, or a hundred at once, would otherwise stop
 * every timer, request and abort of its process, since promises alone never let the loop turn.
 */
export const shareLoop: Effect.Effect<void> = Effect.suspend(() => {
  if (heldSince === undefined) {
    heldSince = performance.now()
    setImmediate(() => void (heldSince = undefined))
    return Effect.void
  }
  return performance.now() - heldSince < mostHeld ? Effect.void : Effect.andThen(nextTurn, shareLoop)
})

const nextTurn = Effect.callback<void>((resume) => {
  const turn = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(turn))
})
