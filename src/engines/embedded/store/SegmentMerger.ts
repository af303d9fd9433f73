import type { DatabaseSync, StatementSync } from "node:sqlite"
import { ByteWriter } from "./Bytes.ts"
import { mergePlan } from "./MergePlan.ts"
import { PostingPageReader, type PostingPageWriter } from "./PostingPages.ts"
import { ordinalFrom, unpackSegmentBody, type SegmentBody } from "./SegmentBody.ts"
import { checkedColumns, isIntact } from "./Checksum.ts"
import { SegmentDamage, type SegmentRow, summed, type SegmentTable } from "./SegmentTable.ts"

const dead = 0xffffffff

/** Merges neighbouring segments into one, leaving out dead chunks. Pages are streamed: memory stays flat. */
export class SegmentMerger {
  readonly #table: SegmentTable
  readonly #tombstones: StatementSync
  readonly #forget: StatementSync

  constructor(db: DatabaseSync, table: SegmentTable) {
    this.#table = table
    this.#tombstones = db.prepare(`SELECT ${checkedColumns("tombstones")} FROM tombstones WHERE corpus = ? ORDER BY first_chunk`)
    this.#forget = db.prepare("DELETE FROM tombstones WHERE corpus = ? AND first_chunk BETWEEN ? AND ?")
  }

  /**
   * Does one merge if the corpus needs one, in the caller's transaction; false when there was nothing to do.
   *
   * @throws {SegmentDamage}
   */
  step(corpus: number, ratio: number): boolean {
    const segments = this.#table.list(corpus)
    const tombstones = this.#tombstones.all(corpus).map((row): Tombstone => {
      if (!isIntact("tombstones", row)) throw new SegmentDamage(`tombstone of chunk ${String(row["first_chunk"])}`)
      return { first: Number(row["first_chunk"]), count: Number(row["chunks"]) }
    })
    const buriedIn = (segment: SegmentRow) => tombstones.filter(({ first }) => first >= segment.firstChunk && first <= segment.lastChunk)
    const run = mergePlan(
      segments.map((segment) => ({
        chunks: segment.chunks,
        dead: buriedIn(segment).reduce((sum, { count }) => sum + count, 0)
      })),
      ratio
    )
    if (run === undefined) return false
    const merged = segments.slice(run.from, run.to)
    const inputs = merged.map((segment) => this.#open(segment, buriedIn(segment)))
    const body = concatenate(inputs)
    if (body.chunks.length > 0) {
      const analyzers = summed(merged.map((segment) => segment.analyzers))
      this.#table.insert(corpus, body, analyzers, (pages) => mergeTerms(this.#table, inputs, pages))
    }
    for (const segment of merged) {
      this.#table.delete(segment)
      this.#forget.run(corpus, segment.firstChunk, segment.lastChunk)
    }
    return true
  }

  #open(segment: SegmentRow, tombstones: ReadonlyArray<Tombstone>): Input {
    const body = unpackSegmentBody(this.#table.body(segment.id))
    if (body === undefined) throw new SegmentDamage(`segment ${segment.id}`)
    const target = new Uint32Array(body.chunks.length)
    for (const { count, first } of tombstones) {
      target.fill(dead, ordinalFrom(body.chunks, first), ordinalFrom(body.chunks, first + count))
    }
    return { segment, body, target, whole: tombstones.length === 0 }
  }
}

interface Tombstone {
  readonly first: number
  readonly count: number
}

/** A segment being merged, and where each of its ordinals goes. */
interface Input {
  readonly segment: SegmentRow
  readonly body: SegmentBody
  /** New ordinal by old one, or {@link dead}. */
  readonly target: Uint32Array
  /** No chunk of it is dead: all ordinals move by the same amount. */
  readonly whole: boolean
}

/** The body of the merged segment; fills in each input's `target`. */
const concatenate = (inputs: ReadonlyArray<Input>): SegmentBody => {
  let count = 0
  for (const { target } of inputs) {
    for (let i = 0; i < target.length; i++) if (target[i] !== dead) target[i] = count++
  }
  const merged: SegmentBody = {
    chunks: new Float64Array(count),
    lengths: new Uint32Array(count),
    embeddings: new Float64Array(count)
  }
  for (const { body, target } of inputs) {
    for (let i = 0; i < target.length; i++) {
      const to = target[i] as number
      if (to === dead) continue
      merged.chunks[to] = body.chunks[i] as number
      merged.lengths[to] = body.lengths[i] as number
      merged.embeddings[to] = body.embeddings[i] as number
    }
  }
  return merged
}

/** Reads one segment's terms in order, a page at a time. */
class TermCursor {
  readonly #table: SegmentTable
  readonly #input: Input
  /** Place among the inputs: equal terms are taken in this order. */
  readonly place: number
  #nextPage = 0
  page: PostingPageReader

  /** At the first term, or undefined where there is none. */
  static open(table: SegmentTable, input: Input, place: number): TermCursor | undefined {
    const cursor = input.segment.pages === 0 ? undefined : new TermCursor(table, input, place)
    return cursor?.advance() === true ? cursor : undefined
  }

  private constructor(table: SegmentTable, input: Input, place: number) {
    this.#table = table
    this.#input = input
    this.place = place
    this.page = this.#openPage()
  }

  /** To the next term; false at the end. */
  advance(): boolean {
    while (!this.page.next()) {
      if (this.#nextPage >= this.#input.segment.pages) return false
      this.page = this.#openPage()
    }
    return true
  }

  /** Appends the current term's live postings under their new ordinals. */
  appendTo(pages: PostingPageWriter): void {
    const { target, whole } = this.#input
    if (whole) {
      this.page.appendTo(pages.list, target[0] as number)
      return
    }
    const { frequencies, ordinals } = this.page.postings()
    for (let i = 0; i < ordinals.length; i++) {
      const to = target[ordinals[i] as number] as number
      if (to !== dead) pages.list.add(to, frequencies[i] as number)
    }
  }

  #openPage(): PostingPageReader {
    const { firstPage, id } = this.#input.segment
    const page = PostingPageReader.open(this.#table.page(firstPage + this.#nextPage++))
    if (page === undefined) throw new SegmentDamage(`page ${this.#nextPage - 1} of segment ${id}`)
    return page
  }
}

/** Negative where `a` comes first: by term, then by place. */
const compareCursors = (a: TermCursor, b: TermCursor): number => compareTerms(a.page, b.page) || a.place - b.place

const compareTerms = (a: PostingPageReader, b: PostingPageReader): number => {
  const { termBytes: left, termLength: leftLength } = a
  const { termBytes: right, termLength: rightLength } = b
  const limit = Math.min(leftLength, rightLength)
  for (let i = 0; i < limit; i++) {
    const difference = (left[i] as number) - (right[i] as number)
    if (difference !== 0) return difference
  }
  return leftLength - rightLength
}

/** A k-way merge: the cursors are a binary heap by {@link compareCursors}. */
const mergeTerms = (table: SegmentTable, inputs: ReadonlyArray<Input>, pages: PostingPageWriter): void => {
  const heap = inputs.map((input, place) => TermCursor.open(table, input, place)).filter((cursor) => cursor !== undefined)
  heap.sort(compareCursors)
  const term = new ByteWriter()
  /** Writes the term in hand, if any of its postings is live. */
  const close = (): void => {
    if (pages.list.count > 0) pages.add(term.view(), term.length)
  }
  while (heap.length > 0) {
    const cursor = heap[0] as TermCursor
    const { termBytes, termLength } = cursor.page
    if (term.length !== termLength || term.sharedPrefix(termBytes, termLength) !== termLength) {
      close()
      pages.list.start()
      term.clear()
      term.bytes(termBytes, 0, termLength)
    }
    cursor.appendTo(pages)
    if (!cursor.advance()) {
      const last = heap.pop() as TermCursor
      if (last !== cursor) heap[0] = last
    }
    if (heap.length > 0) sink(heap)
  }
  close()
}

/** Moves the heap's root down to its place. */
const sink = (heap: Array<TermCursor>): void => {
  const moving = heap[0] as TermCursor
  let at = 0
  while (true) {
    const left = at * 2 + 1
    if (left >= heap.length) break
    const right = left + 1
    const child = right < heap.length && compareCursors(heap[right] as TermCursor, heap[left] as TermCursor) < 0 ? right : left
    if (compareCursors(heap[child] as TermCursor, moving) >= 0) break
    heap[at] = heap[child] as TermCursor
    at = child
  }
  heap[at] = moving
}
