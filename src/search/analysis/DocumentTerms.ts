import { forEachSegment } from "../../text/UnspacedWords.ts"
import { grown } from "../../text/WordTable.ts"
import { bigrams, composed, termsOf, withAsciiDigits } from "./Analyzer.ts"
import {
  type AnalyzerId,
  decide,
  type Decision,
  type Expected,
  type Found,
  hasOtherLetters,
  sampleLength,
  speakersOf,
  tellsByItself
} from "./Detection.ts"
import type { Vocabulary } from "./Vocabulary.ts"
import { type Run, scanRuns } from "./WordBreak.ts"
import { type Meet, PlainReader, type WordReader } from "./WordReader.ts"

/**
 * Terms of documents, text after text: the same as `detect` and `analyze` give, in one pass over the text, without a
 * string for a word that was met before.
 */
export class DocumentTerms {
  /** Numbers of the terms of the text read last, in order, up to {@link length}. */
  terms = new Uint32Array(1 << 12)
  length = 0

  readonly #vocabulary: Vocabulary
  /** By default some 20 MB together. */
  readonly #mostRemembered: number
  readonly #reader: WordReader
  #met = new MetWords()

  /** The text at hand. */
  #runs: Array<OtherRun> = []
  #latin = true

  /** `mostRemembered`: words, and terms, beyond which {@link forgetIfFull} forgets them. */
  constructor(
    vocabulary: Vocabulary,
    mostRemembered = 100_000,
    readerOf: (meet: Meet) => WordReader = (meet) => new PlainReader(meet)
  ) {
    this.#vocabulary = vocabulary
    this.#mostRemembered = mostRemembered
    this.#reader = readerOf((surface) => {
      this.#met.surfaces.push(surface)
      return speakersOf(surface)
    })
  }

  /** Finds a text's language, as `detect` does, and its terms in it. */
  read(raw: string, expected: Expected): Decision {
    return this.take(this.scan(raw), expected)
  }

  /**
   * Finds the words of a text that stands below another one, which it is read with; and its own vector, where it is asked for and
   * found by the way. Valid until words are forgotten.
   */
  scan(raw: string, above = "", withVector = false): ScannedText {
    this.#begin()
    let room = sampleLength
    if (above !== "") room -= this.#scan(above, room, false) + 1
    this.#scan(raw, room, withVector)
    const { survey, tokens, vector } = this.#reader.end()
    return {
      tokens,
      runs: this.#runs,
      survey,
      sample: above === "" ? raw.slice(0, sampleLength) : `${above}\n${raw.slice(0, sampleLength)}`.slice(0, sampleLength),
      vector,
      tellsByItself: this.#latin && tellsByItself(survey)
    }
  }

  /** {@link read} of what was scanned: by this one, or by another that met these words. */
  take({ runs, sample, survey, tokens }: Scanned, expected: Expected, met: MetWords = this.#met): Decision {
    const decision = decide(survey, sample, expected)
    this.#makeTerms(tokens, runs, decision.analyzer, met)
    return decision
  }

  /** The words that {@link scan} found so far, by their numbers, until they are forgotten. */
  get surfaces(): ReadonlyArray<string> {
    return this.#met.surfaces
  }

  /** What tells a text's language, as `detect` sees it, for whoever reads the text as well: most of its words are known then. */
  survey(text: string): Surveyed {
    const sample = text.slice(0, sampleLength)
    this.#begin()
    this.#reader.put(sample)
    this.#reader.scan(Infinity, false, this.#takeOther)
    return { survey: this.#reader.end().survey, sample }
  }

  #begin(): void {
    this.#reader.begin()
    this.#runs = []
    this.#latin = true
  }

  /**
   * Finds a text's words and other runs, and gives how many bytes it has once it is normalized; those that begin in its first
   * `sampled` bytes tell the language.
   */
  #scan(raw: string, sampled: number, withVector: boolean): number {
    const reader = this.#reader
    let length = reader.put(raw)
    let asWritten = true
    // ASCII stays as it is.
    if (length !== raw.length) {
      const plain = composed(raw)
      const text = withAsciiDigits(plain)
      if (text !== raw) length = reader.put(text)
      // The embedder's digits and words are those of the text.
      asWritten = text === plain
    }
    reader.scan(sampled, withVector && asWritten, this.#takeOther)
    return length
  }

  /** What was met has become too large. */
  get isFull(): boolean {
    return this.#reader.isFull(this.#mostRemembered) || this.#vocabulary.size >= this.#mostRemembered
  }

  /** Forgets what was met, with the vocabulary, when that has become too large; numbers of words and terms are then void. */
  forgetIfFull(): boolean {
    if (!this.isFull) return false
    this.#reader.forget()
    this.#met = new MetWords()
    this.#vocabulary.clear()
    return true
  }

  readonly #takeOther = (stretch: string, sampled: boolean): void => {
    const reader = this.#reader
    this.#latin &&= !hasOtherLetters(stretch)
    scanRuns(stretch, (run, from, to) => {
      const text = stretch.slice(from, to)
      if (run === "word") reader.addWord(text, sampled)
      else reader.addRun(-this.#runs.push({ run, text }), run, to - from, sampled)
    })
  }

  #makeTerms(tokens: Int32Array, runs: ReadonlyArray<OtherRun>, analyzer: AnalyzerId, met: MetWords): void {
    this.length = 0
    const known = met.entries(analyzer, this.#vocabulary)
    const { surfaces } = met
    for (let i = 0; i < tokens.length; i++) {
      const token = tokens[i] as number
      if (token < 0) this.#takeRun(runs[-token - 1] as OtherRun, analyzer)
      else {
        let entry = known[token] as number
        if (entry === unknown) {
          const terms = this.#termsOf(surfaces[token] as string, analyzer)
          entry = known[token] = typeof terms !== "number" ? none - 1 - met.keep(terms) : terms < 0 ? none : terms + 1
        }
        if (entry > 0) this.#term(entry - 1)
        else if (entry < none) {
          const { lists } = met
          const place = none - 1 - entry
          const end = place + (lists[place] as number)
          for (let i = place + 1; i <= end; i++) this.#term(lists[i] as number)
        }
      }
    }
  }

  #takeRun({ run, text }: OtherRun, analyzer: AnalyzerId): void {
    if (run === "ideographs") bigrams(text, (term) => this.#term(this.#vocabulary.numberOf(term)))
    else if (run === "pictograph") this.#term(this.#vocabulary.numberOf(text))
    else {
      forEachSegment(text, (word) => {
        const terms = this.#termsOf(word, analyzer)
        if (typeof terms !== "number") terms.forEach((term) => this.#term(term))
        else if (terms >= 0) this.#term(terms)
      })
    }
  }

  /** The term of a word, -1 where it has none, or its several terms. */
  #termsOf(surface: string, analyzer: AnalyzerId): number | ReadonlyArray<number> {
    const terms = termsOf(surface, analyzer)
    if (typeof terms !== "string") return terms.map((term) => this.#vocabulary.numberOf(term))
    return terms === "" ? -1 : this.#vocabulary.numberOf(terms)
  }

  #term(term: number): void {
    if (this.length === this.terms.length) this.terms = grown(this.terms)
    this.terms[this.length++] = term
  }
}

/** Words by the numbers that who read them gave them, and what is made of them elsewhere: a thread that only knows the numbers. */
export class MetWords {
  /** By number, as they are written. */
  readonly surfaces: Array<string> = []
  /**
   * For {@link entries}: how many terms a word has, which are not one, and they, word after word. Where names of program code are
   * most of the words, an array for each would be more than all else that is kept of them.
   */
  lists = new Uint32Array(1 << 10)
  #listed = 0
  #entries = new Map<AnalyzerId, Int32Array>()
  #timesForgotten = 0

  /** By number: what an analyzer makes of a word. Numbers of terms are void when the vocabulary has forgotten them. */
  entries(analyzer: AnalyzerId, { timesForgotten }: Vocabulary): Int32Array {
    if (this.#timesForgotten !== timesForgotten) {
      this.#timesForgotten = timesForgotten
      this.#entries = new Map()
      this.#listed = 0
    }
    let entries = this.#entries.get(analyzer) ?? new Int32Array(1 << 12)
    while (entries.length < this.surfaces.length) entries = grown(entries)
    this.#entries.set(analyzer, entries)
    return entries
  }

  /** Keeps several terms of a word, or none, and gives their place in {@link lists}. */
  keep(terms: ReadonlyArray<number>): number {
    const place = this.#listed
    while (place + terms.length >= this.lists.length) this.lists = grown(this.lists)
    this.lists[place] = terms.length
    this.lists.set(terms, place + 1)
    this.#listed += terms.length + 1
    return place
  }
}

/** What tells a text's language. */
export interface Surveyed {
  readonly survey: Found
  /** Its beginning. */
  readonly sample: string
}

/** What {@link DocumentTerms.take} needs of a text. */
export interface Scanned extends Surveyed {
  /** Numbers of words; of other runs their place in {@link runs} + 1, negative. */
  readonly tokens: Int32Array
  readonly runs: ReadonlyArray<OtherRun>
}

/** A text that was read, and whose language is still to be told. */
export interface ScannedText extends Scanned {
  /** Of the text without what is above it, as it is stored; undefined where the text has to be read for it again. */
  readonly vector: Uint8Array<ArrayBuffer> | undefined
  /** Its language is told whatever its file is in. */
  readonly tellsByItself: boolean
}

export interface OtherRun {
  readonly run: Run
  readonly text: string
}

/** Entries of words: a term's number + 1, or one of these, or less than `none` for a list. */
const unknown = 0
const none = -1
