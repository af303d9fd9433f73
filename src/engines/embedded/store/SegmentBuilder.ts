import { grown } from "../../../text/WordTable.ts"
import type { AnalyzerId, Decision } from "../../../search/analysis/Detection.ts"
import type { Vocabulary } from "../../../search/analysis/Vocabulary.ts"
import type { PostingPageWriter } from "./PostingPages.ts"

/** A segment in the making: the chunks of one group commit that belong to one corpus. */
export class SegmentBuilder {
  readonly chunks: Array<number> = []
  readonly lengths: Array<number> = []
  readonly embeddings: Array<number> = []
  /** Of how many chunks the words told that they are to be analyzed so. */
  readonly analyzers = new Map<AnalyzerId, number>()
  /** Postings, chunk after chunk: the term, and how often the chunk has it. */
  #terms = new Uint32Array(1 << 12)
  #frequencies = new Uint32Array(1 << 12)
  /** End of each chunk's postings. */
  readonly #ends: Array<number> = []
  #count = 0
  /** By term: where its posting of the chunk at hand is, + 1; 0 between chunks. */
  #places = new Uint32Array(1 << 12)

  /** Chunks come in ascending order of their numbers. `terms` up to `length` are numbers of the vocabulary. */
  add(chunk: number, embedding: number, { analyzer, told }: Decision, terms: Uint32Array, length: number): void {
    this.chunks.push(chunk)
    this.embeddings.push(embedding)
    this.lengths.push(length)
    this.analyzers.set(analyzer, (this.analyzers.get(analyzer) ?? 0) + (told ? 1 : 0))
    const first = this.#count
    for (let i = 0; i < length; i++) this.#take(terms[i] as number)
    for (let i = first; i < this.#count; i++) this.#places[this.#terms[i] as number] = 0
    this.#ends.push(this.#count)
  }

  #take(term: number): void {
    while (term >= this.#places.length) this.#places = grown(this.#places)
    const place = this.#places[term] as number
    if (place > 0) {
      this.#frequencies[place - 1] = (this.#frequencies[place - 1] as number) + 1
      return
    }
    if (this.#count === this.#terms.length) {
      this.#terms = grown(this.#terms)
      this.#frequencies = grown(this.#frequencies)
    }
    this.#terms[this.#count] = term
    this.#frequencies[this.#count] = 1
    this.#places[term] = ++this.#count
  }

  /** Forgets all chunks but the first `count`. */
  truncate(count: number): void {
    this.chunks.length = count
    this.lengths.length = count
    this.embeddings.length = count
    this.#ends.length = count
    const kept = this.#ends.at(-1) ?? 0
    // Of a chunk that was not finished, the places are still marked.
    for (let i = kept; i < this.#count; i++) this.#places[this.#terms[i] as number] = 0
    this.#count = kept
  }

  /** Writes every term with its postings, in order, at once. */
  *writeTo(pages: PostingPageWriter, vocabulary: Vocabulary): Generator<void, void> {
    const { frequencies, ordinals, starts } = this.#byTerm(vocabulary.size)
    const scratch = Buffer.allocUnsafe(longestTerm)
    for (const term of vocabulary.sorted()) {
      const end = starts[term + 1] as number
      let i = starts[term] as number
      if (i === end) continue
      pages.list.start()
      for (; i < end; i++) pages.list.add(ordinals[i] as number, frequencies[i] as number)
      const text = vocabulary.term(term)
      const bytes = text.length * 3 <= longestTerm ? scratch : Buffer.from(text)
      pages.add(bytes, bytes === scratch ? scratch.write(text) : bytes.length)
    }
  }

  /** The postings sorted by term, and where each term's start: a counting sort, which keeps the chunks' order. */
  #byTerm(terms: number) {
    const starts = new Uint32Array(terms + 1)
    for (let i = 0; i < this.#count; i++) starts[this.#terms[i] as number]!++
    // Now they are ends.
    for (let term = 1; term <= terms; term++) starts[term] = (starts[term] as number) + (starts[term - 1] as number)
    const ordinals = new Uint32Array(this.#count)
    const frequencies = new Uint32Array(this.#count)
    let ordinal = this.chunks.length - 1
    // From the last posting to the first, each goes before what its term has got: ends become starts on the way.
    for (let i = this.#count - 1; i >= 0; i--) {
      while (ordinal > 0 && i < (this.#ends[ordinal - 1] as number)) ordinal--
      const at = --starts[this.#terms[i] as number]!
      ordinals[at] = ordinal
      frequencies[at] = this.#frequencies[i] as number
    }
    return { starts, ordinals, frequencies }
  }
}

/** Bytes of UTF-8 up to which terms share a buffer on their way out. */
const longestTerm = 1_024
