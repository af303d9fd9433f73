import { type AnalyzerId, analyzeWord, wordAnalyzers } from "./analysis/Analyzer.ts"
import { editDistance, oneEditAway } from "./EditDistance.ts"
import { ranking } from "./Ranking.ts"
import { TrigramIndex } from "./TrigramIndex.ts"

/** A term that a misspelled word may stand for. */
export interface Correction {
  /** A term of the index. */
  readonly term: string
  /** How likely this term was meant, 0 to 1. Over all corrections of a word these add up to 1. */
  readonly likelihood: number
  readonly documentFrequency: number
  /** Number of edits from the word. */
  readonly distance: 1 | 2
}

/** A word of a run without blanks. */
export interface RunWord {
  /** The word as the question has it. */
  readonly as: string
  /** The term of the index that the word stands for. */
  readonly term: string
  readonly documentFrequency: number
  /** Number of edits between both. */
  readonly distance: 0 | 1
}

/** A corrected stretch of a run without blanks. */
export interface Reread {
  /** The stretch as the dictionary cut it. */
  readonly cut: ReadonlyArray<string>
  /** The words that the stretch is now read as. */
  readonly words: ReadonlyArray<RunWord>
}

/** Vocabularies are cut to their most frequent terms, so that the index takes tens of megabytes at most. */
const mostTerms = 300_000

/** Longest word that is corrected, in UTF-16 units. */
const longestWord = 24
/** Shortest word that is corrected by any edit: shorter ones have too many neighbours, and only swapped letters are corrected. */
const shortestForOne = 5
/** Shortest word in which swapped letters are corrected. */
const shortestForSwap = 4
/** Shortest word that is corrected by two edits: they would turn a shorter one into another word. */
const shortestForTwo = 7
/** Shortest stem that is corrected by two edits. */
const shortestStem = 5

/**
 * Corrects words of a question that no document has. It is made from the index's terms when the first such word turns up: questions
 * without slips never need it.
 *
 * The index has stems, but a slip may be in the ending. So every spelling one edit away from the word is analyzed and looked up. Terms two
 * edits away are searched among those that share trigrams with the word's own term. Fewer edits win, then the likeliest term: a frequent
 * one, with the first letter unchanged, that fits the rest of the question.
 */
export class SpellingIndex {
  readonly #frequencies = new Map<string, number>()
  readonly #alphabets = new Map<number, Set<string>>()
  #trigrams: TrigramIndex | undefined
  #unspaced: NearTerms | undefined

  constructor(vocabulary: Iterable<readonly [term: string, documentFrequency: number]>) {
    let leastFrequency = 1
    for (const [term, frequency] of vocabulary) {
      if (frequency < leastFrequency || term.length > longestWord || term.length < 2 || !letters.test(term)) continue
      this.#frequencies.set(term, frequency)
      while (this.#frequencies.size > mostTerms) {
        leastFrequency++
        for (const [known, count] of this.#frequencies) if (count < leastFrequency) this.#frequencies.delete(known)
      }
    }
    for (const term of this.#frequencies.keys()) this.#learnLetters(term)
  }

  /**
   * Terms that a word may stand for, likeliest first: at most `ranking.meant`, and none much less likely than the first. Empty where no
   * term is near, or where `word` is no ordinary word. `analyzers` are the question's. `fit` returns how well a term fits the rest of the
   * question, 0 to 1; it is called where several terms are near.
   */
  correct(word: string, analyzers: ReadonlyArray<AnalyzerId>, fit: (term: string) => number = () => 0): ReadonlyArray<Correction> {
    if (!correctable.test(word)) return []
    const lower = word.toLowerCase()
    if (lower.length < shortestForSwap || lower.length > longestWord) return []
    const distinct = wordAnalyzers(analyzers, lower)
    const near = likeliest(this.#byOneEdit(lower, distinct), 1, fit)
    return near.length > 0 || lower.length < shortestForTwo ? near : likeliest(this.#byTwoEdits(lower, distinct), 2, fit)
  }

  /**
   * Corrects a run without blanks that a dictionary cut into `segments`. Around segments that no chunk has, the stretch is cut again, into
   * the likeliest sequence of terms by their frequencies, each with one slip at most: a slip moves the bounds of words, so that its
   * segments are no words to compare with. Stretches where no term is near stay as they were, and are not returned.
   */
  correctRun(segments: ReadonlyArray<string>, isKnown: (segment: string) => boolean): ReadonlyArray<Reread> {
    const unknown = segments.map((segment) => isThere.test(segment) && !isKnown(segment))
    const reread: Array<Reread> = []
    for (let at = unknown.indexOf(true); at >= 0 && reread.length < mostReread; at = unknown.indexOf(true, at)) {
      const from = Math.max(0, at - around)
      let to = at + 1
      // Slips near each other share a stretch.
      while (to < segments.length && to - from < mostSegments && unknown.slice(Math.max(at, to - around), to).includes(true)) to++
      const cut = segments.slice(from, to)
      const words = this.#likeliest(cut)
      if (words.some(({ distance }) => distance === 1)) reread.push({ cut, words })
      at = to
    }
    return reread
  }

  /** The likeliest words of a stretch, by Viterbi's algorithm. Text that is no term costs by letter or by segment: a word may be new. */
  #likeliest(cut: ReadonlyArray<string>): ReadonlyArray<RunWord> {
    const stretch = cut.join("").slice(0, longestStretch)
    const ends = new Map<number, number>()
    cut.reduce((from, segment) => {
      ends.set(from, from + segment.length)
      return from + segment.length
    }, 0)
    this.#unspaced ??= new NearTerms(this.#frequencies)
    const best: Array<{ readonly cost: number; readonly from: number; readonly word?: RunWord }> = [{ cost: 0, from: 0 }]
    const take = (to: number, cost: number, from: number, word?: RunWord): void => {
      if (cost < (best[to]?.cost ?? Infinity)) best[to] = { cost, from, ...(word === undefined ? {} : { word }) }
    }
    for (let from = 0; from < stretch.length; from++) {
      const { cost } = best[from] ?? { cost: Infinity }
      take(from + 1, cost + ranking.unspacedLetter, from)
      const end = ends.get(from)
      if (end !== undefined && end <= stretch.length) take(end, cost + ranking.unspacedUnknown, from)
      for (let to = from + 2; to <= Math.min(stretch.length, from + longestUnspaced); to++) {
        const as = stretch.slice(from, to)
        for (const { distance, documentFrequency, term } of this.#unspaced.of(as)) {
          const more = this.#unspaced.costOf(documentFrequency) + distance * ranking.unspacedSlip
          take(to, cost + more, from, { as, term, documentFrequency, distance })
        }
      }
    }
    const words: Array<RunWord> = []
    for (let at = stretch.length; at > 0;) {
      const { from, word } = best[at] ?? { from: 0 }
      if (word !== undefined) words.unshift(word)
      at = from
    }
    return words
  }

  *#byOneEdit(word: string, analyzers: ReadonlyArray<AnalyzerId>): Generator<Found> {
    const onlySwaps = word.length < shortestForOne
    const alphabet = onlySwaps ? [] : this.#alphabets.get(scriptOf(word)) ?? []
    for (const edit of oneEditAway(word, alphabet)) {
      if (onlySwaps && edit.length !== word.length) continue
      for (const analyzer of analyzers) {
        const term = analyzeWord(edit, analyzer)
        if (term !== undefined) yield* this.#lookUp(term, edit[0] === word[0])
      }
    }
  }

  *#byTwoEdits(word: string, analyzers: ReadonlyArray<AnalyzerId>): Generator<Found> {
    this.#trigrams ??= new TrigramIndex([...this.#frequencies.keys()])
    for (const own of new Set(analyzers.map((analyzer) => analyzeWord(word, analyzer)))) {
      if (own === undefined || own.length < shortestStem) continue
      for (const term of this.#trigrams.similar(own, Math.max(1, own.length - 7), 2)) {
        if (term[0] === own[0] && editDistance(own, term, 2) <= 2) yield* this.#lookUp(term, true)
      }
    }
  }

  *#lookUp(term: string, sameStart: boolean): Generator<Found> {
    const documentFrequency = this.#frequencies.get(term)
    // The first letter is a large part of a short stem.
    if (documentFrequency !== undefined && (sameStart || term.length >= shortestForSwap)) yield { term, documentFrequency, sameStart }
  }

  #learnLetters(term: string): void {
    const script = scriptOf(term)
    const alphabet = this.#alphabets.get(script) ?? new Set<string>()
    this.#alphabets.set(script, alphabet)
    if (alphabet.size < mostLetters) { for (const letter of term) alphabet.add(letter) }
  }
}

interface Found {
  readonly term: string
  readonly documentFrequency: number
  readonly sameStart: boolean
}

/** Corrections of a word, likeliest first, equal ones in the order of the alphabet. */
const likeliest = (found: Iterable<Found>, distance: 1 | 2, fit: (term: string) => number): ReadonlyArray<Correction> => {
  const terms = new Map<string, Found>()
  for (const one of found) if (one.sameStart || !terms.has(one.term)) terms.set(one.term, one)
  const several = terms.size > 1
  const rated = Array.from(terms.values(), (one) => ({ ...one, odds: Math.exp(oddsOf(one, several ? fit(one.term) : 0)) }))
    .sort((a, b) => b.odds - a.odds || (a.term < b.term ? -1 : 1))
  const meant = rated.filter(({ odds }) => odds * ranking.meantRatio >= (rated[0]?.odds ?? 0)).slice(0, ranking.meant)
  const all = meant.reduce((sum, { odds }) => sum + odds, 0)
  return meant.map(({ documentFrequency, odds, term }) => ({ term, documentFrequency, distance, likelihood: odds / all }))
}

/** Natural logarithm of the odds that a term was meant: see docs/search.md. */
const oddsOf = ({ documentFrequency, sameStart }: Found, fit: number): number =>
  Math.log(documentFrequency) - (sameStart ? 0 : ranking.firstLetter) + ranking.fit * fit

const letters = /^[\p{L}\p{M}']+$/u

/** Matches ordinary words: no identifiers, no digits, nothing in ideographs or in scripts without blanks. */
const correctable =
  /^(?!.*[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}])(?:\p{Lu}+|\p{L}[\p{Ll}\p{Lo}\p{M}]+)$/u

/** Most letters of one script that are tried as edits. */
const mostLetters = 64

/** A number for the script of a word: its first letter's Unicode block, with all of Latin and its accents as one. */
const scriptOf = (word: string): number => {
  const unit = word.charCodeAt(0)
  return unit < 0x250 ? 0 : unit >> 8
}

const isUnspaced = /^[\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]+$/u
const isThere = /\p{L}/u

/** Segments on each side of an unknown one that belong to its stretch: the slip may have cut them wrongly too. */
const around = 2
/** Most segments of a stretch. */
const mostSegments = 12
/** Most stretches of a run that are corrected: each takes about a millisecond, and a run may be a whole text. */
const mostReread = 32
/** Longest stretch that is corrected, in UTF-16 units. */
const longestStretch = 60
/** Longest word in a stretch, in UTF-16 units. */
const longestUnspaced = 16
/** Shortest word in a stretch that is corrected: words of two letters have too many neighbours. */
const shortestUnspaced = 3

/** Terms of scripts without blanks, indexed by what is left of each without one letter, so that terms one edit away are found at once. */
class NearTerms {
  readonly #frequencies = new Map<string, number>()
  readonly #without = new Map<string, Array<string>>()
  readonly #all: number

  constructor(frequencies: ReadonlyMap<string, number>) {
    let all = 0
    for (const [term, frequency] of frequencies) {
      if (!isUnspaced.test(term) || term.length > longestUnspaced) continue
      this.#frequencies.set(term, frequency)
      all += frequency
      for (const rest of term.length < shortestUnspaced ? [] : withoutOne(term)) {
        const known = this.#without.get(rest)
        if (known === undefined) this.#without.set(rest, [term])
        else known.push(term)
      }
    }
    this.#all = all
  }

  /** Natural logarithm of the odds against a term of this document frequency. */
  costOf(documentFrequency: number): number {
    return Math.log(this.#all / documentFrequency)
  }

  /** The term itself, or else the most frequent term one edit away; empty where there is neither. */
  of(word: string): ReadonlyArray<Omit<RunWord, "as">> {
    const own = this.#frequencies.get(word)
    if (own !== undefined) return [{ term: word, documentFrequency: own, distance: 0 }]
    if (word.length < shortestUnspaced) return []
    const rests = withoutOne(word)
    let best: Omit<RunWord, "as"> | undefined
    const meet = (term: string): void => {
      const documentFrequency = this.#frequencies.get(term)
      if (documentFrequency === undefined || term.length < shortestUnspaced) return
      if (
        best !== undefined &&
        (documentFrequency < best.documentFrequency || (documentFrequency === best.documentFrequency && term >= best.term))
      ) return
      if (editDistance(word, term, 1) === 1) best = { term, documentFrequency, distance: 1 }
    }
    for (const rest of rests) {
      meet(rest)
      this.#without.get(rest)?.forEach(meet)
    }
    this.#without.get(word)?.forEach(meet)
    return best === undefined ? [] : [best]
  }
}

const withoutOne = (word: string): ReadonlySet<string> => new Set(Array.from(word, (_, at) => word.slice(0, at) + word.slice(at + 1)))
