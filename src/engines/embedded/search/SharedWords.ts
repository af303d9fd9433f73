import type { AnalyzerId } from "../../../search/analysis/Analyzer.ts"
import { grown } from "../../../text/WordTable.ts"
import { ranking } from "../../../search/Ranking.ts"
import { idf } from "./Bm25.ts"
import type { ChunkTerms, ReadableChunk } from "./ChunkTerms.ts"
import type { CorpusIndex } from "./CorpusIndex.ts"
import { factorOf, isIdeographs, type ScoredTerm } from "./QueryTerms.ts"

/** One of the best chunks of the first search. */
export interface BestChunk extends ReadableChunk {
  /** The chunk's mixed score. */
  readonly score: number
  /** The chunk's BM25 by the question's own terms. */
  readonly sparse: number
}

/** Most chunks that a shared term may be in, whatever the size of the corpus: more would take longer than the question's own terms. */
const mostPostings = 20_000

/** How many times more shared terms are looked up than are taken: the commonest of them turn out to be too frequent. */
const lookedUp = 2

/** Finds the terms that the best chunks of a question share: the question may have left them out. */
export class SharedWords {
  readonly #chunkTerms: ChunkTerms
  /** Share of the chunks' text that each term makes up, by number of term; all 0 between questions. */
  #share = new Float64Array(1 << 12)
  /** Number of the chunks that have each term, by number of term; all 0 between questions. */
  #inChunks = new Uint16Array(1 << 12)
  /** The last chunk that each term was met in, counted from 1, by number of term; all 0 between questions. */
  #last = new Uint16Array(1 << 12)

  constructor(chunkTerms: ChunkTerms) {
    this.#chunkTerms = chunkTerms
  }

  /**
   * Terms that at least two of the chunks have, weighted by their share of the chunks' text. A term of a single chunk is only that
   * chunk's own, and a term that much of the corpus has says nothing about these chunks.
   *
   * @throws {IndexDamage}
   */
  of(index: CorpusIndex, chunks: ReadonlyArray<BestChunk>): ReadonlyArray<ScoredTerm> {
    const few = Math.floor(index.liveChunks * ranking.sharedFrequency)
    const most = Math.min(mostPostings, few)
    // In a small corpus ten chunks are a large part of everything, and not what the question is about.
    const best = chunks.slice(0, Math.min(ranking.sharedChunks, few))
    if (best.length < 2) return []
    const likely = this.#shares(index.mainAnalyzer, best)
      .sort((a, b) => b.share - a.share || (a.term < b.term ? -1 : 1))
      .slice(0, lookedUp * ranking.sharedTerms)
    const found = likely.flatMap(({ share, term }) => {
      const found = index.lookupRare(term, most)
      return found === undefined || found.documentFrequency === 0
        ? []
        : [{ term, found, weight: share * factorIn(term) * idf(index.liveChunks, found.documentFrequency) }]
    }).sort((a, b) => b.weight - a.weight || (a.term < b.term ? -1 : 1)).slice(0, ranking.sharedTerms)
    // Scaled by what the question's terms found, not by their weights: no chunk has much of a long question.
    const answered = best.reduce((most, { sparse }) => Math.max(most, sparse), 0)
    // Shares are of the whole text, not of the shared terms: a few words that chunks share by chance weigh next to nothing.
    const scale = ranking.shared * answered / idf(index.liveChunks, 1)
    return found.map(({ found, term, weight }): ScoredTerm => ({
      term,
      from: term,
      corrected: false,
      shared: true,
      factor: 1,
      weight: weight * scale,
      found
    }))
  }

  /** Terms that several of the chunks have, each with its share of their text; the best chunks count most. */
  #shares(prior: AnalyzerId | undefined, chunks: ReadonlyArray<BestChunk>): Array<Share> {
    const { vocabulary } = this.#chunkTerms
    const read = this.#chunkTerms.of(chunks, prior)
    this.#grow(vocabulary.size)
    const whole = chunks.reduce((sum, { score }) => sum + score ** 2, 0)
    const met: Array<number> = []
    chunks.forEach(({ score }, chunk) => {
      const terms = read[chunk]!
      const each = score ** 2 / (whole * (terms.length + ranking.sharedSmoothing) || 1)
      for (let i = 0; i < terms.length; i++) {
        const term = terms[i] as number
        this.#share[term]! += each
        if (this.#last[term] === chunk + 1) continue
        this.#last[term] = chunk + 1
        if (this.#inChunks[term]!++ === 0) met.push(term)
      }
    })
    const several: Array<Share> = []
    for (const term of met) {
      if ((this.#inChunks[term] as number) > 1) several.push({ term: vocabulary.term(term), share: this.#share[term] as number })
      this.#inChunks[term] = 0
      this.#last[term] = 0
      this.#share[term] = 0
    }
    return several
  }

  #grow(terms: number): void {
    while (this.#share.length < terms) {
      this.#share = grown(this.#share)
      this.#inChunks = grown(this.#inChunks)
      this.#last = grown(this.#last)
    }
  }
}

const factorIn = (term: string): number => factorOf(term, false) * (isIdeographs(term) ? ranking.sharedIdeographs : 1)

interface Share {
  readonly term: string
  readonly share: number
}
