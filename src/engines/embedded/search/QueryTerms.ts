import type { Alternative } from "../../../domain/Synonyms.ts"
import { analyzeQuery, analyzeWord, normalized, wordAnalyzers } from "../../../search/analysis/Analyzer.ts"
import { grammarOf } from "../../../search/analysis/Grammar.ts"
import { ranking } from "../../../search/Ranking.ts"
import { idf } from "./Bm25.ts"
import type { CorpusIndex, TermPostings } from "./CorpusIndex.ts"
import type { ScoreRoom, WeighedPostings } from "./Scores.ts"
import { scanRuns } from "../../../search/analysis/WordBreak.ts"
import type { Reread, SpellingIndex } from "../../../search/Spelling.ts"
import { separatedIn } from "../../../text/SeparableVerbs.ts"
import { forEachSegment } from "../../../text/UnspacedWords.ts"

/** A term of the query, with its weight and its posting lists. */
export interface ScoredTerm {
  readonly term: string
  /** The query's word that the term was made of. */
  readonly from: string
  /** Whether the spelling correction changed the word. */
  readonly corrected: boolean
  /** Whether the term is not the query's own, but one that the best chunks share: see SharedWords.ts. */
  readonly shared: boolean
  /** How much the word counts: 1, or less for a word of grammar. */
  readonly factor: number
  /** Inverse document frequency times occurrences in the query times `factor`, less where the spelling was corrected. */
  readonly weight: number
  readonly found: TermPostings
}

/**
 * How much a term counts. Words of grammar count less: formal texts ask no questions, so "what" and "about" are rare there and would
 * outweigh the subject. They count more than 0, because a query may have no other words.
 */
export const factorOf = (term: string, grammar: boolean): number =>
  grammar ? ranking.grammar : /^(?:\p{sc=Hira}.|.\p{sc=Hira})$/u.test(term) ? ranking.hiragana : 1

/** Whether a term is a pair of characters of a run without blanks, of which neighbouring pairs are the same word. */
export const isIdeographs = (term: string): boolean => /^[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\u30fc]{2}$/u.test(term)

/** How much a corrected word counts, by the number of edits. */
const trustIn = (edits: 0 | 1 | 2): number => edits === 0 ? 1 : edits === 1 ? ranking.slip : ranking.slips

export interface QueryTermOptions {
  /** What the query is searched for besides its own words. */
  readonly alternatives: ReadonlyArray<Alternative>
  /** Whether words of grammar count less; Lucene's BM25 weighs them like any other word. */
  readonly lowerGrammar: boolean
  /** Makes the index that corrects words no chunk has; undefined where spelling is not corrected. */
  readonly spelling: (() => SpellingIndex) | undefined
  /** Memory for scores, prepared for the index by `begin`. */
  readonly room: ScoreRoom
}

/**
 * The query's terms that some chunk has. Words that no chunk has are replaced by what was probably meant, weighted by how likely each
 * is; the spelling index is made only when the query has such words. A word of grammar is never taken for a misspelling of another word.
 */
export const queryTerms = (
  index: CorpusIndex,
  query: string,
  { alternatives, lowerGrammar, room, spelling }: QueryTermOptions
): ReadonlyArray<ScoredTerm> => {
  const scored: Array<ScoredTerm> = []
  const isGrammar = grammarOf(query, index.analyzers, index.mainAnalyzer)
  const used = new Set<string>()
  const add = ({ edits = 0, found, frequency = found.documentFrequency, from, likelihood = 1, occurrences, term }: UnweighedTerm): void => {
    const factor = lowerGrammar ? factorOf(term, isGrammar(edits > 0 ? term : from)) : 1
    const weight = factor * trustIn(edits) * likelihood * occurrences * idf(index.liveChunks, Math.min(index.liveChunks, frequency))
    scored.push({ term, from, corrected: edits > 0, shared: false, factor, weight, found })
    used.add(term)
  }
  const addCorrected = (corrected: Omit<UnweighedTerm, "found">): void => {
    if (!used.has(corrected.term)) add({ ...corrected, found: index.lookup(corrected.term) })
  }
  const terms = analyzeQuery(query, index.analyzers, index.mainAnalyzer).map((term) => ({ ...term, found: index.lookup(term.term) }))
  // A rare form does not make the word rare: a word is as frequent as all its forms together.
  const frequencies = new Map<number, number>()
  for (const { found, word } of terms) frequencies.set(word, (frequencies.get(word) ?? 0) + found.documentFrequency)
  const separated = lowerGrammar ? separatedIn(query) : undefined
  const verb: ReadonlyArray<Alternative> = separated === undefined ? [] : [{ said: separated.said, others: [separated.verb] }]
  const otherwise = [...alternatives, ...verb].map((alternative) => alternativeTerms(index, alternative))
  for (const { frequency, own } of otherwise) for (const { term, word } of terms) if (own.has(term)) frequencies.set(word, frequency)
  const rereads = spelling === undefined ? [] : reread(query, (segment) => index.lookup(segment).documentFrequency > 0, spelling)
  // The pieces into which a slip broke a word are no words of the question.
  const broken = new Set(rereads.flatMap(({ cut, words }) => cut.filter((segment) => words.every(({ as }) => as !== segment))))
  const unknown: typeof terms = []
  for (const term of terms) {
    if (broken.has(term.from)) continue
    if (term.found.documentFrequency === 0) unknown.push(term)
    else add({ ...term, frequency: frequencies.get(term.word) ?? 0 })
  }
  for (const { frequency, said, terms } of otherwise) {
    for (const { share, term } of terms) {
      const found = index.lookup(term)
      if (used.has(term) || found.documentFrequency === 0) continue
      add({ term, from: said, occurrences: 1, likelihood: share, found, ...(share === 1 ? { frequency } : {}) })
    }
  }
  // A word is known if any analyzer's form of it is.
  const knownWords = new Set(scored.map(({ from }) => from))
  for (const { as, distance, term } of rereads.flatMap(({ words }) => words)) {
    addCorrected({ term, from: as, occurrences: 1, edits: distance })
  }
  // "What are" is everywhere, so it does not help to decide what a third word means.
  const fit = fitOf(index, room, scored.filter(({ from }) => !isGrammar(from)))
  for (const { from, occurrences, term } of unknown) {
    if (spelling === undefined || knownWords.has(from) || isGrammar(from)) continue
    // What has another name is no slip.
    if (otherwise.some(({ own }) => own.has(term))) continue
    for (const { distance, likelihood, term } of spelling().correct(from, index.analyzers, fit)) {
      addCorrected({ term, from, occurrences, edits: distance, likelihood })
    }
  }
  return scored
}

/** What the query has under another name. */
interface AlternativeTerms {
  readonly said: string
  /** The terms of `said`, if it is a single word. */
  readonly own: ReadonlySet<string>
  /** Of all single words of the group together: as the forms of one word, a rare one is as frequent as all. */
  readonly frequency: number
  /** The other terms, each with what it counts of a word: a share of it as part of a phrase. */
  readonly terms: ReadonlyArray<{ readonly term: string; readonly share: number }>
}

const alternativeTerms = (index: CorpusIndex, { others, said }: Alternative): AlternativeTerms => {
  const membersOf = (texts: ReadonlyArray<string>) =>
    texts.map((text) => {
      const terms = analyzeQuery(text, index.analyzers, index.mainAnalyzer)
      return { terms: terms.map(({ term }) => term), words: new Set(terms.map(({ word }) => word)).size }
    })
  const [own, ...members] = membersOf([said, ...others])
  const single = new Set([own!, ...members].flatMap(({ terms, words }) => (words === 1 ? terms : [])))
  return {
    said,
    own: new Set(own!.words === 1 ? own!.terms : []),
    frequency: [...single].reduce((sum, term) => sum + index.lookup(term).documentFrequency, 0),
    terms: members.flatMap(({ terms, words }) => terms.map((term) => ({ term, share: 1 / Math.max(1, words) })))
  }
}

/** A term of the query before it is weighed. */
interface UnweighedTerm {
  readonly term: string
  /** The query's word that the term was made of. */
  readonly from: string
  /** How often the query has the word. */
  readonly occurrences: number
  readonly found: TermPostings
  /** Edits between `from` and the term's word; default 0. */
  readonly edits?: 0 | 1 | 2
  /** In how many chunks the word is, in any form; default: the term's document frequency. */
  readonly frequency?: number
  /** How likely it is that the term was meant, 0 to 1; default 1. */
  readonly likelihood?: number
}

/**
 * How well a term fits the known words, 0 to 1: the best BM25, by the known words, of the chunks that have the term, divided by the
 * best of all chunks.
 */
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

/** The posting lists of the terms, segment by segment, with the terms' weights. */
export function* postingsOf(terms: ReadonlyArray<ScoredTerm>): Generator<WeighedPostings> {
  for (const { found, weight } of terms) {
    for (const { postings, segment: { offset } } of found.bySegment) yield { offset, weight, postings }
  }
}

/** Number of corrected stretches after which no further run is corrected: see Spelling.ts. */
const mostReread = 32

/** Stretches of a question without blanks that {@link SpellingIndex.correctRun} corrects. */
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

/**
 * Returns a word's weight in the corpus, 0 to 1: the fewer chunks have the word, the higher. A word that no chunk has may be a slip,
 * and weighs 1.
 */
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
