import { Context as Ctx, type Effect } from "effect"
import type { ServiceError } from "../domain/Errors.ts"
import type { Context, Ranking } from "../domain/Retrieval.ts"

/** Puts retrieved contexts in a better order; may drop none and invent none. */
export class Ranker extends Ctx.Service<Ranker, {
  readonly rank: (query: string, contexts: ReadonlyArray<Context>) => Effect.Effect<ReadonlyArray<Context>, ServiceError>
}>()("sluice/ports/Ranker") {}

/** The rankers that a retrieval may ask for; an engine without this one has the given {@link Ranker} for `lexical` alone. */
export class Rankers extends Ctx.Service<Rankers, {
  /** Fails where there is none of this kind, and says how to get one. */
  readonly of: (ranking: Ranking) => Effect.Effect<Ranker["Service"], ServiceError>
}>()("sluice/ports/Rankers") {}
