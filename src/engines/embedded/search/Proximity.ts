import { normalized } from "../../../search/analysis/Analyzer.ts"
import { ranking } from "../../../search/Ranking.ts"
import type { ChunkTerms, ReadableChunk } from "./ChunkTerms.ts"
import type { CorpusIndex } from "./CorpusIndex.ts"
import { isIdeographs, type ScoredTerm } from "./QueryTerms.ts"

/** A word of the question that is about its subject. */
interface QuestionWord {
  /** Its terms, by every analyzer of the corpus and as it may have been meant. */
  readonly terms: ReadonlyArray<string>
  readonly weight: number
}

/**
 * How near each other chunks have the question's neighbouring words, 0 to 1: the share of these pairs, each by the rarity of its words,
 * of which the second stands up to `ranking.proximityTerms` terms behind the first. Undefined where the question has no pair.
 */
export const proximities = (
  chunkTerms: ChunkTerms,
  index: CorpusIndex,
  query: string,
  terms: ReadonlyArray<ScoredTerm>,
  chunks: ReadonlyArray<ReadableChunk>
): ReadonlyArray<number> | undefined => {
  const words = wordsOf(query, terms)
  if (words.length < 2) return undefined
  const read = chunkTerms.of(chunks, index.mainAnalyzer)
  const wordOf = new Map(words.flatMap(({ terms }, word) => terms.map((term) => [chunkTerms.vocabulary.numberOf(term), word])))
  const pairs = words.slice(1).map(({ weight }, at) => weight + words[at]!.weight)
  const whole = pairs.reduce((sum, weight) => sum + weight, 0)
  return read.map((sequence) => {
    const last = Array.from(words, () => -Infinity)
    const near = new Set<number>()
    for (let at = 0; at < sequence.length; at++) {
      const word = wordOf.get(sequence[at]!)
      if (word === undefined) continue
      if (word > 0 && last[word - 1]! >= at - ranking.proximityTerms) near.add(word - 1)
      last[word] = at
    }
    let sum = 0
    for (const pair of near) sum += pairs[pair]!
    return sum / whole
  })
}

/** The question's words in its order, without those of grammar and pairs of ideographs, which are no words. */
const wordsOf = (query: string, terms: ReadonlyArray<ScoredTerm>): ReadonlyArray<QuestionWord> => {
  const text = normalized(query)
  const words = new Map<string, { terms: Array<string>; weight: number }>()
  for (const { factor, from, term, weight } of terms) {
    if (factor < 1 || isIdeographs(term)) continue
    const word = words.get(from) ?? { terms: [], weight: 0 }
    words.set(from, word)
    word.terms.push(term)
    word.weight = Math.max(word.weight, weight)
  }
  return [...words].sort(([a], [b]) => text.indexOf(a) - text.indexOf(b)).map(([, word]) => word)
}
