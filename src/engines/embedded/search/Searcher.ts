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

/** A corpus by the last segment of its name, and what its generation was when it was asked for: it may be another by now. */
export type Searched = Pick<CorpusRow, "name" | "generation">

/** Searches a corpus. */
export type Searcher = (corpus: Searched, request: SearchRequest) => Effect.Effect<Found, ServiceError>

/** Searches where it is called, which holds the event loop for as long as one search takes. */
export const searchHere = (reader: ReaderShape, names: Names, memory: number): Effect.Effect<Searcher> =>
  Effect.map(
    Effect.orDie(reader.read((db) => new Search(db, names, memory))),
    (search): Searcher => ({ name }, request) =>
      Effect.andThen(shareLoop, reader.read(() => attempt(() => search.run(reader.corpusNow(name), request))))
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
  const weights = new WordWeights()
  return ({ generation, name }: Searched, { vector, ...request }: SearchRequest): Effect.Effect<Found, ServiceError> =>
    room.withPermit(Effect.gen(function*() {
      const thread = idlest()
      if (vector === undefined || vector === "hashed") return yield* thread.search(name, { ...request, vector })
      // Another embedder cannot go into the thread: it says which words it has, and is told there how rare they are.
      const known = weights.of(name, generation)
      const unknown = new Set<string>()
      const tried = vector((word) => {
        const weight = known.get(word)
        if (weight === undefined) unknown.add(word)
        return weight ?? 1
      })
      if (unknown.size === 0) return yield* thread.search(name, { ...request, vector: tried })
      const words = [...unknown]
      const told = yield* thread.weigh(name, words)
      if (told instanceof IndexDamage || told instanceof StoreDamage) return told
      words.forEach((word, at) => known.set(word, told[at] ?? 1))
      return yield* thread.search(name, { ...request, vector: vector((word) => known.get(word) ?? 1) })
    }))
})

/** Words kept of one corpus: those of questions come again and again. */
const mostWords = 20_000
const mostCorpora = 16

/** What words say in a corpus, as far as it was asked for, while the corpus stays as it is. */
class WordWeights {
  readonly #corpora = new Map<string, { readonly generation: number; readonly words: Map<string, number> }>()

  of(corpus: string, generation: number): Map<string, number> {
    const known = this.#corpora.get(corpus)
    if (known?.generation === generation && known.words.size < mostWords) return known.words
    const words = new Map<string, number>()
    if (this.#corpora.size >= mostCorpora) this.#corpora.clear()
    this.#corpora.set(corpus, { generation, words })
    return words
  }
}
