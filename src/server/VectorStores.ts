import { Effect } from "effect"
import type { ServiceError } from "../domain/Errors.ts"
import { percentDecoded } from "../domain/Percent.ts"
import type { Limits } from "../mcp/KnowledgeBase.ts"
import { completionErrorToWire } from "../wire/openai/OpenAiAnswers.ts"
import { storeResultsToWire, storeSearchFromWire, storesPageFromWire, storesToWire, storeToWire } from "../wire/openai/VectorStores.ts"
import { json, type RawAnswer, refusing, take } from "./Call.ts"
import type { ChatRoute } from "./CorpusChats.ts"
import { knowledgeBases, searchAll, unable, withAllTokens } from "./KnowledgeBases.ts"

const failed = refusing(completionErrorToWire)

/** Corpora as OpenAI's vector stores, by method and path: a client lists and searches them. What callers see has the limits of agents. */
export const vectorStores = Effect.fnUntraced(function*(limits: Limits = {}) {
  const { baseOf, listed, named } = yield* knowledgeBases
  const corpusNamed = (store: string) => named(store, (id) => `/v1/vector_stores/${id}`)

  const search = (store: string) =>
    Effect.fnUntraced(function*(body: Uint8Array) {
      const asked = yield* take(storeSearchFromWire(body))
      const base = yield* Effect.fromResult(baseOf(yield* corpusNamed(store), withAllTokens(limits)))
      const contexts = yield* searchAll(asked.queries.map((query) => ({ base, query })), asked)
      return json(storeResultsToWire(asked, contexts))
    }, unable)

  const list = Effect.fnUntraced(function*(query: URLSearchParams) {
    const page = yield* take(storesPageFromWire(query))
    return json(yield* take(storesToWire(page, yield* listed)))
  })

  const answered = (route: (body: Uint8Array, query: URLSearchParams) => Effect.Effect<RawAnswer, ServiceError>): ChatRoute => (...asked) =>
    failed(route(...asked))

  return (method: string, path: string): ChatRoute | undefined => {
    const found = /^\/v1\/vector_stores(?:\/([^/]+)(\/search)?)?$/.exec(path)
    if (found === null) return undefined
    const [, store, action] = found
    if (method === "POST" && store !== undefined && action !== undefined) return answered(search(percentDecoded(store)))
    if (method !== "GET" || action !== undefined) return undefined
    return store === undefined
      ? answered((_, query) => list(query))
      : answered(() => Effect.map(corpusNamed(percentDecoded(store)), (corpus) => json(storeToWire(corpus))))
  }
})
