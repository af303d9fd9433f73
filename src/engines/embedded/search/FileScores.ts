import type { DatabaseSync, StatementSync } from "node:sqlite"
import { numberedName, numberedNames } from "../../../text/NumberedNames.ts"
import { analyzeQuery } from "../../../search/analysis/Analyzer.ts"
import { areIntact, checkedColumns, columnAt, preparedValues, type RowValues } from "../store/Checksum.ts"
import type { CorpusRow } from "../store/Rows.ts"
import { lengthNorm, termScore } from "./Bm25.ts"
import type { Postings } from "../store/Postings.ts"
import type { CorpusIndex, Segment } from "./CorpusIndex.ts"
import type { ScoredTerm } from "./QueryTerms.ts"
import type { SlotRange } from "./Scores.ts"

/** A file in the index: the slots of its chunks, `from` to `to - 1`, and how many terms they have together. */
interface IndexedFile {
  readonly segment: Segment
  readonly from: number
  readonly to: number
  readonly length: number
}

/** Files of an index that were looked up so far. */
interface KnownFiles {
  /** Place of each slot's file in `files`, counted from 1; 0 where it was not looked up. */
  readonly places: Uint32Array
  readonly files: Array<IndexedFile>
  /** Places of the files whose title or name has a term. */
  readonly titled: Map<string, Set<number>>
}

/** Scores of the candidates' files, in the order of the candidates. */
export interface ScoresOfFiles {
  /** BM25 of the whole file. Absent where every file is a single chunk: the chunk's own score says the same. */
  readonly whole: Float64Array | undefined
  /** Share of the question's terms, by their weights, that the title or the name of the file has: 0 to 1. */
  readonly title: Float64Array
}

/** Scores the files of candidates: a passage is more likely to answer the question if its whole file is about it. */
export class FileScores {
  readonly #file: ReturnType<typeof preparedValues>
  readonly #damaged: (chunk: number) => Error
  /** Files by index, and so for as long as the corpus does not change. */
  readonly #files = new WeakMap<CorpusIndex, KnownFiles>()
  readonly #numbered: StatementSync
  readonly #byNumber = new WeakMap<CorpusIndex, ReadonlyMap<string, ReadonlyArray<SlotRange>>>()

  /** `damaged` makes the error that is thrown where a chunk's file is missing or damaged. */
  constructor(db: DatabaseSync, damaged: (chunk: number) => Error) {
    this.#file = preparedValues(
      db,
      `SELECT ${checkedColumns("files")} FROM files WHERE chunks > 0 AND first_chunk <= ? ORDER BY first_chunk DESC LIMIT 1`
    )
    this.#numbered = db.prepare("SELECT display_name, first_chunk, chunks FROM files WHERE corpus = ?")
    this.#damaged = damaged
  }

  /**
   * Ascending slots of the files that the question names by their numbers: "PEP 8" is `pep-0008.rst`. A name that fits more than
   * {@link mostNamed} files counts for none of them.
   */
  named(index: CorpusIndex, corpus: CorpusRow, query: string): ReadonlyArray<SlotRange> {
    const names = numberedNames(query)
    if (names.size === 0) return []
    let known = this.#byNumber.get(index)
    if (known === undefined) this.#byNumber.set(index, known = this.#numberedFiles(index, corpus))
    return [...names].flatMap((name) => {
      const files = known.get(name) ?? []
      return files.length > mostNamed ? [] : files
    }).sort((a, b) => a.from - b.from)
  }

  #numberedFiles(index: CorpusIndex, corpus: CorpusRow): ReadonlyMap<string, ReadonlyArray<SlotRange>> {
    const files = new Map<string, Array<SlotRange>>()
    for (const row of this.#numbered.iterate(corpus.id)) {
      const name = numberedName(String(row["display_name"]))
      if (name === undefined) continue
      const same = files.get(name) ?? []
      if (same.length <= mostNamed) same.push(index.slotsOf(Number(row["first_chunk"]), Number(row["chunks"])))
      files.set(name, same)
    }
    return files
  }

  /** Scores of the files of the chunks at `slots`, which ascend. @throws {StoreDamage} */
  scores(index: CorpusIndex, corpus: CorpusRow, terms: ReadonlyArray<ScoredTerm>, slots: Int32Array): ScoresOfFiles {
    const known = this.#knownOf(index)
    const places = Uint32Array.from(slots, (slot) => this.#placeOf(index, known, slot))
    const averageLength = index.totalLength / corpus.files
    return {
      whole: index.liveChunks === corpus.files ? undefined : wholeScores(known, places, terms, averageLength),
      title: titleScores(known, places, terms)
    }
  }

  /** Slots of the first `most` files of the chunks at `slots`, each file once, in the order of the chunks. @throws {StoreDamage} */
  rangesOf(index: CorpusIndex, slots: ReadonlyArray<number>, most: number): ReadonlyArray<SlotRange> {
    const known = this.#knownOf(index)
    const places = new Set<number>()
    for (const slot of slots) {
      places.add(this.#placeOf(index, known, slot))
      if (places.size === most) break
    }
    return [...places].map((place) => known.files[place - 1] as IndexedFile)
  }

  #knownOf(index: CorpusIndex): KnownFiles {
    let known = this.#files.get(index)
    if (known === undefined) this.#files.set(index, known = { places: new Uint32Array(index.slots), files: [], titled: new Map() })
    return known
  }

  #placeOf(index: CorpusIndex, { files, places, titled }: KnownFiles, slot: number): number {
    const known = places[slot] as number
    if (known > 0) return known
    const chunk = index.chunkAt(slot)
    const row = this.#file.get(chunk)
    const first = Number(row?.[columnsAt.first])
    const count = Number(row?.[columnsAt.chunks])
    if (!areIntact("files", row) || chunk < first || chunk >= first + count) throw this.#damaged(chunk)
    const { from, to } = index.slotsOf(first, count)
    const segment = index.segmentAt(from)
    let length = 0
    for (let slot = from; slot < to; slot++) length += segment.lengths[slot - segment.offset] ?? 0
    const place = files.push({ segment, from, to, length })
    places.fill(place, from, to)
    for (const term of namesOf(row, index)) {
      const having = titled.get(term)
      if (having === undefined) titled.set(term, new Set([place]))
      else having.add(place)
    }
    return place
  }
}

/** Most files that one name may mean. */
const mostNamed = 4

const columnsAt = {
  first: columnAt("files", "first_chunk"),
  chunks: columnAt("files", "chunks"),
  displayName: columnAt("files", "display_name"),
  title: columnAt("files", "title")
}

const namesOf = (row: RowValues, index: CorpusIndex): ReadonlySet<string> => {
  const name = String(row[columnsAt.displayName]).replace(/\.\w{1,5}$/, "").replace(/[-_.]/g, " ").replace(
    /(?<![\p{L}\p{N}])0+(?=\d)/gu,
    ""
  )
  const title = row[columnsAt.title] ?? ""
  return new Set(analyzeQuery(`${title}\n${name}`, index.analyzers).map(({ term }) => term))
}

/** A term's posting list in one segment, read from file to file. */
interface TermInSegment {
  readonly postings: Postings
  readonly weight: number
  /** Place of the first posting after the files that were scored so far. */
  next: number
}

const wholeScores = (
  { files }: KnownFiles,
  places: Uint32Array,
  terms: ReadonlyArray<ScoredTerm>,
  averageLength: number
): Float64Array => {
  const scores = new Float64Array(places.length)
  let segment: Segment | undefined
  let inSegment: ReadonlyArray<TermInSegment> = []
  for (let at = 0; at < places.length; at++) {
    const place = places[at] as number
    // A file's chunks are neighbours.
    if (place === places[at - 1]) {
      scores[at] = scores[at - 1] as number
      continue
    }
    const file = files[place - 1] as IndexedFile
    if (file.segment !== segment) {
      segment = file.segment
      inSegment = termsIn(segment, terms)
    }
    scores[at] = fileScore(file, inSegment, lengthNorm(file.length, averageLength))
  }
  return scores
}

const termsIn = (segment: Segment, terms: ReadonlyArray<ScoredTerm>): ReadonlyArray<TermInSegment> =>
  terms.flatMap(({ found, weight }) =>
    found.bySegment.filter((one) => one.segment === segment).map(({ postings }): TermInSegment => ({ postings, weight, next: 0 }))
  )

const fileScore = ({ from, segment: { offset }, to }: IndexedFile, terms: ReadonlyArray<TermInSegment>, norm: number): number => {
  let score = 0
  for (const term of terms) {
    const { postings: { frequencies, ordinals }, weight } = term
    let frequency = 0
    let at = firstFrom(ordinals, from - offset, term.next)
    for (; at < ordinals.length && (ordinals[at] as number) < to - offset; at++) frequency += frequencies[at] as number
    term.next = at
    if (frequency > 0) score += termScore(weight, frequency, norm)
  }
  return score
}

const titleScores = ({ titled }: KnownFiles, places: Uint32Array, terms: ReadonlyArray<ScoredTerm>): Float64Array => {
  const scores = new Float64Array(places.length)
  const total = terms.reduce((sum, { weight }) => sum + weight, 0)
  if (total === 0) return scores
  for (const { term, weight } of terms) {
    const having = titled.get(term)
    if (having !== undefined) { for (let at = 0; at < places.length; at++) if (having.has(places[at] as number)) scores[at]! += weight }
  }
  return scores.map((sum) => sum / total)
}

/** Place of the first of the ascending `ordinals` that is `ordinal` or more. Those before place `from` are known to be less. */
const firstFrom = (ordinals: Postings["ordinals"], ordinal: number, from: number): number => {
  let low = from
  let high = from
  // It is usually near `from`: the step doubles until it is passed.
  for (let step = 1; high < ordinals.length && (ordinals[high] as number) < ordinal; step *= 2) {
    low = high + 1
    high += step
  }
  high = Math.min(high, ordinals.length)
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((ordinals[middle] as number) < ordinal) low = middle + 1
    else high = middle
  }
  return low
}
