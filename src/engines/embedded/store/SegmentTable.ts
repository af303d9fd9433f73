import type { DatabaseSync, StatementSync } from "node:sqlite"
import { crc32 } from "node:zlib"
import { analysisVersion } from "../../../search/analysis/AnalysisVersion.ts"
import type { AnalyzerId } from "../../../search/analysis/Detection.ts"
import { asBlob, checkedColumns, isIntact, type Row, sumOf } from "./Checksum.ts"
import { PostingPageWriter } from "./PostingPages.ts"
import { packSegmentBody, type SegmentBody } from "./SegmentBody.ts"
import { DamagedLists, type ListedPart, VectorListTable } from "./VectorLists.ts"

export interface SegmentRow {
  readonly id: number
  readonly firstChunk: number
  readonly lastChunk: number
  readonly chunks: number
  /** Row of its first posting page; the others follow it. */
  readonly firstPage: number
  readonly pages: number
}

/** Thrown when a segment cannot be read; the index is rebuilt from the chunks. */
export class SegmentDamage extends Error {}

const segmentOf = (row: Row): SegmentRow => ({
  id: Number(row["id"]),
  firstChunk: Number(row["first_chunk"]),
  lastChunk: Number(row["last_chunk"]),
  chunks: Number(row["chunks"]),
  firstPage: Number(row["first_page"]),
  pages: Number(row["pages"])
})

/** By analyzer of a segment's chunks, of how many of them the words told that it is theirs. */
export type AnalyzerCounts = Readonly<Partial<Record<AnalyzerId, number>>>

/** The analyzers in a row of `segments`. Older versions of the analysis noted their names alone. */
export const analyzersIn = (row: Row): AnalyzerCounts => {
  // Written by insert below, or what was in its place.
  const written = JSON.parse(String(row["analyzers"])) as AnalyzerCounts | ReadonlyArray<AnalyzerId>
  return isNames(written) ? Object.fromEntries(written.map((name) => [name, 0])) : written
}

const isNames = (written: AnalyzerCounts | ReadonlyArray<AnalyzerId>): written is ReadonlyArray<AnalyzerId> => Array.isArray(written)

/** The counts of several segments together. */
export const summed = (counts: Iterable<AnalyzerCounts>): Map<AnalyzerId, number> => {
  const sums = new Map<AnalyzerId, number>()
  for (const one of counts) {
    for (const [analyzer, count] of Object.entries(one) as ReadonlyArray<[AnalyzerId, number]>) {
      sums.set(analyzer, (sums.get(analyzer) ?? 0) + count)
    }
  }
  return sums
}

/** What a segment is written under: its row, the first of its pages, and for how many pages there is room. */
export interface SegmentIds {
  readonly segment: number
  readonly firstPage: number
  readonly room: number
}

/** Writes terms in order, in steps. */
export type WriteTerms = (pages: PostingPageWriter) => Iterable<void>

/** Rows of `counters`: the {@link SegmentIds} of a merge that is under way. */
const noteNames = ["merge segment", "merge page", "merge room"] as const
const notes = ({ firstPage, room, segment }: SegmentIds) => [segment, firstPage, room].map((value, at) => [noteNames[at]!, value] as const)

/** The rows of segments and posting pages, for the writer. */
export class SegmentTable {
  readonly #insertSegment: StatementSync
  readonly #insertPage: StatementSync
  readonly #list: StatementSync
  readonly #analyzers: StatementSync
  readonly #sequence: StatementSync
  readonly #deleteStray: StatementSync
  readonly #body: StatementSync
  readonly #page: StatementSync
  readonly #deletePages: StatementSync
  readonly #deleteSegment: StatementSync
  readonly #setSequence: StatementSync
  readonly #note: StatementSync
  readonly #noted: StatementSync
  readonly #unnote: StatementSync
  readonly #vectorLists: VectorListTable

  constructor(db: DatabaseSync) {
    this.#insertSegment = db.prepare(
      `INSERT INTO segments (id, corpus, first_chunk, last_chunk, chunks, first_page, pages, analysis, analyzers, first_terms, body, sum)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
    )
    this.#insertPage = db.prepare("INSERT INTO posting_pages (id, first_term, body, sum) VALUES (?, ?, ?, ?)")
    this.#list = db.prepare(`SELECT ${checkedColumns("segments")} FROM segments WHERE corpus = ? ORDER BY first_chunk`)
    this.#analyzers = db.prepare("SELECT analyzers FROM segments WHERE corpus = ? AND analysis = ?")
    this.#sequence = db.prepare("SELECT seq FROM sqlite_sequence WHERE name = ?")
    this.#deleteStray = db.prepare(
      "DELETE FROM posting_pages WHERE NOT EXISTS (SELECT 1 FROM segments s WHERE posting_pages.id >= s.first_page AND posting_pages.id < s.first_page + s.pages)"
    )
    this.#body = db.prepare("SELECT body FROM segments WHERE id = ?")
    this.#page = db.prepare(`SELECT ${checkedColumns("posting_pages")} FROM posting_pages WHERE id = ?`)
    this.#deletePages = db.prepare("DELETE FROM posting_pages WHERE id >= ? AND id < ?")
    this.#deleteSegment = db.prepare("DELETE FROM segments WHERE id = ?")
    this.#setSequence = db.prepare("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?")
    this.#note = db.prepare("INSERT OR REPLACE INTO counters (name, value) VALUES (?, ?)")
    this.#noted = db.prepare("SELECT name, value FROM counters WHERE name LIKE 'merge %'")
    this.#unnote = db.prepare("DELETE FROM counters WHERE name LIKE 'merge %'")
    this.#vectorLists = new VectorListTable(db)
  }

  /** Writes a segment, and gives its row; `writeTerms` gives its terms in order. */
  insert(corpus: number, body: SegmentBody, analyzers: ReadonlyMap<AnalyzerId, number>, writeTerms: WriteTerms): number {
    const ids = this.nextIds()
    for (const _ of this.inserting(corpus, body, analyzers, ids, writeTerms)) continue
    return ids.segment
  }

  /** The ids that a segment would have which is written now. */
  nextIds(): SegmentIds {
    return { segment: this.#last("segments") + 1, firstPage: this.#last("posting_pages") + 1, room: Number.POSITIVE_INFINITY }
  }

  /**
   * Keeps ids for a segment that is written in several transactions, in one that has written some of it, and notes that
   * it is: what is written under them is nobody's until the last step.
   */
  reserve(ids: SegmentIds): void {
    this.#setSequence.run(ids.firstPage + ids.room - 1, "posting_pages")
    this.#setSequence.run(ids.segment, "segments")
    for (const [name, value] of notes(ids)) this.#note.run(name, value)
  }

  /** Whether the ids are still noted: another process may have taken what was written under them for left behind. */
  isReserved(ids: SegmentIds): boolean {
    const noted = this.#reserved()
    return noted?.segment === ids.segment && noted.firstPage === ids.firstPage
  }

  /** Takes back a reservation whose segment is written. */
  settle(): void {
    this.#unnote.run()
  }

  /** Deletes what a merge left behind that did not get to its end. */
  sweep(): void {
    const ids = this.#reserved()
    if (ids === undefined) return
    this.#vectorLists.delete(ids.segment)
    this.#deletePages.run(ids.firstPage, ids.firstPage + ids.room)
    this.settle()
  }

  #reserved(): SegmentIds | undefined {
    const noted = new Map(this.#noted.all().map((row) => [String(row["name"]), Number(row["value"])]))
    const [segment, firstPage, room] = noteNames.map((name) => noted.get(name))
    return segment === undefined || firstPage === undefined || room === undefined ? undefined : { segment, firstPage, room }
  }

  /**
   * {@link insert} in steps: between two others may write, as long as the ids are kept. The segment is there with the last.
   * `parts`: of what segments it is made.
   *
   * @throws {SegmentDamage}
   */
  *inserting(
    corpus: number,
    body: SegmentBody,
    analyzers: ReadonlyMap<AnalyzerId, number>,
    { firstPage, room, segment }: SegmentIds,
    writeTerms: WriteTerms,
    parts: ReadonlyArray<ListedPart> = [body]
  ): Generator<void, void> {
    const count = body.chunks.length
    const firstTerms: Array<Uint8Array> = []
    let sumOfTerms = 0
    const writer = new PostingPageWriter(({ body, firstTerm }) => {
      if (firstTerms.length >= room) throw new Error(`segment ${segment} has more pages than were kept for it`)
      const id = firstPage + firstTerms.length
      firstTerms.push(firstTerm)
      sumOfTerms = crc32(firstTerm, sumOfTerms)
      this.#insertPage.run(id, firstTerm, body, sumOf("posting_pages", { id, first_term: firstTerm, body }))
    })
    yield* writeTerms(writer)
    writer.finish()
    try {
      yield* this.#vectorLists.insert(segment, parts)
    } catch (cause) {
      throw cause instanceof DamagedLists ? new SegmentDamage(`vector lists that segment ${segment} is made of`) : cause
    }
    const row = {
      id: segment,
      corpus,
      first_chunk: body.chunks[0] ?? 0,
      last_chunk: body.chunks[count - 1] ?? 0,
      chunks: count,
      first_page: firstPage,
      pages: firstTerms.length,
      analysis: analysisVersion,
      analyzers: JSON.stringify(Object.fromEntries([...analyzers].sort())),
      first_terms: sumOfTerms,
      body: packSegmentBody({ ...body, firstTerms })
    }
    this.#insertSegment.run(...Object.values(row), sumOf("segments", row))
  }

  /** The highest id a table ever gave. */
  #last(table: "posting_pages" | "segments"): number {
    return Number(this.#sequence.get(table)?.["seq"] ?? 0)
  }

  /** Oldest first; their ranges of chunk numbers do not overlap. @throws {SegmentDamage} */
  list(corpus: number): ReadonlyArray<SegmentRow & { readonly analyzers: AnalyzerCounts }> {
    return this.#list.all(corpus).map((row) => {
      if (!isIntact("segments", row)) throw new SegmentDamage(`segment ${String(row["id"])}`)
      // Merged they would pass for ones of today.
      if (row["analysis"] !== analysisVersion) throw new SegmentDamage(`segment ${String(row["id"])} is of another version of the analysis`)
      return { ...segmentOf(row), analyzers: analyzersIn(row) }
    })
  }

  /** The analyzers of each segment; of segments of another version of the analysis nothing. */
  analyzers(corpus: number): ReadonlyArray<AnalyzerCounts> {
    return this.#analyzers.all(corpus, analysisVersion).map(analyzersIn)
  }

  /** Deletes every segment of a corpus. What a damaged one says of its pages is not believed: they go because nobody has them. */
  drop(corpus: number): void {
    let damaged = false
    for (const row of this.#list.all(corpus)) {
      const segment = segmentOf(row)
      if (isIntact("segments", row)) this.delete(segment)
      else {
        damaged = true
        this.#vectorLists.delete(segment.id)
        this.#deleteSegment.run(segment.id)
      }
    }
    if (damaged) this.#deleteStray.run()
  }

  body(segment: number): Uint8Array {
    return asBlob(this.#body.get(segment)?.["body"])
  }

  /** A posting page; nothing where it is not as it was written. */
  page(id: number): Uint8Array {
    const row = this.#page.get(id)
    return isIntact("posting_pages", row) ? asBlob(row["body"]) : new Uint8Array(0)
  }

  delete({ firstPage, id, pages }: SegmentRow): void {
    this.#vectorLists.delete(id)
    this.#deletePages.run(firstPage, firstPage + pages)
    this.#deleteSegment.run(id)
  }
}
