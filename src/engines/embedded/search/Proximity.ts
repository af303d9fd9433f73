import { normalized } from "../../../search/analysis/Analyzer.ts"
import { ranking } from "../../../search/Ranking.ts"
import { grown } from "../../../text/WordTable.ts"
import type { ChunkTerms, ReadableChunk } from "./ChunkTerms.ts"
import { type CorpusIndex, frequencyAt } from "./CorpusIndex.ts"
import { isIdeographs, type ScoredTerm } from "./QueryTerms.ts"

/** A word of the question that is about its subject. */
interface QuestionWord {
  /** Its terms, by every analyzer of the corpus and as it may have been meant. */
  readonly terms: ReadonlyArray<ScoredTerm>
  readonly weight: number
}

/** A chunk to be read, and its slot. */
export interface ChunkAt extends ReadableChunk {
  readonly slot: number
}

/** Finds how near each other chunks have the words of a question. */
export class Proximity {
  readonly #chunkTerms: ChunkTerms
  /** The word of the question that each term is one of, counted from 1, by number of term; all 0 between questions. */
  #wordOf = new Uint16Array(1 << 12)

  constructor(chunkTerms: ChunkTerms) {
    this.#chunkTerms = chunkTerms
  }

  /**
   * The share of the question's neighbouring words, each pair by the rarity of its words, of which the second stands up to
   * `ranking.proximityTerms` terms behind the first, 0 to 1 by chunk. Undefined where the question has no pair. Chunks that have no pair
   * at all, by the index, are not read.
   */
  of(
    index: CorpusIndex,
    query: string,
    terms: ReadonlyArray<ScoredTerm>,
    chunks: ReadonlyArray<ChunkAt>
  ): ReadonlyArray<number> | undefined {
    const words = wordsOf(query, terms)
    if (words.length < 2) return undefined
    const worthReading = chunks.filter(({ slot }) => {
      const has = words.map(({ terms }) => terms.some(({ found }) => frequencyAt(found, slot) > 0))
      return has.some((is, at) => is && has[at + 1] === true)
    })
    const read = this.#chunkTerms.of(worthReading, index.mainAnalyzer)
    const { vocabulary } = this.#chunkTerms
    const numbers = words.map(({ terms }) => terms.map(({ term }) => vocabulary.numberOf(term)))
    while (this.#wordOf.length < vocabulary.size) this.#wordOf = grown(this.#wordOf)
    numbers.forEach((ofWord, word) => ofWord.forEach((number) => this.#wordOf[number] = word + 1))
    const shares = new Map(worthReading.map(({ slot }, at) => [slot, this.#shareOf(read[at]!, words)]))
    for (const ofWord of numbers) for (const number of ofWord) this.#wordOf[number] = 0
    return chunks.map(({ slot }) => shares.get(slot) ?? 0)
  }

  #shareOf(sequence: Uint32Array, words: ReadonlyArray<QuestionWord>): number {
    const last = new Float64Array(words.length + 1).fill(-Infinity)
    const near = new Uint8Array(words.length + 1)
    for (let at = 0; at < sequence.length; at++) {
      const word = this.#wordOf[sequence[at] as number] as number
      if (word === 0) continue
      if ((last[word - 1] as number) >= at - ranking.proximityTerms) near[word] = 1
      last[word] = at
    }
    let [sum, whole] = [0, 0]
    for (let word = 1; word < words.length; word++) {
      const pair = words[word]!.weight + words[word - 1]!.weight
      whole += pair
      if (near[word + 1] === 1) sum += pair
    }
    return sum / whole
  }
}

/** The question's words in its order, without those of grammar and pairs of ideographs, which are no words. */
const wordsOf = (query: string, terms: ReadonlyArray<ScoredTerm>): ReadonlyArray<QuestionWord> => {
  const text = normalized(query)
  const words = new Map<string, Array<ScoredTerm>>()
  for (const term of terms) {
    if (term.factor < 1 || isIdeographs(term.term)) continue
    const word = words.get(term.from)
    if (word === undefined) words.set(term.from, [term])
    else word.push(term)
  }
  return [...words].sort(([a], [b]) => text.indexOf(a) - text.indexOf(b))
    .map(([, terms]) => ({ terms, weight: Math.max(...terms.map(({ weight }) => weight)) }))
}
