import { analyzeQuery } from "../analysis/Analyzer.ts"
import { idf } from "./Bm25.ts"
import type { CorpusIndex, TermPostings } from "./CorpusIndex.ts"
import type { SpellingIndex } from "./Spelling.ts"

/** A term of the query as it is scored. */
export interface ScoredTerm {
  readonly term: string
  /** The word of the query. */
  readonly from: string
  readonly corrected: boolean
  /** Inverse document frequency times how often the query says it. */
  readonly weight: number
  readonly found: TermPostings
}

/**
 * The query's terms that some chunk has. For words that no chunk has, `spelling` gives what was probably meant; it is
 * made only when there are such words.
 */
export const queryTerms = (
  index: CorpusIndex,
  query: string,
  spelling: (() => SpellingIndex) | undefined
): ReadonlyArray<ScoredTerm> => {
  const scored: Array<ScoredTerm> = []
  const add = (term: string, from: string, occurrences: number, corrected: boolean, found: TermPostings): void => {
    const weight = occurrences * idf(index.liveChunks, found.documentFrequency)
    scored.push({ term, from, corrected, weight, found })
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
    if (spelling === undefined || knownWords.has(from)) continue
    const meant = spelling().correct(from, index.analyzers)?.term
    if (meant === undefined || used.has(meant)) continue
    used.add(meant)
    add(meant, from, occurrences, true, index.lookup(meant))
  }
  return scored
}
