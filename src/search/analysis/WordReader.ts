import { grown, hashOf, utf8Of, WordTable } from "../../text/WordTable.ts"
import { type Found, Survey } from "./Detection.ts"
import { maxWordLength, type Run, scanBytes } from "./WordBreak.ts"

/** Finds the words of texts, and numbers them 0, 1, 2, … as they are written, in the order they come. */
export interface WordReader {
  /** Begins texts that are read as one. */
  readonly begin: () => void
  /** Takes the next of them, and gives how many bytes it has. */
  readonly put: (text: string) => number
  /**
   * Finds the words of the text that was put. The words that begin in its first `sampled` bytes tell the language; where `counted`, all
   * words go into the vector. A stretch that is not plain ASCII goes to `takeOther`, with whether it begins in the sample.
   */
  readonly scan: (sampled: number, counted: boolean, takeOther: (stretch: string, sampled: boolean) => void) => void
  /** Takes a word that was found otherwise, as the next of the text. */
  readonly addWord: (surface: string, sampled: boolean) => void
  /** Takes a run that is no word, by what stands for it among the tokens: a number less than 0. */
  readonly addRun: (token: number, run: Run, length: number, sampled: boolean) => void
  /**
   * Ends the texts. Returns their tokens, what tells their language, and the offline embedder's vector of the counted words in the form
   * that is stored; no vector where it takes another reading of the text.
   */
  readonly end: () => {
    readonly tokens: Int32Array<ArrayBuffer>
    readonly survey: Found
    readonly vector: Uint8Array<ArrayBuffer> | undefined
  }
  /** Whether `most` words or more are remembered. */
  readonly isFull: (most: number) => boolean
  /** Forgets all words. */
  readonly forget: () => void
}

/** Told of each word the first time, in the order of their numbers; gives the languages that it is a function word of. */
export type Meet = (surface: string) => ReadonlyArray<number> | undefined

/** {@link WordReader} for any machine. */
export class PlainReader implements WordReader {
  readonly #meet: Meet
  readonly #words = new WordTable()
  /** By number of word: the languages it is a function word of. */
  #speakers: Array<ReadonlyArray<number> | undefined> = []
  #tokens = new Int32Array(1 << 12)
  #count = 0
  #survey = new Survey()
  #bytes: Uint8Array = new Uint8Array(0)

  constructor(meet: Meet) {
    this.#meet = meet
  }

  begin(): void {
    this.#count = 0
    this.#survey = new Survey()
  }

  put(text: string): number {
    this.#bytes = utf8Of(text)
    return this.#bytes.length
  }

  scan(sampled: number, _: boolean, takeOther: (stretch: string, sampled: boolean) => void): void {
    const bytes = this.#bytes
    scanBytes(
      bytes,
      (start, end, hash) => this.#take(this.#numberOf(bytes, start, end, hash), end - start, start < sampled),
      (start, end) => takeOther(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString(), start < sampled)
    )
  }

  addWord(surface: string, sampled: boolean): void {
    const length = utf8.encodeInto(surface, wordBytes).written
    this.#take(this.#numberOf(wordBytes, 0, length, hashOf(wordBytes, 0, length)), surface.length, sampled)
  }

  addRun(token: number, run: Run, length: number, sampled: boolean): void {
    this.#token(token)
    if (sampled) this.#survey.other(run, length)
  }

  end() {
    return { tokens: this.#tokens.slice(0, this.#count), survey: this.#survey, vector: undefined }
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
