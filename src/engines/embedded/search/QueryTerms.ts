import { analyzeQuery } from "../../../search/analysis/Analyzer.ts"
import { grammarOf } from "../../../search/analysis/Grammar.ts"
import { idf } from "./Bm25.ts"
import type { CorpusIndex, TermPostings } from "./CorpusIndex.ts"
import type { SpellingIndex } from "../../../search/Spelling.ts"

/** A term of the query as it is scored. */
export interface ScoredTerm {
  readonly term: string
  /** The word of the query. */
  readonly from: string
  readonly corrected: boolean
  /** What the word counts for: less than 1 for one of grammar. */
  readonly factor: number
  /** Inverse document frequency times how often the query says it, times `factor`. */
  readonly weight: number
  readonly found: TermPostings
}

/**
 * What a word of grammar counts for beside the others. Formal texts ask no questions, so "what" and "about" are rare
 * there and would outweigh the subject. More than 0, because a query may hold nothing else.
 */
const grammarFactor = 0.1

export interface QueryTermOptions {
  /** Whether words of grammar count less. BM25 as Lucene has it weighs them as any other. */
  readonly lowerGrammar: boolean
  /** What corrects words that no chunk has. */
  readonly spelling: (() => SpellingIndex) | undefined
}

/**
 * The query's terms that some chunk has. For words that no chunk has, `spelling` gives what was probably meant; it is
 * made only when there are such words. A word of grammar is never taken for another one's misspelling.
 */
export const queryTerms = (
  index: CorpusIndex,
  query: string,
  { lowerGrammar, spelling }: QueryTermOptions
): ReadonlyArray<ScoredTerm> => {
  const scored: Array<ScoredTerm> = []
  const isGrammar = grammarOf(query, index.analyzers)
  const add = (term: string, from: string, occurrences: number, corrected: boolean, found: TermPostings): void => {
    const factor = lowerGrammar && isGrammar(corrected ? term : from) ? grammarFactor : 1
    const weight = factor * occurrences * idf(index.liveChunks, found.documentFrequency)
    scored.push({ term, from, corrected, factor, weight, found })
  }
  const terms = analyzeQuery(query, index.analyzers)
  const unknown: typeof terms = []
  for (const term of terms) {
    const found = index.lookup(term.term)
    if (found.documentFrequency > 0) add(term.term, term.from, term.occurrences, false, found)
    else unknown.push(term)
  }
  // A word is known if any analyzer's form of it is.
  const knownWords = new Set(scored.map(({ from }) => from))
  const used = new Set(scored.map(({ term }) => term))
  for (const { from, occurrences } of unknown) {
    if (spelling === undefined || knownWords.has(from) || isGrammar(from)) continue
    const meant = spelling().correct(from, index.analyzers)?.term
    if (meant === undefined || used.has(meant)) continue
    used.add(meant)
    add(meant, from, occurrences, true, index.lookup(meant))
  }
  return scored
}
