import { partitionPoint } from "../../../text/PartitionPoint.ts"
import type { DatabaseSync } from "node:sqlite"
import { crc32 } from "node:zlib"
import { isHeadingKey } from "../../../search/analysis/HeadingKeys.ts"
import type { AnalyzerId } from "../../../search/analysis/Analyzer.ts"
import { PostingPageReader } from "../store/PostingPages.ts"
import { narrow, type Postings } from "../store/Postings.ts"
import { asBlob, checkedColumns, isIntact, type Row } from "../store/Checksum.ts"
import { ordinalFrom, unpackSegmentBody, type SegmentBody } from "../store/SegmentBody.ts"
import { listedComponentsOf } from "../store/VectorLists.ts"
import type { CorpusRow } from "../store/Rows.ts"
import { analyzersIn } from "../store/SegmentTable.ts"
import { type Bm25Parameters, lengthNorm } from "./Bm25.ts"
import type { ByteCache } from "../../../search/ByteCache.ts"

/** The index in the database is damaged. It is derived data, and can be rebuilt from the chunks. */
export class IndexDamage extends Error {}

/** A segment in memory. Its postings stay in the database and pass through the cache. */
export interface Segment extends SegmentBody {
  readonly id: number
  /** Slot of its first chunk. */
  readonly offset: number
  /** Number of dead chunks. With the id it identifies the state of the segment that a cached posting list belongs to. */
  readonly dead: number
  /** Row of its first posting page. */
  readonly firstPage: number
  /** First term of each posting page, as UTF-8. */
  readonly firstTerms: ReadonlyArray<Uint8Array>
  /** Number of components that have a vector list; 0 where the segment's vectors are not listed. */
  readonly listedComponents: number
}

/** Posting lists of a term, segment by segment, without dead chunks. */
export interface TermPostings {
  readonly documentFrequency: number
  readonly bySegment: ReadonlyArray<{ readonly segment: Segment; readonly postings: Postings }>
}

/** How often the chunk at a slot has the term. */
export const frequencyAt = ({ bySegment }: TermPostings, slot: number): number => {
  const of = bySegment.findLast(({ segment }) => segment.offset <= slot)
  if (of === undefined) return 0
  const { postings: { frequencies, ordinals }, segment } = of
  const ordinal = slot - segment.offset
  const at = partitionPoint(ordinals.length, (at) => (ordinals[at] as number) < ordinal)
  return ordinals[at] === ordinal ? frequencies[at] as number : 0
}

const none: Postings = { ordinals: new Uint16Array(0), frequencies: new Uint8Array(0) }

/**
 * One corpus at one revision. Every chunk has a *slot*: its place when all segments are laid end to end, ascending by chunk number.
 * Scores are arrays by slot.
 */
export class CorpusIndex {
  readonly revision: number
  readonly segments: ReadonlyArray<Segment>
  readonly analyzers: ReadonlyArray<AnalyzerId>
  /** The analyzer of most chunks, among those whose own words show it. */
  readonly mainAnalyzer: AnalyzerId | undefined
  readonly slots: number
  /** 1 by slot where the chunk is live. */
  readonly live: Uint8Array
  readonly liveChunks: number
  /** Number of terms by slot; at most 65,535, which no chunk that was cut by a chunker exceeds. */
  readonly lengths: Uint16Array
  /** BM25's length norm, by length in terms, up to the longest chunk's. */
  readonly norms: Float64Array
  readonly bm25: Bm25Parameters
  /** Number of terms in all live chunks. */
  readonly totalLength: number
  readonly #cache: ByteCache
  readonly #page

  /**
   * Reads the segments of a corpus, except those that `previous` already has. Segments made by another version of the analysis are
   * searched as they are until they are rebuilt: most of their terms have not changed.
   *
   * @throws {IndexDamage} where a segment is damaged, or the segments do not have `corpus.chunks` live chunks
   */
  constructor(
    db: DatabaseSync,
    cache: ByteCache,
    corpus: Pick<CorpusRow, "id" | "revision" | "chunks" | "bm25">,
    previous?: CorpusIndex
  ) {
    this.revision = corpus.revision
    this.bm25 = corpus.bm25
    this.#cache = cache
    this.#page = db.prepare(`SELECT ${checkedColumns("posting_pages")} FROM posting_pages WHERE id = ?`)
    const rows = db.prepare(`SELECT ${checkedColumns("segments")} FROM segments WHERE corpus = ? ORDER BY first_chunk`).iterate(corpus.id)
    const known = new Map(previous?.segments.map((segment) => [segment.id, segment]))
    const tombstones = db.prepare(`SELECT ${checkedColumns("tombstones")} FROM tombstones WHERE corpus = ? ORDER BY first_chunk`).all(
      corpus.id
    )
    if (!tombstones.every((row) => isIntact("tombstones", row))) throw new IndexDamage("its list of deleted chunks")
    const segments: Array<Segment> = []
    const analyzers = new Map<AnalyzerId, number>()
    const live: Array<Uint8Array> = []
    let offset = 0
    for (const row of rows) {
      const id = Number(row["id"])
      if (!isIntact("segments", row) || row["corpus"] !== corpus.id) throw new IndexDamage(`segment ${id}`)
      for (const [analyzer, count] of Object.entries(analyzersIn(row)) as ReadonlyArray<[AnalyzerId, number]>) {
        analyzers.set(analyzer, (analyzers.get(analyzer) ?? 0) + count)
      }
      const body = known.get(id) ?? readSegment(db, row)
      const mask = liveMask(body.chunks, tombstones)
      const { chunks, embeddings, firstPage, firstTerms, lengths, listedComponents } = body
      segments.push({ id, chunks, lengths, embeddings, firstPage, firstTerms, listedComponents, offset, dead: mask.dead })
      live.push(mask.live)
      offset += chunks.length
    }
    this.segments = segments
    this.slots = offset
    this.analyzers = [...analyzers.keys()].sort()
    this.mainAnalyzer = [...analyzers].reduce<readonly [AnalyzerId, number] | undefined>(
      (main, one) => main === undefined || one[1] > main[1] ? one : main,
      undefined
    )?.[0]
    this.live = new Uint8Array(offset)
    segments.forEach((segment, i) => this.live.set(live[i] ?? new Uint8Array(0), segment.offset))
    this.liveChunks = segments.reduce((sum, segment) => sum + segment.chunks.length - segment.dead, 0)
    if (this.liveChunks !== corpus.chunks) throw new IndexDamage(`${this.liveChunks} of ${corpus.chunks} chunks are indexed`)
    this.totalLength = this.#totalLength()
    this.lengths = this.#lengths()
    this.norms = this.#norms()
  }

  /** Bytes that this index takes, apart from the cache. */
  get bytes(): number {
    return this.slots * (8 + 4 + 8 + 1 + 2)
  }

  /** The segment that a slot is in. */
  segmentAt(slot: number): Segment {
    const { segments } = this
    for (let at = segments.length - 1; at >= 0; at--) if ((segments[at] as Segment).offset <= slot) return segments[at] as Segment
    throw new RangeError(`no slot ${slot}`)
  }

  /** The number of the chunk at a slot. */
  chunkAt(slot: number): number {
    const { chunks, offset } = this.segmentAt(slot)
    return chunks[slot - offset] as number
  }

  /** Row id in `embeddings` of the vector of the chunk at a slot. */
  embeddingAt(slot: number): number {
    const { embeddings, offset } = this.segmentAt(slot)
    return embeddings[slot - offset] as number
  }

  /** Slots of the chunks numbered `first` to `first + count - 1`. They are one range, since a file's chunks are in one segment. */
  slotsOf(first: number, count: number): { readonly from: number; readonly to: number } {
    const segment = this.segments.findLast((segment) => (segment.chunks[0] ?? Infinity) <= first)
    if (segment === undefined) return { from: 0, to: 0 }
    const from = ordinalFrom(segment.chunks, first)
    return { from: segment.offset + from, to: segment.offset + ordinalFrom(segment.chunks, first + count) }
  }

  /** Posting lists and document frequency of a term. @throws {IndexDamage} */
  lookup(term: string): TermPostings {
    const bySegment: Array<{ readonly segment: Segment; readonly postings: Postings }> = []
    let documentFrequency = 0
    for (const segment of this.segments) {
      const key = postingsKey(segment, term)
      const postings = this.#cache.peek<Postings>(key) ?? this.#kept(key, this.#postingsIn(segment, this.#find(segment, term)))
      if (postings.ordinals.length === 0) continue
      documentFrequency += postings.ordinals.length
      bySegment.push({ segment, postings })
    }
    return { documentFrequency, bySegment }
  }

  /**
   * Like {@link lookup}, for a term that is in at most `most` live chunks. Undefined where it is in more; its long posting lists are
   * then not decoded.
   *
   * @throws {IndexDamage}
   */
  lookupRare(term: string, most: number): TermPostings | undefined {
    if (this.segments.some((segment) => this.#countIn(segment, term, most) > most + segment.dead)) return undefined
    const found = this.lookup(term)
    return found.documentFrequency > most ? undefined : found
  }

  /** Number of live chunks with a term. Posting lists are read only where a segment has dead chunks. @throws {IndexDamage} */
  documentFrequency(term: string): number {
    return this.segments.every(({ dead }) => dead === 0)
      ? this.segments.reduce((sum, segment) => sum + this.#countIn(segment, term, 0), 0)
      : this.lookup(term).documentFrequency
  }

  /**
   * Number of a term's postings in a segment, including those of dead chunks. A list of up to `most` live postings is also decoded
   * and cached, since its page is open already.
   */
  #countIn(segment: Segment, term: string, most: number): number {
    const key = postingsKey(segment, term)
    const known = this.#cache.peek<Postings>(key)?.ordinals.length ?? this.#cache.peek<number>(`o${key}`)
    if (known !== undefined) return known
    const page = this.#find(segment, term)
    const count = page?.count ?? 0
    if (count <= most + segment.dead) this.#kept(key, this.#postingsIn(segment, page))
    else this.#cache.put(`o${key}`, count, 0)
    return count
  }

  #kept(key: string, postings: Postings): Postings {
    const { frequencies, ordinals } = postings
    this.#cache.put(key, postings, ordinals.byteLength + frequencies.byteLength + 300)
    return postings
  }

  /** Every word's term of the live chunks, in ascending order, with its document frequency. @throws {IndexDamage} */
  *vocabulary(): Generator<readonly [term: string, documentFrequency: number]> {
    const streams = this.segments.map((segment) => this.#terms(segment))
    const heads = streams.map((stream) => stream.next())
    while (true) {
      let term: string | undefined
      for (const { done, value } of heads) {
        if (done !== true && (term === undefined || value[0] < term)) term = value[0]
      }
      if (term === undefined) return
      let documentFrequency = 0
      heads.forEach(({ done, value }, i) => {
        if (done === true || value[0] !== term) return
        documentFrequency += value[1]
        heads[i] = (streams[i] as typeof streams[number]).next()
      })
      if (documentFrequency > 0) yield [term, documentFrequency]
    }
  }

  *#terms(segment: Segment): Generator<readonly [term: string, documentFrequency: number], undefined> {
    for (let page = 0; page < segment.firstTerms.length; page++) {
      const reader = this.#openPage(segment, page)
      while (reader.next()) {
        const { term } = reader
        if (isHeadingKey(term)) continue
        yield [term, segment.dead === 0 ? reader.count : this.#dropDead(segment, reader.postings())]
      }
    }
  }

  /** A reader of the page that has the term, positioned at the term; undefined where no page has it. */
  #find(segment: Segment, term: string): PostingPageReader | undefined {
    const bytes = Buffer.from(term)
    const page = lastAtMost(segment.firstTerms, bytes)
    const reader = page < 0 ? undefined : this.#openPage(segment, page)
    return reader?.find(bytes) === true ? reader : undefined
  }

  #postingsIn(segment: Segment, page: PostingPageReader | undefined): Postings {
    if (page === undefined) return none
    const postings = page.postings()
    return segment.dead === 0 ? postings : narrow(postings, this.#dropDead(segment, postings))
  }

  #openPage(segment: Segment, page: number): PostingPageReader {
    const row = this.#page.get(segment.firstPage + page)
    const reader = isIntact("posting_pages", row) ? PostingPageReader.open(asBlob(row["body"])) : undefined
    if (reader === undefined) throw new IndexDamage(`page ${page} of segment ${segment.id}`)
    return reader
  }

  /** Moves the postings of live chunks to the front, and returns their number. */
  #dropDead(segment: Segment, { frequencies, ordinals }: Postings): number {
    let kept = 0
    for (let i = 0; i < ordinals.length; i++) {
      const ordinal = ordinals[i] as number
      if (this.live[segment.offset + ordinal] === 0) continue
      ordinals[kept] = ordinal
      frequencies[kept++] = frequencies[i] as number
    }
    return kept
  }

  #totalLength(): number {
    let total = 0
    for (const { lengths, offset } of this.segments) {
      for (let i = 0; i < lengths.length; i++) if (this.live[offset + i] === 1) total += lengths[i] as number
    }
    return total
  }

  #lengths(): Uint16Array {
    const lengths = new Uint16Array(this.slots)
    for (const { lengths: own, offset } of this.segments) {
      for (let i = 0; i < own.length; i++) lengths[offset + i] = Math.min(0xffff, own[i] as number)
    }
    return lengths
  }

  #norms(): Float64Array {
    const average = this.liveChunks === 0 ? 0 : this.totalLength / this.liveChunks
    let longest = 0
    // By index: until it is compiled, an iterator takes ten times as long.
    for (let slot = 0; slot < this.slots; slot++) longest = Math.max(longest, this.lengths[slot] as number)
    return Float64Array.from({ length: longest + 1 }, (_, length) => lengthNorm(length, average, this.bm25))
  }
}

const postingsKey = ({ dead, id }: Segment, term: string): string => `p${id}.${dead} ${term}`

const readSegment = (db: DatabaseSync, row: Row): SegmentBody & Pick<Segment, "firstPage" | "firstTerms" | "listedComponents"> => {
  const id = Number(row["id"])
  const firstPage = Number(row["first_page"])
  const pages = Number(row["pages"])
  const body = unpackSegmentBody(asBlob(row["body"]))
  if (body === undefined) throw new IndexDamage(`segment ${id}`)
  const firstTerms = body.firstTerms ?? firstTermsOf(db, row)
  if (firstTerms.length !== pages) throw new IndexDamage(`${firstTerms.length} of ${pages} pages of segment ${id}`)
  const listedComponents = listedComponentsOf(db, id)
  if (listedComponents === undefined) throw new IndexDamage(`vector lists of segment ${id}`)
  return { ...body, firstPage, firstTerms, listedComponents }
}

/** First terms of a segment, read from all of its pages: segments of earlier versions do not have them in their body. */
const firstTermsOf = (db: DatabaseSync, row: Row): ReadonlyArray<Uint8Array> => {
  const first = Number(row["first_page"])
  const terms = db.prepare("SELECT first_term FROM posting_pages WHERE id >= ? AND id < ? ORDER BY id")
    .all(first, first + Number(row["pages"]))
    .map((page) => asBlob(page["first_term"]))
  const sum = row["first_terms"]
  if (sum === null || sum === terms.reduce((sum, term) => crc32(term, sum), 0)) return terms
  throw new IndexDamage(`first terms of segment ${Number(row["id"])}`)
}

const liveMask = (
  chunks: Float64Array,
  tombstones: ReadonlyArray<Record<string, unknown>>
): { readonly live: Uint8Array; readonly dead: number } => {
  const live = new Uint8Array(chunks.length).fill(1)
  const last = chunks.at(-1) ?? -1
  let dead = 0
  for (const row of tombstones) {
    const first = Number(row["first_chunk"])
    if (first < (chunks[0] ?? 0) || first > last) continue
    const from = ordinalFrom(chunks, first)
    const to = ordinalFrom(chunks, first + Number(row["chunks"]))
    live.fill(0, from, to)
    dead += to - from
  }
  return { live, dead }
}

/** Index of the last of the sorted `values` that is `value` or less; -1 where all are greater. */
const lastAtMost = (values: ReadonlyArray<Uint8Array>, value: Uint8Array): number => {
  let low = 0
  let high = values.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (Buffer.compare(values[middle] as Uint8Array, value) <= 0) low = middle + 1
    else high = middle
  }
  return low - 1
}
