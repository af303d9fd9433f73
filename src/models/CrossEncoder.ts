import { Effect } from "effect"
import { ServiceError } from "../domain/Errors.ts"
import type { LocalModel } from "../domain/LocalModel.ts"
import { type Context, rankedBy } from "../domain/Retrieval.ts"
import { Ranker } from "../ports/Ranker.ts"
import { type LocalModelOptions, openModel } from "./local/ModelProcess.ts"
import { scoredText } from "./ScoredText.ts"

/**
 * Reranks contexts by a cross encoder in a process on this machine, which reads the question and a text together. `score` becomes the
 * probability that the text answers the question, 0 to 1. For a text longer than the model's input, the window with the best answer counts;
 * a question takes at most half of the input, and is cut there.
 */
export const make = Effect.fn("CrossEncoder.make")(function*(field: string, settings: LocalModel, options: LocalModelOptions) {
  const { ask, found, name } = yield* openModel(field, settings, options)
  if (found.form === "static") {
    return yield* ServiceError.invalid(
      field,
      `${name} is a table of vectors, which embeds texts and does not score them`,
      "name a cross encoder"
    )
  }
  return Ranker.of({
    rank: Effect.fn("CrossEncoder.rank")(function*(query: string, contexts: ReadonlyArray<Context>) {
      if (contexts.length < 2) return contexts
      const scores = yield* ask({ texts: contexts.map(scoredText), urgent: true, query })
      return scores.length === contexts.length
        ? rankedBy(contexts, [...scores])
        : yield* ServiceError.internal(`the model ${name} gave ${scores.length} scores for ${contexts.length} texts`)
    })
  })
})
