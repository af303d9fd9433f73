import type { Vocabulary } from "../../../search/analysis/Vocabulary.ts"
import { SegmentBuilder } from "./SegmentBuilder.ts"
import type { WriteTerms } from "./SegmentTable.ts"
import { leastListed } from "./VectorLists.ts"

/** Postings that are kept, 4 bytes each and as much again while they are written: those of some 18,000 chunks of a thousand characters. */
const mostPostings = 3 << 19

/**
 * The segments that were written last, with their postings as they were before: a segment that takes their place is
 * made from these, and theirs need not be read. They are of one corpus, and follow one another.
 */
export class RecentSegments {
  readonly #vocabulary: Vocabulary
  readonly #most: number
  #corpus: number | undefined
  #builder = new SegmentBuilder()
  /** Their rows, and the ordinals of their first chunks among all that the builder holds. */
  #segments: Array<{ readonly id: number; readonly first: number }> = []
  #full = false

  /** `most`: postings that are kept. */
  constructor(vocabulary: Vocabulary, most = mostPostings) {
    this.#vocabulary = vocabulary
    this.#most = most
  }

  /** The builder that the next segment of a corpus is made in, behind those that are kept. */
  builderOf(corpus: number): SegmentBuilder {
    if (corpus !== this.#corpus || this.#full) this.forget()
    this.#corpus = corpus
    return this.#builder
  }

  /** What a builder holds from the ordinal `first` on was written. */
  wrote(id: number, builder: SegmentBuilder, first: number): void {
    // Another corpus has come meanwhile.
    if (builder !== this.#builder) return
    this.#segments.push({ id, first })
    const chunks = builder.chunks.length
    // With another one as large their vectors would have to be read, to be listed: that is left to the merge of all.
    if (builder.postings >= this.#most || chunks + (chunks - first) >= leastListed) this.close()
  }

  /** No more is kept than there is. */
  close(): void {
    if (this.#segments.length > 1) this.#full = true
    else this.forget()
  }

  /** They are to become one segment now: with the next one they will not be kept. */
  isDue(corpus: number): boolean {
    return this.#full && corpus === this.#corpus
  }

  has(segment: number): boolean {
    return this.#segments.some(({ id }) => id === segment)
  }

  get isEmpty(): boolean {
    return this.#segments.length === 0
  }

  /** How many of these segments, the youngest of a corpus last, are kept. */
  countIn(segments: ReadonlyArray<{ readonly id: number }>): number {
    let count = 0
    while (count < segments.length && segments.at(-1 - count)?.id === this.#segments.at(-1 - count)?.id) count++
    return count
  }

  /** Writes the postings of the youngest `count` as those of one segment. */
  writerOf(count: number): WriteTerms {
    const builder = this.#builder
    const first = this.#segments.at(-count)?.first ?? 0
    return (pages) => builder.writeTo(pages, this.#vocabulary, first)
  }

  /** Segments have become one that has all their chunks. */
  replace(ids: ReadonlyArray<number>, id: number): void {
    const at = this.#segments.findIndex((kept) => kept.id === ids[0])
    if (at < 0) return
    if (this.#full) this.forget()
    else this.#segments.splice(at, ids.length, { id, first: this.#segments[at]!.first })
  }

  /** Keeps nothing: what was kept is merged as all else is. */
  forget(): void {
    this.#corpus = undefined
    this.#builder = new SegmentBuilder()
    this.#segments = []
    this.#full = false
  }
}
