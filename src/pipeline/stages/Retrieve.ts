import { Effect } from "effect"
import type { CorpusName } from "../../domain/Corpus.ts"
import type { ServiceError } from "../../domain/Errors.ts"
import type { Context, RetrievalRequest } from "../../domain/Retrieval.ts"
import { Retrieval } from "../../ports/Retrieval.ts"
import { retrievalTime } from "../Metrics.ts"
import type { Stage } from "./Stage.ts"

/** What a chain of stages starts from. */
export interface Question {
  readonly question: string
  /** Answer only from what this principal may read; absent means the owner, who reads all. */
  readonly principal?: string
}

export interface Retrieved extends Question {
  readonly contexts: ReadonlyArray<Context>
}

/** How to retrieve: a {@link RetrievalRequest} but for what the question brings. */
export type RetrieveOptions = Omit<RetrievalRequest, "corpus" | "query" | "principal">

/** Finds the contexts of a corpus that bear on the question, best first. */
export const retrieve =
  (corpus: CorpusName, options: RetrieveOptions = {}): Stage<Question, Retrieved, ServiceError, Retrieval> =>
  (input) =>
    Effect.gen(function*() {
      const retrieval = yield* Retrieval
      const contexts = yield* retrieval.retrieve({
        ...options,
        corpus,
        query: input.question,
        ...(input.principal === undefined ? {} : { principal: input.principal })
      })
      return { ...input, contexts }
    }).pipe(Effect.trackDuration(retrievalTime), Effect.withSpan("stage.retrieve"))
