import { Effect, Semaphore } from "effect"
import type { Context } from "../../../domain/Retrieval.ts"
import type { ServiceError } from "../../../domain/Errors.ts"
import type { Names } from "../Names.ts"
import { StoreDamage } from "../store/Checksum.ts"
import type { ReaderShape } from "../store/Reader.ts"
import { IndexDamage } from "./CorpusIndex.ts"
import { Search, type SearchRequest } from "./Search.ts"
import { SearchThread } from "./SearchThread.ts"

/** What a search found, or the damage it met. */
export type Found = ReadonlyArray<Context> | IndexDamage | StoreDamage

/** Searches a corpus, by the last segment of its name. */
export type Searcher = (corpus: string, request: SearchRequest) => Effect.Effect<Found, ServiceError>

/** Searches where it is called, which holds the event loop for as long as a search takes. */
export const searchHere = (reader: ReaderShape, names: Names, memory: number): Effect.Effect<Searcher> =>
  Effect.map(
    Effect.orDie(reader.read((db) => new Search(db, names, memory))),
    (search): Searcher => (corpus, request) => reader.read(() => attempt(() => search.run(reader.corpusNow(corpus), request)))
  )

/** Damage as a value: it is to be mended, and not reported yet. */
export const attempt = <A>(body: () => A): A | IndexDamage | StoreDamage => {
  try {
    return body()
  } catch (cause) {
    if (cause instanceof IndexDamage || cause instanceof StoreDamage) return cause
    throw cause
  }
}

/** Searches of one thread that are sent to it at once: it never waits for us, and what is given up does not wait in it. */
const atOnce = 4

export interface SearchThreadsOptions {
  readonly dataDir: string
  readonly names: Names
  /** Bytes that all threads together keep of the index. */
  readonly memory: number
  /** At most; another one is started when those there are have enough to do. */
  readonly threads: number
}

/** Searches in threads, so that the event loop is free meanwhile. They end with the scope. */
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
  return (corpus: string, { vector, ...request }: SearchRequest): Effect.Effect<Found, ServiceError> =>
    room.withPermit(Effect.gen(function*() {
      const thread = idlest()
      if (vector === undefined) return yield* thread.search(corpus, request)
      // The embedder cannot go into the thread: it says which words it has, and is told there how rare they are.
      const words: Array<string> = []
      const unweighed = vector((word) => {
        words.push(word)
        return 1
      })
      if (words.length === 0) return yield* thread.search(corpus, { ...request, vector: unweighed })
      const weights = yield* thread.weigh(corpus, words)
      if (weights instanceof IndexDamage || weights instanceof StoreDamage) return weights
      let next = 0
      return yield* thread.search(corpus, { ...request, vector: vector(() => weights[next++] ?? 1) })
    }))
})
