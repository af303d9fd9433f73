import { type AnalyzerId, isFunctionWord, isLanguage, languageOfQuestion } from "./Detection.ts"
import { identifierParts } from "./Identifiers.ts"
import { type Language, type LanguageId, languages, plainTerm } from "./Languages.ts"
import { forEachSegment, recomposed } from "../../text/UnspacedWords.ts"
import { scanRuns } from "./WordBreak.ts"

export { type AnalyzerId, detect } from "./Detection.ts"

/** A term of a question, to be looked up. */
export interface QueryTerm {
  readonly term: string
  /** The word of the question that the term was made of. */
  readonly from: string
  /** How often the question has the word. */
  readonly occurrences: number
  /** Number of the word. All forms that the analyzers make of one word have the same: together they are as frequent as the word. */
  readonly word: number
}

/** The terms of a text, in order. `DocumentTerms` finds the same terms, and faster. */
export const analyze = (text: string, analyzer: AnalyzerId): Array<string> => {
  const terms: Array<string> = []
  forEachTerm(text, analyzer, (term) => terms.push(term))
  return terms
}

/**
 * The distinct terms of a question for chunks of several analyzers. A question whose language is known is analyzed in that language, in
 * English, of which technical texts in every language are full, and by the analyzers that are no language. Stop words and function words
 * of its language are left out for the other analyzers too, as they would be rare among their chunks and so weigh most. A question whose
 * language is unknown loses the stop words of `main`, the analyzer of most of the corpus, or else of English, and is analyzed by all:
 * "o" and "e" do not show a language, and in a Portuguese corpus would be terms only of the chunks that are not Portuguese.
 */
export const analyzeQuery = (text: string, candidates: ReadonlyArray<AnalyzerId>, main?: AnalyzerId): Array<QueryTerm> => {
  const spoken = languageOfQuestion(text, candidates)
  const own = spoken ?? (main !== undefined && isLanguage(main) ? main : undefined) ??
    (candidates.includes("en") || candidates.includes("code") ? "en" : candidates.find(isLanguage))
  const found = new Map<string, Mutable<QueryTerm>>()
  const words = new Map<string, number>()
  for (const analyzer of candidates) {
    if (spoken !== undefined && isLanguage(analyzer) && analyzer !== spoken && analyzer !== "en" && analyzer !== main) continue
    const counts = new Map<string, number>()
    forEachTerm(text, analyzer, (term, from, piece) => {
      if (own !== undefined && own !== analyzer && isStop(piece, own, spoken)) return
      const occurrences = (counts.get(term) ?? 0) + 1
      counts.set(term, occurrences)
      const known = found.get(term)
      const word = words.get(piece) ?? known?.word ?? words.size
      words.set(piece, word)
      if (known === undefined) found.set(term, { term, from, occurrences, word })
      else {
        known.occurrences = Math.max(known.occurrences, occurrences)
        if (known.word !== word) joinWords(words, found, known.word, word)
      }
    })
  }
  return [...found.values()]
}

type Mutable<A> = { -readonly [K in keyof A]: A[K] }

/** Makes two words one that share a form. */
const joinWords = (words: Map<string, number>, found: ReadonlyMap<string, Mutable<QueryTerm>>, kept: number, joined: number): void => {
  for (const [piece, word] of words) if (word === joined) words.set(piece, kept)
  for (const term of found.values()) if (term.word === joined) term.word = kept
}

const isStop = (piece: string, own: LanguageId, spoken: LanguageId | undefined): boolean =>
  termOf(piece, own) === "" || (spoken !== undefined && isFunctionWord(piece, spoken))

/** The term of a single word, as `analyzer` finds it within a text; undefined where it has none. */
export const analyzeWord = (word: string, analyzer: AnalyzerId): string | undefined => {
  const terms = termsOf(word, analyzer)
  return typeof terms === "string" ? terms === "" ? undefined : terms : terms[0]
}

/** The analyzers that may make different terms of a word: those of languages in another script do not. */
export const wordAnalyzers = (analyzers: ReadonlyArray<AnalyzerId>, word?: string): ReadonlyArray<AnalyzerId> => [
  ...new Set(analyzers.map((analyzer): AnalyzerId => {
    if (analyzer === "cjk" || analyzer === "code") return "en"
    if (word === undefined || !isLanguage(analyzer)) return analyzer
    return (languages[analyzer].script === "latin") === (word.charCodeAt(0) < 0x370) ? analyzer : "en"
  }))
]

/**
 * A text in NFKC, except that SARA AM of Thai and Lao stays one character, as their dictionaries know no other. Digits of every script
 * become ASCII, as in Lucene's DecimalDigitFilter. Parts of Persian words that a zero-width non-joiner separates become words, as people
 * often leave it out or write a blank.
 */
export const normalized = (text: string): string => withAsciiDigits(composed(text))

/** The first step of {@link normalized}: Unicode composition. */
export const composed = (text: string): string => /[^\x00-\x7f]/.test(text) ? recomposed(text.normalize("NFKC")) : text

/** The second step of {@link normalized}, for a {@link composed} text: ASCII digits, and separated parts of words. */
export const withAsciiDigits = (composed: string): string => {
  if (!/[^\x00-\x7f]/.test(composed)) return composed
  const text = composed.replace(/[\p{Nd}--[0-9]]/gv, asciiDigit)
  return text.includes("\u200c") ? text.replace(/(?<=\p{Script=Arabic})\u200c/gu, " ") : text
}

/** The ASCII digit for a decimal digit of any script: in Unicode they come in rows of ten, starting with zero. */
const asciiDigit = (digit: string): string => {
  let zero = digit.codePointAt(0) ?? 0
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1)) && (digit.codePointAt(0) ?? 0) - zero < 9) zero--
  return String((digit.codePointAt(0) ?? 0) - zero)
}

/**
 * Calls `emit` for each term. `piece`, in lower case, is the part of the word `from` that became the term: all of it,
 * or an identifier's part.
 */
const forEachTerm = (raw: string, analyzer: AnalyzerId, emit: (term: string, from: string, piece: string) => void): void => {
  const text = normalized(raw)
  const word = (surface: string): void => {
    for (const piece of [surface, ...identifierParts(surface, analyzer === "code")]) {
      const term = termOf(piece, analyzer)
      if (term !== "") emit(term, surface, piece.toLowerCase())
    }
  }
  scanRuns(text, (run, start, end) => {
    const surface = text.slice(start, end)
    if (run === "word") word(surface)
    else if (run === "ideographs") bigrams(surface, (term, from) => emit(term, from, term))
    else if (run === "pictograph") emit(surface, surface, surface)
    else forEachSegment(surface, word)
  })
}

/** The term of a word; a list of terms for an identifier, "" for a stop word. */
export const termsOf = (surface: string, analyzer: AnalyzerId): string | ReadonlyArray<string> => {
  const whole = termOf(surface, analyzer)
  // Most words are in lower case, and have no parts.
  if (lowerCase.test(surface)) return whole
  const parts = identifierParts(surface, analyzer === "code")
  return parts.length === 0 ? whole : [whole, ...parts.map((part) => termOf(part, analyzer))].filter((term) => term !== "")
}

const lowerCase = /^[a-z]+$/

const termOf = (surface: string, analyzer: AnalyzerId): string => {
  const plain = /[^\x00-\x7f]/.test(surface) ? surface.replace(/[\u2018\u2019]/g, "'").replace(/\p{Cf}/gu, "") : surface
  const language = languageOf(plain, analyzer)
  if (language === undefined) return plainTerm(plain)
  const word = language.normalize(language.lower(plain))
  return language.stopWords.has(word) ? "" : language.stem(word)
}

/** The language to stem a word by: English for Latin words in a text of another script; undefined for `simple`. */
const languageOf = (word: string, analyzer: AnalyzerId): Language | undefined => {
  if (analyzer === "simple") return undefined
  if (!isLanguage(analyzer)) return languages.en
  const language: Language = languages[analyzer]
  return language.script !== "latin" && word.charCodeAt(0) < 0x250 ? languages.en : language
}

/** Calls `emit` for each overlapping pair of characters of a run, or for its only character. */
export const bigrams = (run: string, emit: (term: string, from: string) => void): void => {
  const characters = Array.from(run.replace(/[\p{M}\p{Cf}]/gu, ""))
  if (characters.length === 1) emit(characters[0]!, run)
  for (let i = 1; i < characters.length; i++) {
    const pair = characters[i - 1]! + characters[i]!
    emit(pair, pair)
  }
}
