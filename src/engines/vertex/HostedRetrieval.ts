import { Cache, Effect, Layer } from "effect"
import type { CorpusName } from "../../domain/Corpus.ts"
import { ServiceError } from "../../domain/Errors.ts"
import { mergedContexts, perCorpus, type RetrievalRequest } from "../../domain/Retrieval.ts"
import { hybridBroken, retrievalBroken } from "../../domain/rag/RagRules.ts"
import { refusalOf } from "../../domain/Rule.ts"
import { withAlternatives } from "../../domain/Synonyms.ts"
import { Retrieval } from "../../ports/Retrieval.ts"
import { corpusFromWire } from "../../wire/rag/Corpora.ts"
import { contextsFromWire, retrieveRequestToWire } from "../../wire/rag/Retrievals.ts"
import { routes } from "../../wire/Routes.ts"
import { Transport } from "./Transport.ts"

/**
 * The service's retrieval. It does not correct spelling and does not explain its order. Synonyms are put after the query. A request for an
 * explanation, or for anything else that it cannot do, fails with the name of the field.
 */
export const layer: Layer.Layer<Retrieval, never, Transport> = Layer.effect(
  Retrieval,
  Effect.gen(function*() {
    const transport = yield* Transport
    const { parent } = transport
    // A corpus's kind of database never changes, so it is read once.
    const databases = yield* Cache.make({
      capacity: 1_000,
      lookup: Effect.fnUntraced(function*(name: CorpusName) {
        return (yield* Effect.fromResult(
          corpusFromWire(yield* transport.call({ route: routes.getRagCorpus, params: { name }, awaited: true }))
        )).vectorDb
          ._tag
      })
    })
    return Retrieval.of({
      retrieve: Effect.fn("HostedRetrieval.retrieve")(function*(request: RetrievalRequest) {
        if (request.explain === true) {
          return yield* new ServiceError({
            code: "UNIMPLEMENTED",
            message: "the service does not explain its order (explain)",
            fix: "leave explain out, or use the embedded engine"
          })
        }
        const broken = retrievalBroken(request)
        const kind = broken.length > 0 || request.hybrid === undefined ? undefined : yield* Cache.get(databases, request.corpus)
        const refused = refusalOf(kind === undefined ? broken : hybridBroken(kind))
        if (refused !== undefined) return yield* refused
        const ask = Effect.fnUntraced(function*(one: RetrievalRequest) {
          const body = yield* Effect.fromResult(retrieveRequestToWire({ ...one, query: withAlternatives(one.query, one.synonyms) }))
          const found = yield* transport.call({
            route: routes.retrieveContexts,
            params: { parent },
            body,
            bucket: "retrieve",
            awaited: true
          })
          return contextsFromWire(one.corpus, found)
        })
        // One corpus at a time: an answer does not say which corpus a context belongs to.
        return request.also === undefined || request.also.length === 0
          ? yield* ask(request)
          : mergedContexts(yield* Effect.forEach(perCorpus(request), ask, { concurrency: 4 }), request)
      })
    })
  })
)
