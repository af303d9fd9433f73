import { Context as Ctx, type Effect } from "effect"
import type { ServiceError } from "../domain/Errors.ts"
import type { Context, Ranking } from "../domain/Retrieval.ts"

/** Reorders retrieved contexts by relevance; may neither drop nor add any. */
export class Ranker extends Ctx.Service<Ranker, {
  readonly rank: (query: string, contexts: ReadonlyArray<Context>) => Effect.Effect<ReadonlyArray<Context>, ServiceError>
}>()("sluice/ports/Ranker") {}

/** Rankers that a retrieval request can name; an engine without this service uses the given {@link Ranker} for `lexical` alone. */
export class Rankers extends Ctx.Service<Rankers, {
  /** Returns the ranker of a kind. Fails where there is none, and says how to get one. */
  readonly of: (ranking: Ranking) => Effect.Effect<Ranker["Service"], ServiceError>
}>()("sluice/ports/Rankers") {}
