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
  /** Row id of the segment's first posting page; the others follow it. */
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

/** The analyzers of a segment's chunks, each with the number of chunks whose own words showed it. */
export type AnalyzerCounts = Readonly<Partial<Record<AnalyzerId, number>>>

/** The analyzers in a row of `segments`. Older versions of the analysis stored their names alone. */
export const analyzersIn = (row: Row): AnalyzerCounts => {
  // The column is written by insert below, or by its predecessor in an older version.
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

/** Ids that a segment is written under: its row, its first page, and the number of reserved pages. */
export interface SegmentIds {
  readonly segment: number
  readonly firstPage: number
  readonly room: number
}

/** Writes terms to pages in ascending order, in steps. */
export type WriteTerms = (pages: PostingPageWriter) => Iterable<void>

/** Rows of `counters` with the {@link SegmentIds} of a merge under way. */
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

  /** Writes a segment, whose terms come from `writeTerms`, and returns its row id. */
  insert(corpus: number, body: SegmentBody, analyzers: ReadonlyMap<AnalyzerId, number>, writeTerms: WriteTerms): number {
    const ids = this.nextIds()
    for (const _ of this.inserting(corpus, body, analyzers, ids, writeTerms)) continue
    return ids.segment
  }

  /** The ids that a segment would get if it were written now. */
  nextIds(): SegmentIds {
    return { segment: this.#last("segments") + 1, firstPage: this.#last("posting_pages") + 1, room: Number.POSITIVE_INFINITY }
  }

  /**
   * Reserves ids for a segment that is written in several transactions. It is called in one that has written part of it. What is written
   * under them belongs to no segment until the last step.
   */
  reserve(ids: SegmentIds): void {
    this.#setSequence.run(ids.firstPage + ids.room - 1, "posting_pages")
    this.#setSequence.run(ids.segment, "segments")
    for (const [name, value] of notes(ids)) this.#note.run(name, value)
  }

  /** Whether the ids are still reserved: another process may have taken what was written under them for abandoned. */
  isReserved(ids: SegmentIds): boolean {
    const noted = this.#reserved()
    return noted?.segment === ids.segment && noted.firstPage === ids.firstPage
  }

  /** Ends the reservation, after its segment was written. */
  settle(): void {
    this.#unnote.run()
  }

  /** Deletes what unfinished merges left behind. */
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
   * Like {@link insert}, but in steps: other writers may write in between, as long as the ids are reserved. The segment exists after the
   * last step. `parts`: the segments that it is made of.
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

  /** The highest id that a table ever assigned. */
  #last(table: "posting_pages" | "segments"): number {
    return Number(this.#sequence.get(table)?.["seq"] ?? 0)
  }

  /** The segments of a corpus, oldest first; their ranges of chunk numbers do not overlap. @throws {SegmentDamage} */
  list(corpus: number): ReadonlyArray<SegmentRow & { readonly analyzers: AnalyzerCounts }> {
    return this.#list.all(corpus).map((row) => {
      if (!isIntact("segments", row)) throw new SegmentDamage(`segment ${String(row["id"])}`)
      // Merged, it would pass for a segment of the current version.
      if (row["analysis"] !== analysisVersion) throw new SegmentDamage(`segment ${String(row["id"])} is of another version of the analysis`)
      return { ...segmentOf(row), analyzers: analyzersIn(row) }
    })
  }

  /** The analyzers of each segment of the current version of the analysis. */
  analyzers(corpus: number): ReadonlyArray<AnalyzerCounts> {
    return this.#analyzers.all(corpus, analysisVersion).map(analyzersIn)
  }

  /** Deletes every segment of a corpus. A damaged one may name wrong pages, so pages are deleted because no segment has them. */
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

  /** A posting page; empty where it is not as it was written. */
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
