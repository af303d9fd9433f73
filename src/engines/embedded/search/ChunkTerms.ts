import type { ByteCache } from "../../../search/ByteCache.ts"
import type { AnalyzerId } from "../../../search/analysis/Analyzer.ts"
import { DocumentTerms } from "../../../search/analysis/DocumentTerms.ts"
import { Vocabulary } from "../../../search/analysis/Vocabulary.ts"

/** Most words and terms that are remembered from question to question. */
const mostWords = 60_000

/** A chunk whose terms are read. */
export interface ReadableChunk {
  /** The chunk's number, which is never reused. */
  readonly number: number
  /** Reads the text that the chunk is indexed by. */
  readonly text: () => string
}

/** Terms of chunks by their numbers in {@link vocabulary}, in order: the index knows how often a chunk has a term, but not where. */
export class ChunkTerms {
  readonly vocabulary = new Vocabulary()
  readonly #documents = new DocumentTerms(this.vocabulary, mostWords)
  readonly #cache: ByteCache

  /** `cache` keeps the terms of chunks: chunks that answer one question often answer others too. */
  constructor(cache: ByteCache) {
    this.#cache = cache
  }

  /** The terms of each chunk, until the next call, which may give terms other numbers. `prior`: the language that texts are likely in. */
  of(chunks: ReadonlyArray<ReadableChunk>, prior: AnalyzerId | undefined): ReadonlyArray<Uint32Array> {
    this.#documents.forgetIfFull()
    return chunks.map(({ number, text }) =>
      this.#cache.get(
        `w${this.vocabulary.timesForgotten}.${prior ?? ""} ${number}`,
        () => {
          this.#documents.read(text(), prior === undefined ? {} : { prior })
          return this.#documents.terms.slice(0, this.#documents.length)
        },
        ({ byteLength }) => byteLength + 200
      )
    )
  }
}
