import { Effect } from "effect"
import { ServiceError } from "../domain/Errors.ts"
import * as ChatRanker from "../models/ChatRanker.ts"
import * as LexicalRanker from "../models/LexicalRanker.ts"
import type { ChatModel } from "../ports/ChatModel.ts"
import { Rankers } from "../ports/Ranker.ts"

/** Of a server: the offline ranker stands in for the ranking service, and the upstream, whatever model is named, ranks where a language model is to. */
export const rankers = (chat?: ChatModel["Service"]): Rankers["Service"] => {
  const lexical = LexicalRanker.make()
  const byModel = chat === undefined ? undefined : ChatRanker.make(chat)
  return Rankers.of({
    of: ({ _tag }) => {
      if (_tag !== "llmRanker") return Effect.succeed(lexical)
      return byModel === undefined
        ? Effect.fail(ServiceError.invalid(
          "rank",
          "llm_ranker needs a server started with --upstream; rank_service needs none"
        ))
        : Effect.succeed(byModel)
    }
  })
}
