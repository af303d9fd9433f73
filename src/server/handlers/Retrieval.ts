import { Effect } from "effect"
import { renamed } from "../../domain/ChatRefusal.ts"
import type { ServiceError } from "../../domain/Errors.ts"
import { Corpora } from "../../ports/Corpora.ts"
import { Retrieval } from "../../ports/Retrieval.ts"
import { augmentRequestFromWire, augmentResponseToWire, corroborateRequestFromWire, corroborateResponseToWire, factToWire } from "../../wire/rag/Facts.ts"
import { contextsToWire, retrieveRequestFromWire, type Selection } from "../../wire/rag/Retrievals.ts"
import { type Handlers, take } from "../Call.ts"
import type { ClientNames } from "../ClientNames.ts"
import { checkPlace } from "../CorpusPlaces.ts"
import { corroborate } from "../grounding/Corroborate.ts"

type Methods = Pick<Handlers, "retrieveContexts" | "augmentPrompt" | "corroborateContent">

/** Where to look, in the engine's names. */
export const inEngine = <S extends Selection>(corpora: Corpora["Service"], selection: S, names: ClientNames): Effect.Effect<S, ServiceError> =>
  Effect.as(checkPlace(corpora, names, selection.corpus), {
    ...selection,
    corpus: names.corpus(selection.corpus),
    ...(selection.files === undefined ? {} : { files: selection.files.map((file) => names.file(file)) })
  })

/** The engine's word on a field, by the name that the client writes it with. */
const asWritten = <A>(effect: Effect.Effect<A, ServiceError>): Effect.Effect<A, ServiceError> =>
  Effect.mapError(effect, (error) => renamed(error, (field) => fields[field.replace(/\[\d+\]$/, "")] ?? field))

const fields: Readonly<Record<string, string>> = {
  query: "query.text",
  topK: "query.rag_retrieval_config.top_k",
  files: "vertex_rag_store.rag_resources[0].rag_file_ids"
}

/** @param terms words of a text that carry meaning, folded so that forms of one word meet */
export const retrievalHandlers = (terms: (text: string) => ReadonlyArray<string>): Effect.Effect<Methods, never, Corpora | Retrieval> =>
  Effect.gen(function*() {
    const { retrieve } = yield* Retrieval
    const corpora = yield* Corpora
    return {
      retrieveContexts: Effect.fnUntraced(function*({ body, names }) {
        const request = yield* take(retrieveRequestFromWire(names.location, body))
        return contextsToWire(yield* asWritten(retrieve(yield* inEngine(corpora, request, names))))
      }),
      augmentPrompt: Effect.fnUntraced(function*({ body, names }) {
        const { question, selection } = yield* take(augmentRequestFromWire(names.location, body))
        const contexts = yield* retrieve({ ...(yield* inEngine(corpora, selection, names)), query: question })
        return augmentResponseToWire(body, contexts.map((context) => factToWire(question, context)))
      }),
      corroborateContent: Effect.fnUntraced(function*({ body }) {
        const request = yield* take(corroborateRequestFromWire(body))
        const { claims, score } = corroborate(request, terms)
        return corroborateResponseToWire(request.text, score, claims)
      })
    }
  })
