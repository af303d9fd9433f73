import { readFileSync } from "node:fs"
import { assetPath } from "../../../text/Assets.ts"
import type { Postings } from "../store/Postings.ts"
import { largestMagnitude, magnitudeStep, type VectorList } from "../store/VectorLists.ts"

/** What of a corpus BM25 is reckoned by. */
export interface ScoredCorpus {
  readonly slots: number
  /** By slot: how many terms its chunk has. */
  readonly lengths: Uint16Array
  /** BM25's norm of each length. */
  readonly norms: Float64Array
  readonly bm25: { readonly k1: number }
}

/** Postings whose scores are added: where their segment begins, and what the term weighs. */
export interface WeighedPostings {
  readonly offset: number
  readonly weight: number
  readonly postings: Postings
}

/** A list of vectors' components, and what the question weighs that component. */
export interface WeighedList {
  readonly offset: number
  readonly weight: number
  readonly list: VectorList
}

/** Slots `from` to `to - 1`. */
export interface SlotRange {
  readonly from: number
  readonly to: number
}

/** A number for each slot: 64-bit where it is a score, 16-bit where it only picks candidates. */
export interface Scores<Values extends Float64Array | Int16Array = Float64Array> {
  /** Valid until the next question. */
  readonly values: Values
  /**
   * Slots from `from` to `to - 1` that score `least` or more and not 0, ascending: the first {@link mostFound} of them. Valid until
   * the next call. `every`: examine only one cache line of scores in so many. Default 1: all of them.
   */
  readonly atLeast: (least: number, from: number, to: number, every?: number) => Uint32Array
}

export const mostFound = 1_024

/** The exports of `kernel/assembly/Scores.ts`. Places are in its memory. */
interface Code {
  readonly addTerms: (
    terms: number,
    count: number,
    slots: number,
    scores: number,
    lengths: number,
    norms: number,
    k1: number
  ) => void
  readonly addComponents: (components: number, count: number, slots: number, scores: number) => void
  readonly atLeast: (scores: number, from: number, to: number, least: number, found: number, most: number, every: number) => number
  readonly narrowAtLeast: (scores: number, from: number, to: number, least: number, found: number, most: number, every: number) => number
  readonly cosines: (query: number, places: number, count: number, out: number, scanned: number) => void
  readonly unpack: (packed: number, length: number, dimensions: number, out: number) => number
}

type Memory = InstanceType<typeof WebAssembly.Memory>

/** Once in a thread, where a first question is asked. */
let module: object | undefined

/** The code over a memory, which is its caller's to give out. */
export const codeOver = (memory: Memory): Code => {
  module ??= new WebAssembly.Module(readFileSync(assetPath("scores.wasm", "../engines/embedded/kernel/scores.wasm")))
  // What its source exports.
  return new WebAssembly.Instance(module, { env: { memory } }).exports as Code
}

/** Scores by words, by vectors, and a second kind of the latter. */
const arms = ["sparse", "dense", "aside"] as const
type Arm = typeof arms[number]

/** Bytes of a page of such a memory. */
export const pageBytes = 65_536
/** Lists that are added at once, and bytes of what is said of each. */
const mostLists = 512
const recordBytes = 32
/** Lengths of chunks that have a norm of their own: those of 16 bits. */
const longest = 0xffff

/**
 * Room for the scores of one question after the other, in one memory with the code that adds them up and finds the best. Lists
 * are copied there when they are added: that takes a tenth as long.
 */
export class ScoreRoom {
  readonly #memory = new WebAssembly.Memory({ initial: 1 })
  readonly #code = codeOver(this.#memory)
  #corpus: ScoredCorpus | undefined
  /** Slots that there is room for. */
  #room = 0
  #bytes = new Uint8Array(0)
  #shorts = new Uint16Array(0)
  #halves = new Int16Array(0)
  #words = new Uint32Array(0)
  #numbers = new Float64Array(0)
  #lists = 0
  /** The next byte of the room for lists. */
  #next = 0

  /** Before a question: what was given for another one is valid no longer. */
  begin(corpus: ScoredCorpus): void {
    if (corpus.slots > this.#room || this.#room === 0) this.#grow(corpus.slots)
    if (this.#corpus?.lengths === corpus.lengths) return
    this.#corpus = corpus
    this.#shorts.set(corpus.lengths, lengthsAt >> 1)
    this.#numbers.set(corpus.norms, normsAt >> 3)
  }

  /** Scores of 0, in these ranges of slots. Default: in all of them. */
  zeros(arm: Arm, ranges?: ReadonlyArray<SlotRange>): Scores {
    const place = this.#placeOf(arm)
    const values = this.#numbers.subarray(place >> 3, (place >> 3) + this.#slots)
    if (ranges === undefined) values.fill(0)
    else for (const { from, to } of ranges) values.fill(0, from, to)
    return {
      values,
      atLeast: (least, from, to, every = 1) => this.#found(this.#code.atLeast(place, from, to, least, foundAt, mostFound, every))
    }
  }

  #found(count: number): Uint32Array {
    return this.#words.subarray(foundAt >> 2, (foundAt >> 2) + count)
  }

  get #slots(): number {
    return this.#corpus?.slots ?? 0
  }

  /** Adds BM25 of postings, in their order. */
  addPostings(arm: Arm, all: Iterable<WeighedPostings>): void {
    this.#addAll(
      all,
      ({ postings: { frequencies, ordinals } }) => ordinals.byteLength + frequencies.byteLength,
      ({ offset, postings: { frequencies, ordinals }, weight }, record) => {
        this.#words[record] = this.#put(ordinals)
        this.#words[record + 1] = this.#put(frequencies)
        this.#words[record + 2] = ordinals.length
        this.#words[record + 3] = 0
        this.#words[record + 4] = offset
        this.#words[record + 5] = (ordinals.BYTES_PER_ELEMENT === 4 ? 1 : 0) + (frequencies.BYTES_PER_ELEMENT === 4 ? 2 : 0)
        this.#numbers[(record >> 1) + 3] = weight
      },
      (slots, k1) => this.#code.addTerms(recordsAt, this.#lists, slots, this.#placeOf(arm), lengthsAt, normsAt, k1)
    )
  }

  /**
   * What lists say of each slot's vector: sums of listed magnitudes times the lists' weights, scaled so that they fit 16 bits, a
   * quarter of the memory that a question goes through. They order candidates and are no scores. `most`: what the weights of the
   * lists of any one slot add up to, at most.
   */
  estimates(all: Iterable<WeighedList>, most: number): Scores<Int16Array> {
    const place = this.#placeOfEstimates
    const values = this.#halves.subarray(place >> 1, (place >> 1) + this.#slots).fill(0)
    // Of two neighbouring integers the nearer: half of one for each list.
    const scale = (mostEstimate - mostLists / 2) / (most * largestMagnitude || 1)
    this.#addAll(
      all,
      ({ list: { postings } }) => postings.length + gains * 2,
      ({ list: { count, firstGap, gapsFrom, postings }, offset, weight }, record) => {
        const bytes = this.#put(postings)
        this.#words[record] = bytes + gapsFrom
        this.#words[record + 1] = bytes + postings.length - ((count + 1) >> 1)
        this.#words[record + 2] = this.#putGains(weight * scale)
        this.#words[record + 3] = count
        this.#words[record + 4] = 0
        this.#words[record + 5] = offset + firstGap
      },
      (slots) => this.#code.addComponents(recordsAt, this.#lists, slots, place)
    )
    return {
      values,
      atLeast: (least, from, to, every = 1) => {
        const integer = Math.max(-mostEstimate, Math.ceil(least))
        return this.#found(this.#code.narrowAtLeast(place, from, to, integer, foundAt, mostFound, every))
      }
    }
  }

  /** As many at once as there is room for. A single list always has room: see {@link ScoreRoom.#grow}. */
  #addAll<A>(
    all: Iterable<A>,
    bytesOf: (one: A) => number,
    put: (one: A, record: number) => void,
    add: (slots: number, k1: number) => void
  ): void {
    if (this.#corpus === undefined) return
    const { bm25: { k1 }, slots } = this.#corpus
    this.#clear()
    for (const one of all) {
      if (this.#lists === mostLists || this.#next + bytesOf(one) + 2 * align > this.#bytes.length) {
        add(slots, k1)
        this.#clear()
      }
      put(one, (recordsAt + this.#lists++ * recordBytes) >> 2)
    }
    if (this.#lists > 0) add(slots, k1)
  }

  #clear(): void {
    this.#lists = 0
    this.#next = this.#placeOfEstimates + 2 * this.#room
  }

  /** Where a copy of them is. */
  #put(values: Uint8Array | Uint16Array | Uint32Array): number {
    const place = this.#next
    const { BYTES_PER_ELEMENT: size } = values
    if (size === 1) this.#bytes.set(values, place)
    else if (size === 2) this.#shorts.set(values, place >> 1)
    else this.#words.set(values, place >> 2)
    this.#next = aligned(place + values.byteLength)
    return place
  }

  /** What a posting adds, by its half byte: three bits of magnitude, the high one its sign. */
  #putGains(weight: number): number {
    const place = this.#next
    for (let half = 0; half < gains; half++) {
      const magnitude = ((half & 7) + 1) * magnitudeStep
      this.#halves[(place >> 1) + half] = Math.round(weight * (half < 8 ? magnitude : -magnitude))
    }
    this.#next = aligned(place + gains * 2)
    return place
  }

  /** For the scores of so many slots and a list that has all of them, in the widest form: five bytes of gap and half a byte, or two numbers of four. */
  #grow(slots: number): void {
    this.#room = aligned(Math.ceil(slots * 1.25) + 1)
    const bytes = this.#placeOfEstimates + 2 * this.#room + 8 * this.#room + pageBytes
    const missing = Math.ceil((bytes - this.#memory.buffer.byteLength) / pageBytes)
    if (missing > 0) this.#memory.grow(missing)
    const { buffer } = this.#memory
    this.#bytes = new Uint8Array(buffer)
    this.#shorts = new Uint16Array(buffer)
    this.#halves = new Int16Array(buffer)
    this.#words = new Uint32Array(buffer)
    this.#numbers = new Float64Array(buffer)
    this.#corpus = undefined
  }

  #placeOf(arm: Arm): number {
    return lengthsAt + 2 * this.#room + arms.indexOf(arm) * 8 * this.#room
  }

  get #placeOfEstimates(): number {
    return this.#placeOf("sparse") + arms.length * 8 * this.#room
  }
}

const align = 8
const aligned = (place: number): number => Math.ceil(place / align) * align

/** Half bytes that there are. */
const gains = 16

/** Of 16 bits with a sign. */
const mostEstimate = 0x7fff

const foundAt = 1_024
const recordsAt = foundAt + 4 * mostFound
const normsAt = recordsAt + mostLists * recordBytes
const lengthsAt = normsAt + 8 * (longest + 1)
