import { type AnalyzerId, analyzeWord, wordAnalyzers } from "./analysis/Analyzer.ts"
import { editDistance, oneEditAway } from "./EditDistance.ts"
import { ranking } from "./Ranking.ts"
import { TrigramIndex } from "./TrigramIndex.ts"

export interface Correction {
  /** A term that the index has. */
  readonly term: string
  /** How likely it is what was meant, of the terms that are told: 0 to 1, together 1. */
  readonly likelihood: number
  readonly documentFrequency: number
  readonly distance: 1 | 2
}

/** A word of a run without blanks. */
export interface RunWord {
  /** As the question has it. */
  readonly as: string
  /** A term that the index has. */
  readonly term: string
  readonly documentFrequency: number
  readonly distance: 0 | 1
}

/** A stretch of a run, as it was cut and as it is read. */
export interface Reread {
  readonly cut: ReadonlyArray<string>
  readonly words: ReadonlyArray<RunWord>
}

/** Vocabularies are cut to their most frequent terms, so that the index takes tens of megabytes at most. */
const mostTerms = 300_000

const longestWord = 24
/** Shorter words are neighbours of too many others: what is left of their slips is two letters swapped. */
const shortestForOne = 5
const shortestForSwap = 4
/** Shorter words are corrected by one edit only: two would make them another word. */
const shortestForTwo = 7
const shortestStem = 5

/**
 * Corrects words of a question that no document has. Made from the index's terms when the first such word turns up;
 * clean questions never need it.
 *
 * The index holds stems, but a slip may be in the ending, so every spelling one edit away from the word is analyzed
 * and looked up; two edits are sought among the terms that share trigrams with the word's own. Fewer edits win, then
 * what is likeliest: a frequent term, with the first letter unchanged, that goes with the rest of the question.
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
   * `analyzers` are those that the question is analyzed by. `fit` says how well a term goes with the rest of the question, 0
   * to 1; it is asked where several are near. The likeliest first and those that are not much less likely, `ranking.meant` at
   * most; none where nothing is near, or `word` is not prose.
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
   * Of a run without blanks that a dictionary cut into `segments`, the stretches around those that no chunk has, read
   * anew: the likeliest row of terms by their frequencies, each with one slip at most. A slip moves the bounds of words, so
   * that what it left of one is no word to compare with. Stretches where no term comes near stay as they were cut.
   */
  correctRun(segments: ReadonlyArray<string>, isKnown: (segment: string) => boolean): ReadonlyArray<Reread> {
    const unknown = segments.map((segment) => isThere.test(segment) && !isKnown(segment))
    const reread: Array<Reread> = []
    for (let at = unknown.indexOf(true); at >= 0 && reread.length < mostReread; at = unknown.indexOf(true, at)) {
      const from = Math.max(0, at - around)
      let to = at + 1
      // Slips near each other are one stretch.
      while (to < segments.length && to - from < mostSegments && unknown.slice(Math.max(at, to - around), to).includes(true)) to++
      const cut = segments.slice(from, to)
      const words = this.#likeliest(cut)
      if (words.some(({ distance }) => distance === 1)) reread.push({ cut, words })
      at = to
    }
    return reread
  }

  /** Viterbi over the stretch. What is of no term costs by the letter, or by the segment: the corpus may not have the word. */
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
    // Of a short stem its first letter is much.
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

/** The likeliest first, equals by the alphabet. */
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

/** A natural logarithm of odds: see docs/search.md. */
const oddsOf = ({ documentFrequency, sameStart }: Found, fit: number): number =>
  Math.log(documentFrequency) - (sameStart ? 0 : ranking.firstLetter) + ranking.fit * fit

const letters = /^[\p{L}\p{M}']+$/u

/** Ordinary words: no identifiers, no digits, nothing written in ideographs or without blanks. */
const correctable =
  /^(?!.*[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}])(?:\p{Lu}+|\p{L}[\p{Ll}\p{Lo}\p{M}]+)$/u

const mostLetters = 64

/** Words of one alphabet have the same number: their first letter's block, Latin with its accents counting as one. */
const scriptOf = (word: string): number => {
  const unit = word.charCodeAt(0)
  return unit < 0x250 ? 0 : unit >> 8
}

const isUnspaced = /^[\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]+$/u
const isThere = /\p{L}/u

/** Segments before and after one that no chunk has which a slip may have cut wrong as well. */
const around = 2
const mostSegments = 12
/** Each takes about a millisecond: a run that is a whole text is not read anew from end to end. */
const mostReread = 32
/** UTF-16 units. */
const longestStretch = 60
const longestUnspaced = 16
/** Two letters are neighbours of too many. */
const shortestUnspaced = 3

/** Terms of scripts without blanks by what is left of them without one letter, so that those one edit away are found at once. */
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

  costOf(documentFrequency: number): number {
    return Math.log(this.#all / documentFrequency)
  }

  /** The term itself, else the most frequent one that is one edit away. */
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
