import { Context, type Effect, type Scope } from "effect"
import type { ServiceError } from "../domain/Errors.ts"

/** What one run may send to the embedder. Absent: no limit. */
export interface EmbeddingLimits {
  readonly tokens?: number
  /** As they are sent, those tried again among them. */
  readonly requests?: number
}

/** What was embedded since a limit was set. */
export interface Embedded {
  readonly texts: number
  readonly tokens: number
}

/** Why something was not embedded: the `reason` of a `RESOURCE_EXHAUSTED` that waiting does not mend. */
export const budgetSpent = "BUDGET"

/** Holds embedding to what a run may spend: reserved before anything is sent, so that the limit is a ceiling. */
export class EmbeddingBudget extends Context.Service<EmbeddingBudget, {
  /** Limits everything that is embedded until the scope closes, and answers what was embedded under it so far. */
  readonly limit: (limits: EmbeddingLimits) => Effect.Effect<() => Embedded, never, Scope.Scope>
  /** Whether some limit holds at present: otherwise all that is reserved is given. */
  readonly isLimited: () => boolean
  /** Takes texts of so many tokens, in order, while anything is left: answers how many. The last may go over the limit. */
  readonly reserve: (tokens: ReadonlyArray<number>) => number
  /** Tells which of the reserved texts were embedded; the others are given back. */
  readonly settle: (reserved: ReadonlyArray<number>, embedded: ReadonlyArray<number>) => void
  /** Takes one request to the embedder. Fails with `RESOURCE_EXHAUSTED`, reason {@link budgetSpent}. */
  readonly request: Effect.Effect<void, ServiceError>
}>()("sluice/ports/EmbeddingBudget") {}
