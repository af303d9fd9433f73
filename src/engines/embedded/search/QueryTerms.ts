import { analyzeQuery, analyzeWord, normalized, wordAnalyzers } from "../../../search/analysis/Analyzer.ts"
import { grammarOf } from "../../../search/analysis/Grammar.ts"
import { ranking } from "../../../search/Ranking.ts"
import { idf } from "./Bm25.ts"
import type { CorpusIndex, TermPostings } from "./CorpusIndex.ts"
import type { ScoreRoom, WeighedPostings } from "./Scores.ts"
import { scanRuns } from "../../../search/analysis/WordBreak.ts"
import type { Reread, SpellingIndex } from "../../../search/Spelling.ts"
import { forEachSegment } from "../../../text/UnspacedWords.ts"

/** A term of the query as it is scored. */
export interface ScoredTerm {
  readonly term: string
  /** The word of the query. */
  readonly from: string
  readonly corrected: boolean
  /** It is a word that the best chunks share: see SharedWords.ts. */
  readonly shared: boolean
  /** What the word counts for: less than 1 for one of grammar. */
  readonly factor: number
  /** Inverse document frequency times how often the query says it, times `factor`. */
  readonly weight: number
  readonly found: TermPostings
}

/**
 * Formal texts ask no questions, so "what" and "about" are rare there and would outweigh the subject. More than 0, because
 * a query may hold nothing else.
 */
export const factorOf = (term: string, grammar: boolean): number =>
  grammar ? ranking.grammar : /^(?:\p{sc=Hira}.|.\p{sc=Hira})$/u.test(term) ? ranking.hiragana : 1

/** What a word counts for by the edits that made it one of the corpus. */
const trustIn = (edits: 0 | 1 | 2): number => edits === 0 ? 1 : edits === 1 ? ranking.slip : ranking.slips

export interface QueryTermOptions {
  /** Whether words of grammar count less. BM25 as Lucene has it weighs them as any other. */
  readonly lowerGrammar: boolean
  /** What corrects words that no chunk has. */
  readonly spelling: (() => SpellingIndex) | undefined
  /** Begun for the index. */
  readonly room: ScoreRoom
}

/**
 * The query's terms that some chunk has. For words that no chunk has, `spelling` gives what was probably meant, each by how
 * likely that is; it is made only when there are such words. A word of grammar is never taken for another one's misspelling.
 */
export const queryTerms = (
  index: CorpusIndex,
  query: string,
  { lowerGrammar, room, spelling }: QueryTermOptions
): ReadonlyArray<ScoredTerm> => {
  const scored: Array<ScoredTerm> = []
  const isGrammar = grammarOf(query, index.analyzers, index.mainAnalyzer)
  const add = (
    term: string,
    from: string,
    occurrences: number,
    edits: 0 | 1 | 2,
    found: TermPostings,
    frequency: number,
    likelihood = 1
  ): void => {
    const factor = lowerGrammar ? factorOf(term, isGrammar(edits > 0 ? term : from)) : 1
    const weight = factor * trustIn(edits) * likelihood * occurrences * idf(index.liveChunks, Math.min(index.liveChunks, frequency))
    scored.push({ term, from, corrected: edits > 0, shared: false, factor, weight, found })
  }
  const terms = analyzeQuery(query, index.analyzers, index.mainAnalyzer).map((term) => ({ ...term, found: index.lookup(term.term) }))
  // A form that few chunks of its analyzer have is no rare word: the word is as frequent as all its forms together.
  const frequencies = new Map<number, number>()
  for (const { found, word } of terms) frequencies.set(word, (frequencies.get(word) ?? 0) + found.documentFrequency)
  const rereads = spelling === undefined ? [] : reread(query, (segment) => index.lookup(segment).documentFrequency > 0, spelling)
  // What a slip broke a word into are no words of the question.
  const broken = new Set(rereads.flatMap(({ cut, words }) => cut.filter((segment) => words.every(({ as }) => as !== segment))))
  const unknown: typeof terms = []
  for (const term of terms) {
    if (broken.has(term.from)) continue
    if (term.found.documentFrequency === 0) unknown.push(term)
    else add(term.term, term.from, term.occurrences, 0, term.found, frequencies.get(term.word) ?? 0)
  }
  // A word is known if any analyzer's form of it is.
  const knownWords = new Set(scored.map(({ from }) => from))
  const used = new Set(scored.map(({ term }) => term))
  for (const { as, distance, term } of rereads.flatMap(({ words }) => words)) {
    if (used.has(term)) continue
    used.add(term)
    const found = index.lookup(term)
    add(term, as, 1, distance, found, found.documentFrequency)
  }
  // "What are" is everywhere, and says nothing of a third word.
  const fit = fitOf(index, room, scored.filter(({ from }) => !isGrammar(from)))
  for (const { from, occurrences } of unknown) {
    if (spelling === undefined || knownWords.has(from) || isGrammar(from)) continue
    for (const { distance, likelihood, term } of spelling().correct(from, index.analyzers, fit)) {
      if (used.has(term)) continue
      used.add(term)
      const found = index.lookup(term)
      add(term, from, occurrences, distance, found, found.documentFrequency, likelihood)
    }
  }
  return scored
}

/** How well a term goes with the words that are known: the best BM25 by these of a chunk that has it, of the best of any, 0 to 1. */
const fitOf = (index: CorpusIndex, room: ScoreRoom, known: ReadonlyArray<ScoredTerm>): (term: string) => number => {
  let scores: Float64Array | undefined
  let most = 0
  return (term) => {
    if (scores === undefined) {
      scores = room.zeros("aside").values
      room.addPostings("aside", postingsOf(known))
      for (const score of scores) most = Math.max(most, score)
    }
    let best = 0
    for (const { postings: { ordinals }, segment } of index.lookup(term).bySegment) {
      for (const ordinal of ordinals) best = Math.max(best, scores[segment.offset + ordinal] as number)
    }
    return most === 0 ? 0 : best / most
  }
}

/** The terms' postings of every segment, as they are scored. */
export function* postingsOf(terms: ReadonlyArray<ScoredTerm>): Generator<WeighedPostings> {
  for (const { found, weight } of terms) {
    for (const { postings, segment: { offset } } of found.bySegment) yield { offset, weight, postings }
  }
}

/** Stretches, from which on no further run is read anew: see Spelling.ts. */
const mostReread = 32

/** What {@link SpellingIndex.correctRun} reads anew in a question. */
const reread = (query: string, isKnown: (segment: string) => boolean, spelling: () => SpellingIndex): ReadonlyArray<Reread> => {
  const text = normalized(query)
  const found: Array<Reread> = []
  scanRuns(text, (run, start, end) => {
    if (run !== "unspaced") return
    const segments: Array<string> = []
    forEachSegment(text.slice(start, end), (segment) => void segments.push(segment))
    if (found.length < mostReread && !segments.every(isKnown)) found.push(...spelling().correctRun(segments, isKnown))
  })
  return found
}

/** How much a word of a question says, 0 to 1, by how many chunks have it: what no chunk has may be a slip, and counts in full. */
export const rarityIn = (index: CorpusIndex): (word: string) => number => {
  const analyzers = wordAnalyzers(index.analyzers)
  const most = idf(index.liveChunks, 1)
  return (word) => {
    const forms = new Set(analyzers.map((analyzer) => analyzeWord(word, analyzer)))
    let frequency = 0
    for (const form of forms) if (form !== undefined) frequency += index.documentFrequency(form)
    if (frequency === 0 || most === 0) return 1
    return (idf(index.liveChunks, Math.min(index.liveChunks, frequency)) / most) ** ranking.rarity
  }
}
