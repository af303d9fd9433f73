import { readFileSync } from "node:fs"
import { Survey } from "../../../search/analysis/Detection.ts"
import { asciiClasses, type Run } from "../../../search/analysis/WordBreak.ts"
import { type Meet, PlainReader, type WordReader } from "../../../search/analysis/WordReader.ts"
import { assetPath } from "../../../text/Assets.ts"
import { keptOf, wholeWordWeight } from "../../../text/hashed/EmbedHashed.ts"
import { forEachFeature, kindOf, kindWeights, longestGram, plain, shortestGram, stemLength } from "../../../text/hashed/Features.ts"
import { forEachWord } from "../../../text/hashed/Words.ts"
import { levels } from "../store/Vector.ts"

/** What the code of `assembly/Kernel.ts` offers. Places are in its memory. */
interface Code {
  readonly memory: { readonly buffer: ArrayBuffer }
  readonly classes: { readonly value: number }
  readonly logarithms: { readonly value: number }
  readonly packed: { readonly value: number }
  readonly single: { readonly value: number }
  readonly tabled: { readonly value: number }
  readonly votes: { readonly value: number }
  readonly weights: { readonly value: number }
  readonly remembered: () => number
  readonly begin: () => void
  readonly textAt: (bytes: number) => number
  readonly scanFirst: (length: number, sampled: number, forVector: boolean) => number
  readonly scan: () => number
  readonly stretchFrom: () => number
  readonly stretchTo: () => number
  readonly addToken: (token: number) => void
  readonly survey: (word: number, length: number) => void
  readonly tokensAt: () => number
  readonly tokensFound: () => number
  readonly lastToken: () => number
  readonly lettersSurveyed: () => number
  readonly wordsSurveyed: () => number
  readonly numberOfSingle: (length: number) => number
  readonly wordCount: () => number
  readonly wordBytes: (word: number) => number
  readonly wordLength: (word: number) => number
  readonly hasSpeakers: (word: number, count: number) => number
  readonly forget: () => void
  readonly count: (word: number) => void
  readonly counted: () => number
  readonly isPart: (word: number, part: number) => void
  readonly hasParts: (word: number, parts: number) => number
  readonly isDescribed: (word: number) => number
  readonly describe: (word: number, kind: number, stemLength: number, shortestGram: number, longestGram: number) => void
  readonly features: (word: number, count: number, kind: number) => number
  readonly packedVector: (most: number, wholeWordWeight: number, magnitudes: number) => number
}

/** Once in a thread, where first words are read. */
let module: object | undefined

/** Undefined where this machine has no wide registers, or no room for another memory of that kind. */
const kernel = (): Code | undefined => {
  const code = readFileSync(assetPath("kernel.wasm", "../engines/embedded/kernel/kernel.wasm"))
  try {
    module ??= new WebAssembly.Module(code)
    // What its source exports.
    return new WebAssembly.Instance(module, { Vectors: { log: Math.log } }).exports as Code
  } catch {
    return undefined
  }
}

/** The fastest reader that this machine has. */
export const readerOf = (meet: Meet): WordReader => {
  const code = kernel()
  return code === undefined ? new PlainReader(meet) : new TextKernel(code, meet)
}

/** UTF-8 of a UTF-16 unit at most. */
const mostBytes = 3

/** Bytes of all that is remembered besides the list of words itself, after which all is forgotten. */
const mostRemembered = 12 * 1024 * 1024

/** What scanning stops at: a word that is new, or not known as what it is to a vector, and a stretch that is not plain ASCII. */
const done = 0
const newWord = 1
const stretch = 3

/**
 * Words and vectors by code that JavaScript does not come up to: most of a text is read, looked up, counted and made a vector
 * without a call for each word. What is met for the first time, and what is not ASCII, is told it from here.
 */
class TextKernel implements WordReader {
  readonly #code: Code
  readonly #meet: Meet
  #bytes: Buffer<ArrayBuffer>
  /** Where a word is put that is looked up by itself. */
  #single: Buffer<ArrayBuffer>
  /** Where the text at hand is, and how many bytes it has. */
  #text = 0
  #length = 0
  #isCounted = false
  /** Room for tokens of texts. */
  #slab = new Int32Array(0)
  /** How many words {@link Meet} was told. */
  #met = 0
  /** Runs of the text that are no words. */
  #runs = new Survey()
  /** What words that are not ASCII are to a vector, as they are written. */
  readonly #others = new Map<string, number>()

  constructor(code: Code, meet: Meet) {
    this.#code = code
    this.#meet = meet
    this.#bytes = this.#single = Buffer.from(code.memory.buffer)
    this.#look()
    // Bytes of other characters are of a class that ends no stretch.
    this.#bytes.fill(255, code.classes.value + asciiClasses.length, code.classes.value + 256)
    this.#bytes.set(asciiClasses, code.classes.value)
    this.#numbers(code.weights.value, kindWeights.length).set(kindWeights)
    const logarithms = this.#numbers(code.logarithms.value, code.tabled.value)
    for (let i = 1; i < logarithms.length; i++) logarithms[i] = 1 + Math.log(i)
  }

  begin(): void {
    this.#code.begin()
    this.#runs = new Survey()
    this.#isCounted = false
  }

  put(text: string): number {
    this.#text = this.#code.textAt(text.length * mostBytes)
    this.#length = utf8.encodeInto(text, this.#look().subarray(this.#text)).written
    return this.#length
  }

  scan(sampled: number, counted: boolean, takeOther: (stretch: string, sampled: boolean) => void): void {
    const code = this.#code
    const length = this.#length
    this.#isCounted = counted
    for (
      let found = code.scanFirst(length, Math.max(0, Math.min(length, sampled)), counted);
      found !== done;
      found = code.scan()
    ) {
      if (found === stretch) {
        const from = code.stretchFrom()
        const text = this.#look().toString("utf8", from, code.stretchTo())
        takeOther(text, from - this.#text < sampled)
        if (counted) forEachWord(text, this.#countPlain, this.#countOther)
      } else {
        const word = code.lastToken()
        const surface = this.#textOf(word)
        if (found === newWord) this.#learn(surface)
        if (counted) this.#tellParts(word, surface)
      }
    }
  }

  addWord(surface: string, sampled: boolean): void {
    const word = this.#numberOf(surface)
    this.#code.addToken(word)
    if (sampled) this.#code.survey(word, surface.length)
  }

  addRun(token: number, run: Run, length: number, sampled: boolean): void {
    this.#code.addToken(token)
    if (sampled) this.#runs.other(run, length)
  }

  end() {
    const code = this.#code
    const survey = this.#runs
    survey.letters += code.lettersSurveyed()
    survey.words = code.wordsSurveyed()
    survey.votes.set(this.#numbers(code.votes.value, survey.votes.length))
    const count = code.tokensFound()
    // A piece of a larger array, since each array has a memory of its own.
    if (this.#slab.length < count) this.#slab = new Int32Array(Math.max(count, slabLength))
    const tokens = this.#slab.subarray(0, count)
    this.#slab = this.#slab.subarray(count)
    tokens.set(new Int32Array(code.memory.buffer, code.tokensAt(), count))
    return { tokens, survey, vector: this.#isCounted ? this.#vector() : undefined }
  }

  #vector(): Buffer<ArrayBuffer> {
    const code = this.#code
    const length = code.packedVector(keptOf(code.counted()), wholeWordWeight, levels)
    const vector = Buffer.allocUnsafe(length)
    this.#look().copy(vector, 0, code.packed.value, code.packed.value + length)
    return vector
  }

  isFull(most: number): boolean {
    return this.#code.wordCount() + this.#others.size >= most || this.#code.remembered() >= mostRemembered
  }

  forget(): void {
    this.#code.forget()
    this.#others.clear()
    this.#met = 0
  }

  readonly #countPlain = (bytes: Uint8Array, start: number, end: number): void => this.#code.count(this.#plainPart(bytes, start, end))
  readonly #countOther = (surface: string): void => this.#code.count(this.#otherPart(surface))

  /** Tells what a word is to a vector: what is joined by an apostrophe or a point is several. */
  #tellParts(word: number, surface: string): void {
    if (oneWord.test(surface)) {
      this.#code.isPart(word, itself.test(surface) ? this.#described(word, surface) : this.#plainWord(word))
      return
    }
    const parts: Array<number> = []
    forEachWord(
      surface,
      (bytes, start, end) => parts.push(this.#plainPart(bytes, start, end)),
      (other) => parts.push(this.#otherPart(other))
    )
    if (parts.length === 1) this.#code.isPart(word, parts[0] as number)
    else {
      const place = this.#code.hasParts(word, parts.length)
      new Uint32Array(this.#code.memory.buffer, place, parts.length).set(parts)
    }
  }

  /** The number of a word of ASCII letters and digits in lower case, whose features are made. */
  #plainPart(bytes: Uint8Array, start: number, end: number): number {
    this.#look()
    const single = this.#single
    for (let i = start; i < end; i++) single[i - start] = lowerCase[bytes[i]!]!
    return this.#described(this.#learned(this.#code.numberOfSingle(end - start)))
  }

  #plainWord(word: number): number {
    const start = this.#code.wordBytes(word)
    return this.#plainPart(this.#look(), start, start + this.#code.wordLength(word))
  }

  /** The number of what any word is to a vector. */
  #otherPart(surface: string): number {
    const known = this.#others.get(surface)
    if (known !== undefined) return known
    const part = this.#described(this.#numberOf(plain(surface)))
    // Copied, so that the text it is a slice of is not kept in memory.
    this.#others.set(Buffer.from(surface, "utf16le").toString("utf16le"), part)
    return part
  }

  #described(word: number, surface?: string): number {
    const code = this.#code
    if (code.isDescribed(word) !== 0) return word
    const text = surface ?? this.#textOf(word)
    const kind = kindOf(text)
    if (text.length === code.wordLength(word)) code.describe(word, kind, stemLength, shortestGram, longestGram)
    else {
      const slots: Array<number> = []
      forEachFeature(text, (slot) => slots.push(slot * 8))
      const place = code.features(word, slots.length, kind)
      new Uint16Array(code.memory.buffer, place, slots.length).set(slots)
    }
    return word
  }

  #numberOf(surface: string): number {
    this.#look()
    return this.#learned(this.#code.numberOfSingle(utf8.encodeInto(surface, this.#single).written))
  }

  #learned(word: number): number {
    if (word === this.#met) this.#learn(this.#textOf(word))
    return word
  }

  /** Tells who is to be told of the word that is new. */
  #learn(surface: string): void {
    const word = this.#met++
    const speakers = this.#meet(surface)
    if (speakers === undefined) return
    const place = this.#code.hasSpeakers(word, speakers.length)
    this.#look().set(speakers, place)
  }

  #textOf(word: number): string {
    const at = this.#code.wordBytes(word)
    return this.#look().toString("utf8", at, at + this.#code.wordLength(word))
  }

  #numbers(at: number, length: number): Float64Array<ArrayBuffer> {
    return new Float64Array(this.#code.memory.buffer, at, length)
  }

  /** Its memory, which is another one when it has grown. */
  #look(): Buffer<ArrayBuffer> {
    const { buffer } = this.#code.memory
    if (this.#bytes.buffer !== buffer || this.#single === this.#bytes) {
      this.#bytes = Buffer.from(buffer)
      const at = this.#code.single.value
      this.#single = this.#bytes.subarray(at, at + mostSingle)
    }
    return this.#bytes
  }
}

/** Bytes of a word that is looked up by itself. */
const mostSingle = 1024

/** Tokens that are given room at once. */
const slabLength = 1 << 14

/** What is one word to a vector, in lower case; and as it is written. */
const oneWord = /^[A-Za-z0-9]{1,64}$/
const itself = /^[a-z0-9]*$/

/** Of each byte. */
const lowerCase = Uint8Array.from({ length: 256 }, (_, byte) => byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte)

const utf8 = new TextEncoder()
