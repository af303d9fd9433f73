import type { Vocabulary } from "../../../search/analysis/Vocabulary.ts"
import { SegmentBuilder } from "./SegmentBuilder.ts"
import type { WriteTerms } from "./SegmentTable.ts"
import { leastListed } from "./VectorLists.ts"

/**
 * Most postings that are kept, of 4 bytes each, and as much again while they are written: those of some 18,000 chunks of a thousand
 * characters.
 */
const mostPostings = 3 << 19

/**
 * The segments that were written last, with their postings in memory: a segment that replaces them is made from these, without reading
 * theirs from the database. They are consecutive segments of one corpus.
 */
export class RecentSegments {
  readonly #vocabulary: Vocabulary
  readonly #most: number
  #corpus: number | undefined
  #builder = new SegmentBuilder()
  /** Row ids of the segments, with the ordinals of their first chunks in the builder. */
  #segments: Array<{ readonly id: number; readonly first: number }> = []
  #full = false

  /** `most`: most postings that are kept. */
  constructor(vocabulary: Vocabulary, most = mostPostings) {
    this.#vocabulary = vocabulary
    this.#most = most
  }

  /** The builder for the next segment of a corpus, which comes after those that are kept. */
  builderOf(corpus: number): SegmentBuilder {
    if (corpus !== this.#corpus || this.#full) this.forget()
    this.#corpus = corpus
    return this.#builder
  }

  /** Notes that the builder's chunks from the ordinal `first` on were written as the segment `id`. */
  wrote(id: number, builder: SegmentBuilder, first: number): void {
    // The builder belongs to another corpus by now.
    if (builder !== this.#builder) return
    this.#segments.push({ id, first })
    const chunks = builder.chunks.length
    // With another segment as large as this, their vectors would have to be read and listed: that is left to the merge of all.
    if (builder.postings >= this.#most || chunks + (chunks - first) >= leastListed) this.close()
  }

  /** Keeps no further segments. */
  close(): void {
    if (this.#segments.length > 1) this.#full = true
    else this.forget()
  }

  /** Whether the kept segments should be merged now, since the next one will end their being kept. */
  isDue(corpus: number): boolean {
    return this.#full && corpus === this.#corpus
  }

  has(segment: number): boolean {
    return this.#segments.some(({ id }) => id === segment)
  }

  get isEmpty(): boolean {
    return this.#segments.length === 0
  }

  /** Number of these segments, of which the youngest comes last, that are kept. */
  countIn(segments: ReadonlyArray<{ readonly id: number }>): number {
    let count = 0
    while (count < segments.length && segments.at(-1 - count)?.id === this.#segments.at(-1 - count)?.id) count++
    return count
  }

  /** Writes the postings of the youngest `count` segments as those of one segment. */
  writerOf(count: number): WriteTerms {
    const builder = this.#builder
    const first = this.#segments.at(-count)?.first ?? 0
    return (pages) => builder.writeTo(pages, this.#vocabulary, first)
  }

  /** Notes that segments were merged into one that has all their chunks. */
  replace(ids: ReadonlyArray<number>, id: number): void {
    const at = this.#segments.findIndex((kept) => kept.id === ids[0])
    if (at < 0) return
    if (this.#full) this.forget()
    else this.#segments.splice(at, ids.length, { id, first: this.#segments[at]!.first })
  }

  /** Drops the kept postings: their segments are merged like all others. */
  forget(): void {
    this.#corpus = undefined
    this.#builder = new SegmentBuilder()
    this.#segments = []
    this.#full = false
  }
}
