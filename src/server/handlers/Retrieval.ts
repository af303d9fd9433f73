import { Effect } from "effect"
import { Retrieval } from "../../ports/Retrieval.ts"
import { augmentRequestFromWire, augmentResponseToWire, corroborateRequestFromWire, corroborateResponseToWire, factToWire } from "../../wire/rag/Facts.ts"
import { contextsToWire, retrieveRequestFromWire, type Selection } from "../../wire/rag/Retrievals.ts"
import { type Handlers, take } from "../Call.ts"
import type { ClientNames } from "../ClientNames.ts"
import { corroborate } from "../grounding/Corroborate.ts"

type Methods = Pick<Handlers, "retrieveContexts" | "augmentPrompt" | "corroborateContent">

/** Where to look, in the engine's names. */
export const inEngine = <S extends Selection>(selection: S, names: ClientNames): S => ({
  ...selection,
  corpus: names.corpus(selection.corpus),
  ...(selection.files === undefined ? {} : { files: selection.files.map((file) => names.file(file)) })
})

/** @param terms words of a text that carry meaning, folded so that forms of one word meet */
export const retrievalHandlers = (terms: (text: string) => ReadonlyArray<string>): Effect.Effect<Methods, never, Retrieval> =>
  Effect.gen(function*() {
    const { retrieve } = yield* Retrieval
    return {
      retrieveContexts: Effect.fnUntraced(function*({ body, names }) {
        const request = yield* take(retrieveRequestFromWire(names.location, body))
        return contextsToWire(yield* retrieve(inEngine(request, names)))
      }),
      augmentPrompt: Effect.fnUntraced(function*({ body, names }) {
        const { question, selection } = yield* take(augmentRequestFromWire(names.location, body))
        const contexts = yield* retrieve({ ...inEngine(selection, names), query: question })
        return augmentResponseToWire(body, contexts.map((context) => factToWire(question, context)))
      }),
      corroborateContent: Effect.fnUntraced(function*({ body }) {
        const request = yield* take(corroborateRequestFromWire(body))
        const { claims, score } = corroborate(request, terms)
        return corroborateResponseToWire(request.text, score, claims)
      })
    }
  })
