import { grown } from "../../../text/WordTable.ts"
import type { Vocabulary } from "../../../search/analysis/Vocabulary.ts"
import type { PostingPageWriter } from "./PostingPages.ts"

/**
 * Segments being made: chunks of one corpus, and their terms. A posting is one number: the number of its term, or of its chunk, and in the
 * lowest 8 bits the frequency, where {@link often} stands for that or more.
 */
export class SegmentBuilder {
  readonly chunks: Array<number> = []
  readonly lengths: Array<number> = []
  readonly embeddings: Array<number> = []
  /** Postings, chunk after chunk. */
  #postings = new Uint32Array(1 << 12)
  #count = 0
  /** Frequencies above {@link often}: how much more, by the place of the posting. */
  readonly #more = new Map<number, number>()
  /** End of each chunk's postings. */
  readonly #ends: Array<number> = []
  /** Place of each term's posting in the current chunk, counted from 1, by number of term; 0 between chunks. */
  #places = new Uint32Array(1 << 12)

  /** Number of postings. */
  get postings(): number {
    return this.#count
  }

  /**
   * Adds a chunk; chunks come in ascending order of their numbers. `terms` up to `length` are the vocabulary's numbers of its terms, and
   * `keys` those of terms that are none of its words and do not count in its length.
   */
  add(chunk: number, embedding: number, terms: Uint32Array, length: number, keys: ReadonlyArray<number> = []): void {
    this.chunks.push(chunk)
    this.embeddings.push(embedding)
    this.lengths.push(length)
    while (this.#count + length + keys.length > this.#postings.length) this.#postings = grown(this.#postings)
    const postings = this.#postings
    const first = this.#count
    for (let i = 0; i < length; i++) {
      const term = terms[i] as number
      while (term >= this.#places.length) this.#places = grown(this.#places)
      const place = this.#places[term] as number
      if (place === 0) {
        postings[this.#count] = (term << 8 | 1) >>> 0
        this.#places[term] = ++this.#count
      } else if ((postings[place - 1]! & 0xff) < often) postings[place - 1]!++
      else this.#more.set(place - 1, (this.#more.get(place - 1) ?? 0) + 1)
    }
    this.#clear(first)
    for (const key of keys) postings[this.#count++] = (key << 8 | 1) >>> 0
    this.#ends.push(this.#count)
  }

  /** Clears the places of the terms of all postings from `first` on. */
  #clear(first: number): void {
    for (let i = first; i < this.#count; i++) this.#places[this.#postings[i]! >>> 8] = 0
  }

  /** Forgets all chunks after the first `count`. */
  truncate(count: number): void {
    this.chunks.length = count
    this.lengths.length = count
    this.embeddings.length = count
    this.#ends.length = count
    const kept = this.#ends.at(-1) ?? 0
    // A chunk that was not finished has left its places.
    this.#clear(kept)
    for (const place of this.#more.keys()) if (place >= kept) this.#more.delete(place)
    this.#count = kept
  }

  /**
   * Writes the terms of the chunks from the ordinal `from` on, in order, with their postings, in steps. Chunks added after the first step
   * are not included.
   */
  *writeTo(pages: PostingPageWriter, vocabulary: Vocabulary, from: number): Generator<void, void> {
    const { more, postings, starts } = this.#byTerm(vocabulary.size, from)
    const sorted = vocabulary.sorted()
    let lists = 0
    // By index: an iterator would make an object for every term.
    for (let place = 0; place < sorted.length; place++) {
      const term = sorted[place] as number
      const end = starts[term + 1] as number
      let i = starts[term] as number
      if (i === end) continue
      if (++lists % listsOfStep === 0) yield
      pages.list.start()
      for (; i < end; i++) {
        const posting = postings[i] as number
        const frequency = posting & 0xff
        pages.list.add(posting >>> 8, frequency < often ? frequency : often + (more.get(i) ?? 0))
      }
      pages.add(vocabulary.bytes, vocabulary.startOf(term), vocabulary.startOf(term + 1))
    }
  }

  /** The postings sorted by term, and the start of each term's. It is a counting sort, which keeps the order of the chunks. */
  #byTerm(terms: number, from: number) {
    const first = this.#ends[from - 1] ?? 0
    const starts = new Uint32Array(terms + 1)
    for (let i = first; i < this.#count; i++) starts[this.#postings[i]! >>> 8]!++
    // After this, `starts` has the ends.
    for (let term = 1; term <= terms; term++) starts[term] = (starts[term] as number) + (starts[term - 1] as number)
    const postings = new Uint32Array(this.#count - first)
    const more = new Map<number, number>()
    // From the last chunk to the first, each posting goes in front of its term's others, which turns ends into starts.
    for (let ordinal = this.chunks.length - 1; ordinal >= from; ordinal--) {
      const start = this.#ends[ordinal - 1] ?? 0
      for (let i = this.#ends[ordinal]! - 1; i >= start; i--) {
        const posting = this.#postings[i] as number
        const frequency = posting & 0xff
        const at = --starts[posting >>> 8]!
        postings[at] = ((ordinal - from) << 8 | frequency) >>> 0
        if (frequency === often) more.set(at, this.#more.get(i) ?? 0)
      }
    }
    return { more, postings, starts }
  }
}

/** Highest frequency that a posting can hold. */
const often = 0xff

/** Posting lists that are written in one step. */
const listsOfStep = 1_024
