import { Array, Effect, Schema } from "effect"
import { ServiceError } from "../domain/Errors.ts"
import { type Context, rankedBy } from "../domain/Retrieval.ts"
import { transportErrorOf } from "../net/HttpErrors.ts"
import { Ranker } from "../ports/Ranker.ts"
import { type Connection, connect } from "./openai/Connection.ts"
import { scoredText } from "./ScoredText.ts"

/** Most texts of one request. The scores of several requests are comparable, since each text is scored with the question alone. */
const textsAtOnce = 256
/** Most UTF-16 units of one text; rerankers read a few hundred tokens, and cut off the rest. */
const longestText = 8_000

const Answer = Schema.Struct({
  results: Schema.Array(Schema.Struct({ index: Schema.Int, relevance_score: Schema.Finite }))
})
const decodeAnswer = Schema.decodeUnknownEffect(Answer)

/**
 * Reranks contexts with a service behind any `/rerank` URL compatible with Cohere's: Jina, vLLM, llama.cpp, Infinity and others. `score`
 * becomes the service's `relevance_score`. A response that leaves a context out, or scores one that does not exist, is an error, since it
 * is not an order of the contexts.
 */
export const make = Effect.fnUntraced(function*(connection: Connection) {
  const service = yield* connect(connection, "rerank", "ranking")

  const malformed = (what: string): ServiceError =>
    new ServiceError({
      code: "FAILED_PRECONDITION",
      message: `${service.what} gave ${what}`,
      fix: "check that the address is that of a reranker, which answers {results: [{index, relevance_score}]}"
    })

  const scored = (query: string, contexts: ReadonlyArray<Context>) => {
    const documents = contexts.map((context) => scoredText(context).slice(0, longestText))
    return service.post({ model: connection.model, query, documents, top_n: documents.length }, (response) =>
      response.json.pipe(
        Effect.mapError((error) => transportErrorOf(service.what, error)),
        Effect.flatMap((json) => Effect.mapError(decodeAnswer(json), () => malformed("an answer that is no list of scores"))),
        Effect.flatMap(({ results }) => {
          const scores = new Map(results.map(({ index, relevance_score }) => [index, relevance_score]))
          const all = contexts.flatMap((_, at) => scores.get(at) ?? [])
          return all.length === contexts.length && scores.size === all.length && results.length === all.length
            ? Effect.succeed(all)
            : Effect.fail(malformed(`${results.length} scores for ${contexts.length} texts`))
        })
      ))
  }

  return Ranker.of({
    rank: Effect.fn("ServiceRanker.rank")(function*(query: string, contexts: ReadonlyArray<Context>) {
      if (contexts.length < 2) return contexts
      const groups = Array.chunksOf(contexts, textsAtOnce)
      return rankedBy(contexts, (yield* Effect.forEach(groups, (group) => scored(query, group))).flat())
    })
  })
})
