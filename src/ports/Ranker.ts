import { Context as Ctx, type Effect } from "effect"
import type { ServiceError } from "../domain/Errors.ts"
import type { Context } from "../domain/Retrieval.ts"

/** Puts retrieved contexts in a better order; may drop none and invent none. */
export class Ranker extends Ctx.Service<Ranker, {
  readonly rank: (query: string, contexts: ReadonlyArray<Context>) => Effect.Effect<ReadonlyArray<Context>, ServiceError>
}>()("sluice/ports/Ranker") {}
