import { grown, hashOf, utf8Of, WordTable } from "../../text/WordTable.ts"
import { type Found, Survey } from "./Detection.ts"
import { maxWordLength, type Run, scanBytes } from "./WordBreak.ts"

/** Finds the words of texts, and numbers them 0, 1, 2, … as they are written, in the order they come. */
export interface WordReader {
  /** Begins texts of so many UTF-16 units together. */
  readonly begin: (units: number) => void
  /**
   * Finds the words of a text; those that begin in its first `sampled` bytes tell the language. A stretch that is not plain ASCII
   * goes to `takeOther`, with whether it begins there. Gives how many bytes the text has.
   */
  readonly scan: (text: string, sampled: number, takeOther: (stretch: string, sampled: boolean) => void) => number
  /** Takes a word that was found otherwise, as the next of the text. */
  readonly addWord: (surface: string, sampled: boolean) => void
  /** Takes a run that is no word, by what stands for it among the tokens: a number less than 0. */
  readonly addRun: (token: number, run: Run, length: number, sampled: boolean) => void
  /** How many tokens were found since {@link begin}. */
  readonly count: () => number
  /** Ends the texts: their tokens, and what tells their language. */
  readonly end: () => { readonly tokens: Int32Array<ArrayBuffer>; readonly survey: Found }
  /** Whether so many words are remembered. */
  readonly isFull: (most: number) => boolean
  /** Forgets all words. */
  readonly forget: () => void
  /** A vector as it is stored, of those of the offline embedder; absent where the text has to be read for it again. */
  readonly vectorOf?: (tokens: Int32Array, own: OwnWords, surfaceOf: (word: number) => string) => Uint8Array<ArrayBuffer>
}

/** Told of each word the first time, in the order of their numbers; gives the languages that it is a function word of. */
export type Meet = (surface: string) => ReadonlyArray<number> | undefined

/** What of a text stands under no other. */
export interface OwnWords {
  /** The first of its tokens. */
  readonly first: number
  /** What was not plain words. */
  readonly stretches: ReadonlyArray<Stretch>
}

/** A stretch of text, from one ASCII blank or bracket to the next, that is not a plain ASCII word, and which tokens it is. */
export interface Stretch {
  readonly first: number
  readonly end: number
  readonly text: string
}

/** {@link WordReader} for any machine. */
export class PlainReader implements WordReader {
  readonly #meet: Meet
  readonly #words = new WordTable()
  /** By number of word: the languages it is a function word of. */
  #speakers: Array<ReadonlyArray<number> | undefined> = []
  #tokens = new Int32Array(1 << 12)
  #count = 0
  #survey = new Survey()

  constructor(meet: Meet) {
    this.#meet = meet
  }

  begin(): void {
    this.#count = 0
    this.#survey = new Survey()
  }

  scan(text: string, sampled: number, takeOther: (stretch: string, sampled: boolean) => void): number {
    const bytes = utf8Of(text)
    const takeWord = (start: number, end: number, hash: number): void =>
      this.#take(this.#numberOf(bytes, start, end, hash), end - start, start < sampled)
    scanBytes(
      bytes,
      takeWord,
      (start, end) => takeOther(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString(), start < sampled)
    )
    return bytes.length
  }

  addWord(surface: string, sampled: boolean): void {
    const length = utf8.encodeInto(surface, wordBytes).written
    this.#take(this.#numberOf(wordBytes, 0, length, hashOf(wordBytes, 0, length)), surface.length, sampled)
  }

  addRun(token: number, run: Run, length: number, sampled: boolean): void {
    this.#token(token)
    if (sampled) this.#survey.other(run, length)
  }

  count(): number {
    return this.#count
  }

  end() {
    return { tokens: this.#tokens.slice(0, this.#count), survey: this.#survey }
  }

  isFull(most: number): boolean {
    return this.#words.size >= most
  }

  forget(): void {
    this.#words.clear()
    this.#speakers = []
  }

  #take(word: number, length: number, sampled: boolean): void {
    this.#token(word)
    if (sampled) this.#survey.word(length, this.#speakers[word])
  }

  #token(token: number): void {
    if (this.#count === this.#tokens.length) this.#tokens = grown(this.#tokens)
    this.#tokens[this.#count++] = token
  }

  #numberOf(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const word = this.#words.idOf(bytes, start, end, hash)
    if (word === this.#speakers.length) this.#speakers.push(this.#meet(Buffer.from(bytes.subarray(start, end)).toString()))
    return word
  }
}

const utf8 = new TextEncoder()
const wordBytes = new Uint8Array(maxWordLength * 3)
