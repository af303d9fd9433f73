import type { DatabaseSync, StatementSync } from "node:sqlite"
import { analysisVersion } from "../../../search/analysis/Analyzer.ts"
import { PostingPageWriter } from "./PostingPages.ts"
import { asBlob } from "./Rows.ts"
import { packSegmentBody, type SegmentBody } from "./SegmentBody.ts"

export interface SegmentRow {
  readonly id: number
  readonly firstChunk: number
  readonly lastChunk: number
  readonly chunks: number
  /** Row of its first posting page; the others follow it. */
  readonly firstPage: number
  readonly pages: number
}

/** The rows of segments and posting pages, for the writer. */
export class SegmentTable {
  readonly #insertSegment: StatementSync
  readonly #insertPage: StatementSync
  readonly #list: StatementSync
  readonly #body: StatementSync
  readonly #page: StatementSync
  readonly #deletePages: StatementSync
  readonly #deleteSegment: StatementSync

  constructor(db: DatabaseSync) {
    this.#insertSegment = db.prepare(
      `INSERT INTO segments (corpus, first_chunk, last_chunk, chunks, first_page, pages, analysis, analyzers, body)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
    )
    this.#insertPage = db.prepare("INSERT INTO posting_pages (first_term, body) VALUES (?, ?)")
    this.#list = db.prepare(
      `SELECT id, first_chunk, last_chunk, chunks, first_page, pages, analyzers FROM segments
        WHERE corpus = ? ORDER BY first_chunk`
    )
    this.#body = db.prepare("SELECT body FROM segments WHERE id = ?")
    this.#page = db.prepare("SELECT body FROM posting_pages WHERE id = ?")
    this.#deletePages = db.prepare("DELETE FROM posting_pages WHERE id >= ? AND id < ?")
    this.#deleteSegment = db.prepare("DELETE FROM segments WHERE id = ?")
  }

  /** Writes a segment; `writeTerms` gives its terms in order. */
  insert(
    corpus: number,
    body: SegmentBody,
    analyzers: Iterable<string>,
    writeTerms: (pages: PostingPageWriter) => void
  ): void {
    const count = body.chunks.length
    let firstPage = 0
    let pages = 0
    const writer = new PostingPageWriter((page) => {
      const { lastInsertRowid } = this.#insertPage.run(page.firstTerm, page.body)
      if (pages++ === 0) firstPage = Number(lastInsertRowid)
    })
    writeTerms(writer)
    writer.finish()
    this.#insertSegment.run(
      corpus,
      body.chunks[0] ?? 0,
      body.chunks[count - 1] ?? 0,
      count,
      firstPage,
      pages,
      analysisVersion,
      JSON.stringify([...analyzers].sort()),
      packSegmentBody(body)
    )
  }

  /** Oldest first; their ranges of chunk numbers do not overlap. */
  list(corpus: number): ReadonlyArray<SegmentRow & { readonly analyzers: ReadonlyArray<string> }> {
    return this.#list.all(corpus).map((row) => ({
      id: Number(row["id"]),
      firstChunk: Number(row["first_chunk"]),
      lastChunk: Number(row["last_chunk"]),
      chunks: Number(row["chunks"]),
      firstPage: Number(row["first_page"]),
      pages: Number(row["pages"]),
      // Written by insert above.
      analyzers: JSON.parse(String(row["analyzers"])) as ReadonlyArray<string>
    }))
  }

  body(segment: number): Uint8Array {
    return asBlob(this.#body.get(segment)?.["body"])
  }

  page(id: number): Uint8Array {
    return asBlob(this.#page.get(id)?.["body"])
  }

  delete({ firstPage, id, pages }: SegmentRow): void {
    this.#deletePages.run(firstPage, firstPage + pages)
    this.#deleteSegment.run(id)
  }
}
