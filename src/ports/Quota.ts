import { Context, type Effect } from "effect"
import type { StateError } from "../domain/Errors.ts"

/** `amount` of a bucket that lets through `perMinute` in any minute: tokens, where a turn is not all that counts. */
export interface Spending {
  readonly bucket: string
  readonly perMinute: number
  readonly amount: number
}

/**
 * What a service lets its callers do, kept by all who call it from here: everything in this process, and, where it is
 * backed by the state database, every process on this machine with the same data directory.
 */
export class Quota extends Context.Service<Quota, {
  /** Waits for a turn, first come, first served: at most `perMinute` in any minute. Interrupting gives the turn back. */
  readonly take: (bucket: string, perMinute: number) => Effect.Effect<void, StateError>
  /**
   * Waits until all of these fit, and takes them together; first come, first served, in each bucket. One that asks for
   * more than a minute's worth waits for an empty minute. Gives a receipt for each, in order.
   */
  readonly spend: (spendings: ReadonlyArray<Spending>) => Effect.Effect<ReadonlyArray<number>, StateError>
  /** What a spending came to, which was only estimated before. Those who wait already keep their turns. */
  readonly settle: (receipt: number, amount: number) => Effect.Effect<void, StateError>
  /** Nobody gets a turn for this many milliseconds, those who wait for one included: the service said to slow down. */
  readonly pause: (bucket: string, milliseconds: number) => Effect.Effect<void, StateError>
  /**
   * Takes one of `limit` places for `holder`, at once, and answers nobody; or, where all are taken, who has them, oldest
   * first, and takes none. A place is the holder's until it is vacated or `forMs` have passed.
   */
  readonly occupy: (
    bucket: string,
    limit: number,
    holder: string,
    forMs: number
  ) => Effect.Effect<ReadonlyArray<string>, StateError>
  readonly vacate: (bucket: string, holder: string) => Effect.Effect<void, StateError>
}>()("sluice/ports/Quota") {}
