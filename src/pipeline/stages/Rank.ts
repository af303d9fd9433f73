import { Effect } from "effect"
import type { SecretError, ServiceError } from "../../domain/Errors.ts"
import type { Ranking } from "../../domain/Retrieval.ts"
import type { HostedModels } from "../Host.ts"
import { Models } from "../Services.ts"
import type { Retrieved, Unanswered } from "./Retrieve.ts"
import { described, type Stage } from "./Stage.ts"

/** What a ranker needs of the engine beyond its models. */
type Needs<R extends Ranking> = R extends { readonly _tag: "lexical" } ? Models : Models | HostedModels

/** Puts the contexts in a better order. Default: the lexical ranker, which needs no model. */
export const rank = <const R extends Ranking = { readonly _tag: "lexical" }>(
  ranking?: R
): Stage<Unanswered, Retrieved, ServiceError | SecretError, Needs<R>> => {
  const by: Ranking = ranking ?? { _tag: "lexical" }
  const stage: Stage<Unanswered, Retrieved, ServiceError | SecretError, Models> = described(
    { _tag: "rank", rank: by },
    (input) =>
      Effect.gen(function*() {
        const models = yield* Models
        const ranker = yield* models.ranker(by)
        return { ...input, contexts: yield* ranker.rank(input.question, input.contexts) }
      }).pipe(Effect.scoped, Effect.withSpan("stage.rank"))
  )
  return stage
}
