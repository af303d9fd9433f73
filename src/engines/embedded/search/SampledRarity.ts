import type { DatabaseSync, StatementSync } from "node:sqlite"
import { analyze } from "../../../search/analysis/Analyzer.ts"
import { detect } from "../../../search/analysis/Detection.ts"
import type { CorpusRow } from "../store/Rows.ts"
import { idf } from "./Bm25.ts"
import type { ChunkReader } from "./ChunkReader.ts"

/** Chunks that are looked at, and the change of a corpus from which they are looked at again. */
const sampleSize = 500
const grown = 1.25
/** Corpora that are kept. */
const mostCorpora = 16

interface Sample {
  /** Of the corpus, when it was taken. */
  readonly chunks: number
  readonly size: number
  readonly frequencies: ReadonlyMap<string, number>
}

/**
 * How rare terms are in corpora whose own database does not know: by a sample of their chunks, evenly over all files. In a
 * weight, which grows with the logarithm, that is nearly as good as counting all, and all need not be kept.
 */
export class SampledRarity {
  readonly #files: StatementSync
  readonly #chunks: ChunkReader
  readonly #samples = new Map<number, Sample>()

  constructor(db: DatabaseSync, chunks: ChunkReader) {
    this.#files = db.prepare("SELECT first_chunk, chunks FROM files WHERE corpus = ? AND chunks > 0 ORDER BY first_chunk")
    this.#chunks = chunks
  }

  /** What a term's rarity weighs, 1 where no chunk of the sample has it. @throws {StoreDamage} */
  of(corpus: CorpusRow): (term: string) => number {
    const { frequencies, size } = this.#sampleOf(corpus)
    return (term) => idf(size, frequencies.get(term) ?? 0) / idf(size, 0)
  }

  #sampleOf(corpus: CorpusRow): Sample {
    const files = this.#files.all(corpus.id).map((row) => ({ first: Number(row["first_chunk"]), chunks: Number(row["chunks"]) }))
    const chunks = files.reduce((sum, file) => sum + file.chunks, 0)
    const known = this.#samples.get(corpus.id)
    if (known !== undefined && chunks <= known.chunks * grown && known.chunks <= chunks * grown) return known
    const step = Math.max(1, chunks / sampleSize)
    const frequencies = new Map<string, number>()
    let size = 0
    let before = 0
    for (const file of files) {
      while (size * step < before + file.chunks) {
        const { text } = this.#chunks.context(corpus.name, corpus.generation, file.first + Math.floor(size * step) - before)
        for (const term of new Set(analyze(text, detect(text)))) frequencies.set(term, (frequencies.get(term) ?? 0) + 1)
        size++
      }
      before += file.chunks
    }
    const sample = { chunks, size, frequencies }
    this.#samples.delete(corpus.id)
    this.#samples.set(corpus.id, sample)
    for (const oldest of this.#samples.keys()) {
      if (this.#samples.size <= mostCorpora) break
      this.#samples.delete(oldest)
    }
    return sample
  }
}
