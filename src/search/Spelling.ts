import { type AnalyzerId, analyzeWord, wordAnalyzers } from "./analysis/Analyzer.ts"
import { editDistance, oneEditAway } from "./EditDistance.ts"
import { TrigramIndex } from "./TrigramIndex.ts"

export interface Correction {
  /** A term that the index has. */
  readonly term: string
  readonly documentFrequency: number
  readonly distance: 1 | 2
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
 * an unchanged first letter, then the more frequent term, then the alphabet.
 */
export class SpellingIndex {
  readonly #frequencies = new Map<string, number>()
  readonly #alphabets = new Map<number, Set<string>>()
  #trigrams: TrigramIndex | undefined

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

  /** `analyzers` are those that the question is analyzed by. Undefined: nothing is near, or `word` is not prose. */
  correct(word: string, analyzers: ReadonlyArray<AnalyzerId>): Correction | undefined {
    if (!correctable.test(word)) return undefined
    const lower = word.toLowerCase()
    if (lower.length < shortestForSwap || lower.length > longestWord) return undefined
    const distinct = wordAnalyzers(analyzers, lower)
    const near = this.#best(this.#byOneEdit(lower, distinct))
    if (near !== undefined) return { ...near, distance: 1 }
    const far = lower.length < shortestForTwo ? undefined : this.#best(this.#byTwoEdits(lower, distinct))
    return far === undefined ? undefined : { ...far, distance: 2 }
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

  #best(found: Iterable<Found>): Omit<Correction, "distance"> | undefined {
    let best: Found | undefined
    for (const one of found) if (best === undefined || isBetter(one, best)) best = one
    return best && { term: best.term, documentFrequency: best.documentFrequency }
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

const isBetter = (a: Found, b: Found): boolean => {
  if (a.sameStart !== b.sameStart) return a.sameStart
  if (a.documentFrequency !== b.documentFrequency) return a.documentFrequency > b.documentFrequency
  return a.term < b.term
}

const letters = /^[\p{L}\p{M}']+$/u

/** Ordinary words: no identifiers, no digits, nothing written in ideographs. */
const correctable = /^(?!.*[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}])(?:\p{Lu}+|\p{L}[\p{Ll}\p{Lo}\p{M}]+)$/u

const mostLetters = 64

/** Words of one alphabet have the same number: their first letter's block, Latin with its accents counting as one. */
const scriptOf = (word: string): number => {
  const unit = word.charCodeAt(0)
  return unit < 0x250 ? 0 : unit >> 8
}
