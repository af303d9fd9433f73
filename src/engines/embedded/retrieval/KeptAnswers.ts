import type { Context } from "../../../domain/Retrieval.ts"
import { ByteCache } from "../../../search/ByteCache.ts"
import type { SearchRequest } from "../search/Search.ts"
import type { CorpusRow } from "../store/Rows.ts"

/** Bytes of a context without its text, roughly. */
const bytesOfContext = 600

/** Answers to recent questions, each for as long as its corpus has not changed. */
export class KeptAnswers {
  readonly #cache: ByteCache

  constructor(bytes: number) {
    this.#cache = new ByteCache(bytes)
  }

  get(key: string): ReadonlyArray<Context> | undefined {
    return this.#cache.peek<ReadonlyArray<Context>>(key)
  }

  put(key: string, contexts: ReadonlyArray<Context>): void {
    this.#cache.put(key, contexts, 2 * key.length + contexts.reduce((sum, { text }) => sum + 2 * text.length + bytesOfContext, 0))
  }
}

/** The same for equal requests to a corpus in the same state. The query decides the vector, so only its presence counts. */
export const answerKey = (corpus: CorpusRow, { vector, ...request }: SearchRequest): string =>
  JSON.stringify([corpus.id, corpus.revision, vector !== undefined, request])
