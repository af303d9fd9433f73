import { Context, type Effect, type Scope } from "effect"
import type { ServiceError } from "../domain/Errors.ts"

/** What one run may send to the embedder. An absent field means no limit. */
export interface EmbeddingLimits {
  readonly tokens?: number
  /** Requests sent, retries included. */
  readonly requests?: number
}

/** What was embedded since a limit was set. */
export interface Embedded {
  readonly texts: number
  readonly tokens: number
}

/** The `reason` of a `RESOURCE_EXHAUSTED` that says the run's budget is spent, which waiting does not mend. */
export const budgetSpent = "BUDGET"

/** Keeps embedding within the budget of a run: amounts are reserved before anything is sent, so the limit is a ceiling. */
export class EmbeddingBudget extends Context.Service<EmbeddingBudget, {
  /** Limits everything embedded until the scope closes. Returns a function that says what has been embedded under the limit so far. */
  readonly limit: (limits: EmbeddingLimits) => Effect.Effect<() => Embedded, never, Scope.Scope>
  /** Whether any limit is in force; without one every reservation is granted in full. */
  readonly isLimited: () => boolean
  /**
   * Reserves texts with these token counts, in order, while anything is left of the budget; returns how many. The last
   * one may exceed the limit.
   */
  readonly reserve: (tokens: ReadonlyArray<number>) => number
  /** Reports which of the reserved texts were embedded; the reservations of the others are returned. */
  readonly settle: (reserved: ReadonlyArray<number>, embedded: ReadonlyArray<number>) => void
  /** Reserves one request to the embedder. Fails with `RESOURCE_EXHAUSTED`, reason {@link budgetSpent}. */
  readonly request: Effect.Effect<void, ServiceError>
}>()("sluice/ports/EmbeddingBudget") {}
