import { Context as Ctx, type Effect } from "effect"
import type { ServiceError } from "../domain/Errors.ts"
import type { Context, RetrievalRequest } from "../domain/Retrieval.ts"

/** Finds the chunks of a corpus that are relevant to a question, best first; equal requests return equal orders. */
export class Retrieval extends Ctx.Service<Retrieval, {
  readonly retrieve: (request: RetrievalRequest) => Effect.Effect<ReadonlyArray<Context>, ServiceError>
}>()("sluice/ports/Retrieval") {}
