import { Effect, Semaphore } from "effect"
import type { Context } from "../../../domain/Retrieval.ts"
import type { ServiceError } from "../../../domain/Errors.ts"
import { shareLoop } from "../../../domain/EventLoop.ts"
import type { Names } from "../Names.ts"
import { StoreDamage } from "../store/Checksum.ts"
import type { ReaderShape } from "../store/Reader.ts"
import type { CorpusRow } from "../store/Rows.ts"
import { IndexDamage } from "./CorpusIndex.ts"
import { Search, type SearchRequest } from "./Search.ts"
import { SearchThread } from "./SearchThread.ts"

/** What a search found, or the damage it met. */
export type Found = ReadonlyArray<Context> | IndexDamage | StoreDamage

/** A corpus by the last segment of its name, with its revision when the request came in; it may have changed since. */
export type Searched = Pick<CorpusRow, "name" | "revision">

/** Searches a corpus. */
export type Searcher = (corpus: Searched, request: SearchRequest) => Effect.Effect<Found, ServiceError>

/** Searches in the calling thread, which blocks the event loop for as long as a search takes. */
export const searchHere = (reader: ReaderShape, names: Names, memory: number): Effect.Effect<Searcher> =>
  Effect.map(
    Effect.orDie(reader.read((db) => new Search(db, names, memory))),
    (search): Searcher => ({ name }, request) =>
      Effect.andThen(shareLoop, reader.read(() => attempt(() => search.run(reader.corpusNow(name), request))))
  )

/** The result of `body`, or the damage it threw: damage may be repaired instead of reported. */
export const attempt = <A>(body: () => A): A | IndexDamage | StoreDamage => {
  try {
    return body()
  } catch (cause) {
    if (cause instanceof IndexDamage || cause instanceof StoreDamage) return cause
    throw cause
  }
}

/**
 * Searches that one thread has at a time. It is enough that the thread never waits for the next one; a search that is cancelled
 * earlier does not reach the thread at all.
 */
const atOnce = 4

export interface SearchThreadsOptions {
  readonly dataDir: string
  readonly names: Names
  /** Bytes of the index that all threads together keep. */
  readonly memory: number
  /** Most threads; a further thread is started when all running ones are busy. */
  readonly threads: number
}

/** Searches in threads of their own, so that the event loop stays free. The threads end with the scope. */
export const searchInThreads = Effect.fnUntraced(function*({ dataDir, memory, names, threads }: SearchThreadsOptions) {
  const room = yield* Semaphore.make(threads * atOnce)
  const running: Array<SearchThread> = []
  yield* Effect.addFinalizer(() => Effect.promise(() => Promise.all(running.map((thread) => thread.close()))))
  const idlest = (): SearchThread => {
    const [first, ...others] = running
    const idlest = first === undefined
      ? undefined
      : others.reduce((least, thread) => thread.underWay < least.underWay ? thread : least, first)
    if (idlest !== undefined && (idlest.underWay === 0 || running.length === threads)) return idlest
    const { parent } = names
    const thread = new SearchThread({ dataDir, parent, memory: memory / threads })
    running.push(thread)
    return thread
  }
  const weights = new WordWeights()
  return ({ revision, name }: Searched, { vector, ...request }: SearchRequest): Effect.Effect<Found, ServiceError> =>
    room.withPermit(Effect.gen(function*() {
      const thread = idlest()
      if (vector === undefined || vector === "hashed") return yield* thread.search(name, { ...request, vector })
      // A custom embedder cannot run in the search thread. It runs here: once to learn which words it weighs, and, where the thread
      // has to weigh some of them first, a second time with their weights.
      const known = weights.of(name, revision)
      const unknown = new Set<string>()
      const tried = vector((word) => {
        const weight = known.get(word)
        if (weight === undefined) unknown.add(word)
        return weight ?? 1
      })
      if (unknown.size === 0) return yield* thread.search(name, { ...request, vector: tried })
      const words = [...unknown]
      const weighed = yield* thread.weigh(name, words)
      if (weighed instanceof IndexDamage || weighed instanceof StoreDamage) return weighed
      words.forEach((word, at) => known.set(word, weighed[at] ?? 1))
      return yield* thread.search(name, { ...request, vector: vector((word) => known.get(word) ?? 1) })
    }))
})

/** Weights kept for one corpus: words of questions come again and again. */
const mostWords = 20_000
const mostCorpora = 16

/** Weights of words in a corpus that were computed before, for as long as the corpus does not change. */
class WordWeights {
  readonly #corpora = new Map<string, { readonly revision: number; readonly words: Map<string, number> }>()

  of(corpus: string, revision: number): Map<string, number> {
    const known = this.#corpora.get(corpus)
    if (known?.revision === revision && known.words.size < mostWords) return known.words
    const words = new Map<string, number>()
    if (this.#corpora.size >= mostCorpora) this.#corpora.clear()
    this.#corpora.set(corpus, { revision, words })
    return words
  }
}
