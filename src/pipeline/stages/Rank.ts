import { Effect } from "effect"
import type { ServiceError } from "../../domain/Errors.ts"
import { Ranker } from "../../ports/Ranker.ts"
import type { Retrieved } from "./Retrieve.ts"
import type { Stage } from "./Stage.ts"

/** Puts the contexts in a better order and keeps the first `keep`, or all. */
export const rank = (options: { readonly keep?: number } = {}): Stage<Retrieved, Retrieved, ServiceError, Ranker> => (input) =>
  Effect.gen(function*() {
    const ranker = yield* Ranker
    const contexts = yield* ranker.rank(input.question, input.contexts)
    return { ...input, contexts: contexts.slice(0, options.keep ?? contexts.length) }
  }).pipe(Effect.withSpan("stage.rank"))
