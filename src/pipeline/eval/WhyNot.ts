import { Effect, Stream } from "effect"
import { askerName } from "../../domain/Asker.ts"
import type { RagFileName } from "../../domain/RagFile.ts"
import type { Context } from "../../domain/Retrieval.ts"
import { Ledger, type LedgerEntry } from "../../ports/Ledger.ts"
import { retrieveFrom } from "../AskPipeline.ts"
import type { Definition } from "../definition/Definition.ts"
import type { Question, RetrieveOptions } from "../stages/Retrieve.ts"
import { findScope, namesIn } from "../sync/Generations.ts"

/**
 * Explains, in a sentence for people, why a question does not find a file, or finds others before it: no source has it,
 * it could not be read, the asker may not read it, a filter excludes it, or its best passage matches the question less
 * than the first result. `path` is a path in a source, or the end of one.
 */
export const whyNotFound = Effect.fn("whyNotFound")(function*(
  pipeline: Definition,
  question: Question,
  path: string,
  overrides: RetrieveOptions = {}
) {
  return yield* whyNotIn(yield* findScope(namesIn(pipeline)), path, question, (asking, files) =>
    Effect.map(
      retrieveFrom(pipeline, asking, { ...overrides, ...(files === undefined ? {} : { files }), topK: 1, explain: true }),
      ({ contexts }) => contexts[0]
    ))
})

/**
 * Explains like {@link whyNotFound}, from the ledger's entries under a key, and with a search that returns the first
 * passage of some files or of all.
 */
export const whyNotIn = Effect.fnUntraced(function*<E, R>(
  scope: string,
  path: string,
  question: Question,
  first: (asking: Question, files?: ReadonlyArray<RagFileName>) => Effect.Effect<Context | undefined, E, R>
) {
  const ledger = yield* Ledger
  const firstThat = (isIt: (entry: LedgerEntry) => boolean) =>
    ledger.entries(scope, undefined, { containing: path }).pipe(Stream.filter(isIt), Stream.take(1), Stream.runCollect)
  const [entry = (yield* firstThat((entry) => entry.path.endsWith(`/${path}`)))[0]] = yield* firstThat((entry) => entry.path === path)
  if (entry === undefined) return "no source has a file of this path"
  if (entry.file === undefined) return notTaken(entry)
  const only = [entry.file]
  const own = yield* first(question, only)
  if (own === undefined) {
    const { principal, ...anyone } = question
    return principal !== undefined && (yield* first(anyone, only)) !== undefined
      ? `${askerName(principal)} may not read it`
      : "nothing of it passes the filters of the search, or it has no text"
  }
  const best = yield* first(question)
  const had = whatItHas(own)
  return best === undefined || best.file === own.file
    ? `its best passage has ${had}`
    : `its best passage has ${had}; the passage of ${best.sourceDisplayName}, found first, ${whatItHas(best)}`
})

const notTaken = ({ message, reason, state }: LedgerEntry): string => {
  const why = [reason, message].filter((part) => part !== undefined).join(": ")
  return state === "intent"
    ? "it is not in the corpus yet: the run that was to store it did not finish"
    : `it is ${state}${why === "" ? "" : `: ${why}`}`
}

/** Most words listed. */
const shownWords = 6

const whatItHas = ({ explanation }: Context): string => {
  if (explanation === undefined) return "no explanation on this engine"
  const words = (terms: typeof explanation.terms) => [...new Set(terms.map(({ from, term }) => from ?? term))]
  // Words that were added are not the question's.
  const asked = explanation.terms.filter(({ shared }) => shared !== true)
  const all = words(asked)
  const had = words(asked.filter(({ termFrequency }) => termFrequency > 0))
  const named = had.length === 0 ? "" : ` (${had.slice(0, shownWords).join(", ")}${had.length > shownWords ? ", …" : ""})`
  return `${had.length} of ${all.length} words${named}, BM25 ${explanation.sparse.toFixed(2)}, cosine ${explanation.cosine.toFixed(2)}`
}
