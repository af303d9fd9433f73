import type { AnalyzerId } from "../../../search/analysis/Analyzer.ts"
import { DocumentTerms } from "../../../search/analysis/DocumentTerms.ts"
import { Vocabulary } from "../../../search/analysis/Vocabulary.ts"
import { grown } from "../../../text/WordTable.ts"
import { ranking } from "../../../search/Ranking.ts"
import { idf } from "./Bm25.ts"
import type { ByteCache } from "../../../search/ByteCache.ts"
import type { CorpusIndex } from "./CorpusIndex.ts"
import { factorOf, type ScoredTerm } from "./QueryTerms.ts"

/** One of the best chunks of the first search. */
export interface BestChunk {
  /** The chunk's number, which is never reused. */
  readonly number: number
  /** Reads the text that the chunk is indexed by. */
  readonly text: () => string
  /** The chunk's mixed score. */
  readonly score: number
  /** The chunk's BM25 by the question's own terms. */
  readonly sparse: number
}

/** Most chunks that a shared term may be in, whatever the size of the corpus: more would take longer than the question's own terms. */
const mostPostings = 20_000

/** How many times more shared terms are looked up than are taken: the commonest of them turn out to be too frequent. */
const lookedUp = 2

/** Most words and terms that are remembered from question to question. */
const mostWords = 60_000

/** The terms of a chunk. */
interface ChunkTerms {
  /** Numbers of the different terms. */
  readonly terms: Uint32Array
  /** Occurrences of each term. */
  readonly counts: Uint16Array
  /** Occurrences of all terms together. */
  readonly length: number
}

/** Finds the terms that the best chunks of a question share: the question may have left them out. */
export class SharedWords {
  readonly #cache: ByteCache
  readonly #vocabulary = new Vocabulary()
  readonly #documents = new DocumentTerms(this.#vocabulary, mostWords)
  /** Share of the chunks' text that each term makes up, by number of term; all 0 between questions. */
  #share = new Float64Array(1 << 12)
  /** Number of the chunks that have each term, by number of term; all 0 between questions. */
  #inChunks = new Uint16Array(1 << 12)
  /** Place of each term in the chunk being read, counted from 1, by number of term; all 0 between chunks. */
  #places = new Uint32Array(1 << 12)

  /** `cache` keeps the terms of chunks: chunks that answer one question often answer others too. */
  constructor(cache: ByteCache) {
    this.#cache = cache
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
    this.#documents.forgetIfFull()
    const whole = chunks.reduce((sum, { score }) => sum + score ** 2, 0)
    const met: Array<number> = []
    chunks.forEach(({ number, score, text }) => {
      const { counts, length, terms } = this.#cache.get(
        `w${this.#vocabulary.timesForgotten}.${prior ?? ""} ${number}`,
        () => this.#read(text(), prior),
        ({ counts, terms }) => terms.byteLength + counts.byteLength + 300
      )
      const each = score ** 2 / (whole * (length + ranking.sharedSmoothing) || 1)
      for (let i = 0; i < terms.length; i++) {
        const term = terms[i] as number
        if (this.#inChunks[term]!++ === 0) met.push(term)
        this.#share[term]! += each * (counts[i] as number)
      }
    })
    const several: Array<Share> = []
    for (const term of met) {
      if ((this.#inChunks[term] as number) > 1) several.push({ term: this.#vocabulary.term(term), share: this.#share[term] as number })
      this.#inChunks[term] = 0
      this.#share[term] = 0
    }
    return several
  }

  #read(text: string, prior: AnalyzerId | undefined): ChunkTerms {
    this.#documents.read(text, prior === undefined ? {} : { prior })
    this.#grow()
    const { length, terms: all } = this.#documents
    const terms = new Uint32Array(length)
    const counts = new Uint16Array(length)
    let distinct = 0
    for (let i = 0; i < length; i++) {
      const term = all[i] as number
      let place = this.#places[term] as number
      if (place === 0) {
        terms[distinct] = term
        place = this.#places[term] = ++distinct
      }
      counts[place - 1]!++
    }
    for (let i = 0; i < distinct; i++) this.#places[terms[i] as number] = 0
    return { terms: terms.slice(0, distinct), counts: counts.slice(0, distinct), length }
  }

  #grow(): void {
    while (this.#share.length < this.#vocabulary.size) {
      this.#share = grown(this.#share)
      this.#inChunks = grown(this.#inChunks)
      this.#places = grown(this.#places)
    }
  }
}

const factorIn = (term: string): number =>
  factorOf(term, false) * (/^[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\u30fc]{2}$/u.test(term) ? ranking.sharedIdeographs : 1)

interface Share {
  readonly term: string
  readonly share: number
}
