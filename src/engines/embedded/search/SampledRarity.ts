import type { DatabaseSync, StatementSync } from "node:sqlite"
import { analyze } from "../../../search/analysis/Analyzer.ts"
import { detect } from "../../../search/analysis/Detection.ts"
import type { CorpusRow } from "../store/Rows.ts"
import { idf } from "./Bm25.ts"
import type { ChunkReader } from "./ChunkReader.ts"

/** Chunks in a sample. */
const sampleSize = 500
/** A new sample is taken once a corpus has grown or shrunk by this factor. */
const grown = 1.25
/** Corpora whose samples are kept. */
const mostCorpora = 16

interface Sample {
  /** Number of chunks that the corpus had when the sample was taken. */
  readonly chunks: number
  /** Number of chunks in the sample. */
  readonly size: number
  /** Number of sampled chunks with each term. */
  readonly frequencies: ReadonlyMap<string, number>
}

/**
 * Estimates how rare terms are in corpora whose database cannot say, from a sample of their chunks, taken evenly over all files. A weight
 * grows with the logarithm of rarity, so a sample is nearly as good as counting all chunks, and needs no index of them.
 */
export class SampledRarity {
  readonly #files: StatementSync
  readonly #chunks: ChunkReader
  readonly #samples = new Map<number, Sample>()

  constructor(db: DatabaseSync, chunks: ChunkReader) {
    this.#files = db.prepare("SELECT first_chunk, chunks FROM files WHERE corpus = ? AND chunks > 0 ORDER BY first_chunk")
    this.#chunks = chunks
  }

  /** Returns a term's weight by its rarity, 0 to 1; 1 where no sampled chunk has it. @throws {StoreDamage} */
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
        const { text } = this.#chunks.context(corpus.name, corpus.revision, file.first + Math.floor(size * step) - before)
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
