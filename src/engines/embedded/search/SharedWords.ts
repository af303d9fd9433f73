import type { AnalyzerId } from "../../../search/analysis/Analyzer.ts"
import { DocumentTerms } from "../../../search/analysis/DocumentTerms.ts"
import { Vocabulary } from "../../../search/analysis/Vocabulary.ts"
import { grown } from "../../../text/WordTable.ts"
import { ranking } from "../../../search/Ranking.ts"
import { idf } from "./Bm25.ts"
import type { ByteCache } from "../../../search/ByteCache.ts"
import type { CorpusIndex } from "./CorpusIndex.ts"
import { factorOf, type ScoredTerm } from "./QueryTerms.ts"

/** One of the best chunks, as it was found. */
export interface BestChunk {
  /** Its number, which no other chunk ever has. */
  readonly number: number
  /** Reads what it is searched by. */
  readonly text: () => string
  /** Its mixed score. */
  readonly score: number
  /** By the question's words alone: BM25. */
  readonly sparse: number
}

/** Chunks that one term may be in, whatever the size of the corpus: more would take longer than the question's own words. */
const mostPostings = 20_000

/** Of the words that are shared, how many times more are looked up than are taken: the commonest of them are too frequent. */
const lookedUp = 2

/** Words and terms that are remembered from question to question. */
const mostWords = 60_000

/** Terms of a chunk by their numbers, each once, and how often it has them. */
interface ChunkTerms {
  readonly terms: Uint32Array
  readonly counts: Uint16Array
  /** All of them together. */
  readonly length: number
}

/** Reads the best chunks of a question for the words that they share: the question may have left them out. */
export class SharedWords {
  readonly #cache: ByteCache
  readonly #vocabulary = new Vocabulary()
  readonly #documents = new DocumentTerms(this.#vocabulary, mostWords)
  /** By number of term; all 0 between questions. */
  #share = new Float64Array(1 << 12)
  /** In how many of the chunks it is. */
  #inChunks = new Uint16Array(1 << 12)
  /** By number of term: its place in the chunk at hand, counted from 1; all 0 between chunks. */
  #places = new Uint32Array(1 << 12)

  /** `cache` keeps what was read of chunks: those that answer one question answer others too. */
  constructor(cache: ByteCache) {
    this.#cache = cache
  }

  /**
   * Terms that at least two of the chunks have, weighing what they are of them. A term of one chunk
   * is that chunk's own; one that much of the corpus has says nothing of these.
   *
   * @throws {IndexDamage}
   */
  of(index: CorpusIndex, chunks: ReadonlyArray<BestChunk>): ReadonlyArray<ScoredTerm> {
    const few = Math.floor(index.liveChunks * ranking.sharedFrequency)
    const most = Math.min(mostPostings, few)
    // Of a small corpus ten chunks are not what a question is about, but much of all there is.
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
    // By what the question's words found, not by what they weigh: of a long question no chunk has much.
    const answered = best.reduce((most, { sparse }) => Math.max(most, sparse), 0)
    // Shares of what was read, not of what was found: a few words that chunks have by chance weigh next to nothing.
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

  /** Terms that several of the chunks have, and how much of them all each is, the best chunks counting most. */
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
