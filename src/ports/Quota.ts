import { Context, type Effect } from "effect"
import type { StateError } from "../domain/Errors.ts"

/** Takes `amount` units from a bucket that allows `perMinute` in any minute: for limits that count tokens rather than calls. */
export interface Spending {
  readonly bucket: string
  readonly perMinute: number
  readonly amount: number
}

/**
 * Rate limits of services, shared by all their callers here: everything in this process and, where it is backed by the
 * state database, every process on this machine with the same data directory.
 */
export class Quota extends Context.Service<Quota, {
  /** Waits for a turn, first come, first served: at most `perMinute` in any minute. Interrupting the wait returns the turn. */
  readonly take: (bucket: string, perMinute: number) => Effect.Effect<void, StateError>
  /**
   * Waits until all amounts fit, and takes them together; first come, first served, in each bucket. A caller that wants
   * more than a minute's worth waits for an empty minute. Returns a receipt for each, in order.
   */
  readonly spend: (spendings: ReadonlyArray<Spending>) => Effect.Effect<ReadonlyArray<number>, StateError>
  /** Corrects a spending that was estimated to its real amount. Callers already waiting keep their turns. */
  readonly settle: (receipt: number, amount: number) => Effect.Effect<void, StateError>
  /** Stops all turns for this many milliseconds, those of waiting callers included: the service asked to slow down. */
  readonly pause: (bucket: string, milliseconds: number) => Effect.Effect<void, StateError>
  /**
   * Takes one of `limit` places for `holder` without waiting, and returns an empty array; where all are taken, takes none
   * and returns their holders, oldest first. A place is the holder's until it is vacated or `forMs` milliseconds have
   * passed.
   */
  readonly occupy: (
    bucket: string,
    limit: number,
    holder: string,
    forMs: number
  ) => Effect.Effect<ReadonlyArray<string>, StateError>
  readonly vacate: (bucket: string, holder: string) => Effect.Effect<void, StateError>
}>()("sluice/ports/Quota") {}
