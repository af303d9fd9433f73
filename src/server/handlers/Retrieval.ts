import { Effect } from "effect"
import { renamed } from "../../domain/ChatRefusal.ts"
import type { ServiceError } from "../../domain/Errors.ts"
import { Corpora } from "../../ports/Corpora.ts"
import type { SearchedCorpus } from "../../domain/Retrieval.ts"
import { Engine } from "../../ports/Engine.ts"
import { Generator } from "../../ports/Generator.ts"
import { Retrieval } from "../../ports/Retrieval.ts"
import { defined } from "../../wire/Optional.ts"
import {
  augmentRequestFromWire,
  augmentResponseToWire,
  corroborateRequestFromWire,
  corroborateResponseToWire,
  factToWire
} from "../../wire/rag/Facts.ts"
import { askRequestFromWire, orderedContextsToWire, retrieveRequestFromWire, type Selection } from "../../wire/rag/Retrievals.ts"
import { type Handlers, take } from "../Call.ts"
import type { ClientNames } from "../ClientNames.ts"
import { checkPlace } from "../CorpusPlaces.ts"
import { LongRunning } from "../operations/LongRunning.ts"
import { answered } from "./Operations.ts"
import { corroborate } from "../grounding/Corroborate.ts"

type Methods = Pick<Handlers, "retrieveContexts" | "asyncRetrieveContexts" | "askContexts" | "augmentPrompt" | "corroborateContent">

/** A selection of corpora and files under the engine's names. */
export const inEngine = <S extends Selection>(
  corpora: Corpora["Service"],
  selection: S,
  names: ClientNames
): Effect.Effect<S, ServiceError> =>
  Effect.as(Effect.forEach([selection, ...selection.also ?? []], ({ corpus }) => checkPlace(corpora, names, corpus), { discard: true }), {
    ...selection,
    ...searchedInEngine(selection, names),
    ...(selection.also === undefined ? {} : { also: selection.also.map((other) => searchedInEngine(other, names)) })
  })

const searchedInEngine = ({ corpus, files }: SearchedCorpus, names: ClientNames): SearchedCorpus => ({
  corpus: names.corpus(corpus),
  files: files === undefined ? undefined : files.map((file) => names.file(file))
})

/** Renames the fields in the engine's errors to those of the API. */
const asWritten = <A>(effect: Effect.Effect<A, ServiceError>): Effect.Effect<A, ServiceError> =>
  Effect.mapError(effect, (error) => renamed(error, (field) => fields[field.replace(/\[\d+\]$/, "")] ?? field))

const fields: Readonly<Record<string, string>> = {
  query: "query.text",
  topK: "query.rag_retrieval_config.top_k",
  rank: "query.rag_retrieval_config.ranking",
  files: "vertex_rag_store.rag_resources[0].rag_file_ids"
}

/** @param terms content words of a text, folded so that forms of one word are equal */
export const retrievalHandlers = (
  terms: (text: string) => ReadonlyArray<string>,
  defaultEmbedding: string
): Effect.Effect<Methods, never, Corpora | Engine | Generator | LongRunning | Retrieval> =>
  Effect.gen(function*() {
    const { retrieve } = yield* Retrieval
    const corpora = yield* Corpora
    const { parent } = yield* Engine
    const generator = yield* Generator
    const operations = yield* LongRunning
    return {
      retrieveContexts: Effect.fnUntraced(function*({ body, names }) {
        const request = yield* take(retrieveRequestFromWire(names.location, body))
        return orderedContextsToWire(yield* asWritten(retrieve(yield* inEngine(corpora, request, names))), request)
      }),
      asyncRetrieveContexts: Effect.fnUntraced(function*({ body, names, slowBy, version }) {
        const request = yield* take(askRequestFromWire(names.location, body))
        const contexts = yield* asWritten(retrieve(yield* inEngine(corpora, request, names)))
        const { hybrid, rank } = request
        const entry = yield* operations.finished("retrieveContexts", parent, { contexts, ordered: defined({ hybrid, rank }), slowBy })
        return answered(entry, version, names, defaultEmbedding)
      }),
      askContexts: Effect.fnUntraced(function*({ body, names }) {
        const request = yield* take(askRequestFromWire(names.location, body))
        const contexts = yield* asWritten(retrieve(yield* inEngine(corpora, request, names)))
        const { text } = yield* generator.answer({ question: request.query, contexts })
        return { response: text, ...orderedContextsToWire(contexts, request) }
      }),
      augmentPrompt: Effect.fnUntraced(function*({ body, names }) {
        const { question, selection } = yield* take(augmentRequestFromWire(names.location, body))
        const contexts = yield* asWritten(retrieve({ ...(yield* inEngine(corpora, selection, names)), query: question }))
        return augmentResponseToWire(body, contexts.map((context) => factToWire(question, context)))
      }),
      corroborateContent: Effect.fnUntraced(function*({ body }) {
        const request = yield* take(corroborateRequestFromWire(body))
        const { claims, score } = corroborate(request, terms)
        return corroborateResponseToWire(request.text, score, claims)
      })
    }
  })
