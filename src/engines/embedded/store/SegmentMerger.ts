import type { DatabaseSync, StatementSync } from "node:sqlite"
import { ByteWriter } from "./Bytes.ts"
import type { RecentSegments } from "./RecentSegments.ts"
import { mergePlan } from "./MergePlan.ts"
import { PostingPageReader, type PostingPageWriter } from "./PostingPages.ts"
import { ordinalFrom, unpackSegmentBody, type SegmentBody } from "./SegmentBody.ts"
import { checkedColumns, isIntact } from "./Checksum.ts"
import { SegmentDamage, type SegmentIds, type SegmentRow, summed, type SegmentTable, type WriteTerms } from "./SegmentTable.ts"
import { dropped as dead, type ListedPart } from "./VectorLists.ts"

/** Milliseconds after which a step ends; other writers wait for as long. */
const defaultPatience = 250

/** Outcome of a step: no merge was needed, one is under way, or one is done and visible to readers. */
export type MergeStep = "nothing" | "under way" | "done"

/** A merge under way. */
interface Merging {
  readonly corpus: number
  readonly ids: SegmentIds
  readonly inputs: ReadonlyArray<Input>
  /** Whether all inputs are in memory, so that none is read. */
  readonly kept: boolean
  readonly writing: Generator<void, void>
}

/**
 * Merges neighbouring segments into one, without their dead chunks. Pages are streamed, so memory stays flat. A large merge takes several
 * steps, each in a transaction of the caller's, and becomes visible with the last one: until then its pages belong to no segment, under
 * reserved ids. If a merge is never finished, the next one sweeps its pages.
 */
export class SegmentMerger {
  readonly #table: SegmentTable
  readonly #recent: RecentSegments
  readonly #tombstones: StatementSync
  readonly #forget: StatementSync
  readonly #patience: number
  #merging: Merging | undefined
  /** Whether the remains of other processes' merges have been swept. */
  #swept = false

  constructor(db: DatabaseSync, table: SegmentTable, recent: RecentSegments, patience = defaultPatience) {
    this.#table = table
    this.#recent = recent
    this.#patience = patience
    this.#tombstones = db.prepare(`SELECT ${checkedColumns("tombstones")} FROM tombstones WHERE corpus = ? ORDER BY first_chunk`)
    this.#forget = db.prepare("DELETE FROM tombstones WHERE corpus = ? AND first_chunk = ?")
  }

  /** The corpus of the merge under way. */
  get corpus(): number | undefined {
    return this.#merging?.corpus
  }

  /**
   * Does one step of the merge under way, or starts one if the corpus needs it, in the caller's transaction. If that fails,
   * {@link forget} must be called.
   *
   * @throws {SegmentDamage}
   */
  step(corpus: number, ratio: number): MergeStep {
    const resumed = this.#merging
    // Another process took the merge for abandoned and swept it, so it starts again.
    if (resumed !== undefined && !this.#table.isReserved(resumed.ids)) this.#merging = undefined
    const merging = this.#merging ?? this.#begin(corpus, ratio)
    if (merging === undefined) return "nothing"
    const until = performance.now() + this.#patience
    while (merging.writing.next().done !== true) {
      if (performance.now() < until) continue
      if (this.#merging === undefined) this.#table.reserve(merging.ids)
      this.#merging = merging
      return "under way"
    }
    for (const { segment, tombstones } of merging.inputs) {
      this.#table.delete(segment)
      // Tombstones added meanwhile belong to the merged segment.
      for (const { first } of tombstones) this.#forget.run(merging.corpus, first)
    }
    if (this.#merging !== undefined) this.#table.settle()
    this.#merging = undefined
    if (merging.kept) this.#recent.replace(merging.inputs.map(({ segment }) => segment.id), merging.ids.segment)
    else if (merging.inputs.some(({ segment }) => this.#recent.has(segment.id))) this.#recent.forget()
    return "done"
  }

  /** Forgets the merge under way: its transaction failed. The next merge sweeps what it has written. */
  forget(): void {
    this.#merging = undefined
    this.#swept = false
  }

  /** Ends the merge under way, even another process's: segments are deleted that it may be made of. */
  abandon(): void {
    this.#table.sweep()
    this.#merging = undefined
  }

  /** Whether killed processes' merges may have left something behind. */
  get mayHaveStrays(): boolean {
    return !this.#swept && this.#merging === undefined
  }

  /** Deletes what killed processes' merges left behind. */
  sweep(): void {
    this.#table.sweep()
    this.#swept = true
  }

  #begin(corpus: number, ratio: number): Merging | undefined {
    const segments = this.#table.list(corpus)
    const tombstones = this.#tombstones.all(corpus).map((row): Tombstone => {
      if (!isIntact("tombstones", row)) throw new SegmentDamage(`tombstone of chunk ${String(row["first_chunk"])}`)
      return { first: Number(row["first_chunk"]), count: Number(row["chunks"]) }
    })
    const buriedIn = (segment: SegmentRow) => tombstones.filter(({ first }) => first >= segment.firstChunk && first <= segment.lastChunk)
    const planned = mergePlan(
      segments.map((segment) => ({
        chunks: segment.chunks,
        dead: buriedIn(segment).reduce((sum, { count }) => sum + count, 0)
      })),
      ratio
    )
    const due = this.#recent.isDue(corpus)
    const wanted = due ? 0 : planned?.from ?? segments.length
    // The kept segments are merged first, so that of all of them only the result must be read.
    const from = Math.max(wanted, segments.length - this.#recent.countIn(segments))
    const kept = from < segments.length - 1 && segments.slice(from).every((segment) => buriedIn(segment).length === 0)
    if (due && !kept) this.#recent.forget()
    const run = kept ? { from, to: segments.length } : planned
    if (run === undefined) return undefined
    this.#table.sweep()
    const merged = segments.slice(run.from, run.to)
    const inputs = merged.map((segment) => this.#open(segment, buriedIn(segment)))
    const body = concatenate(inputs)
    const parts = partsOf(body, inputs)
    const analyzers = summed(merged.map((segment) => segment.analyzers))
    const ids = { ...this.#table.nextIds(), room: roomFor(merged) }
    const writeTerms: WriteTerms = kept
      ? this.#recent.writerOf(merged.length)
      : (pages) => mergeTerms(this.#table, inputs, pages)
    const writing = body.chunks.length === 0 ? nothing() : this.#table.inserting(corpus, body, analyzers, ids, writeTerms, parts)
    return { corpus, ids, inputs, kept, writing }
  }

  #open(segment: SegmentRow, tombstones: ReadonlyArray<Tombstone>): Input {
    const body = unpackSegmentBody(this.#table.body(segment.id))
    if (body === undefined) throw new SegmentDamage(`segment ${segment.id}`)
    const target = new Uint32Array(body.chunks.length)
    for (const { count, first } of tombstones) {
      target.fill(dead, ordinalFrom(body.chunks, first), ordinalFrom(body.chunks, first + count))
    }
    return { segment, body, target, tombstones, whole: tombstones.length === 0 }
  }
}

function* nothing(): Generator<void, void> {}

/**
 * Most pages that the merged segment can take. Two consecutive pages are more than one full page together, and a merge adds no bytes
 * except for the terms that start pages.
 */
const roomFor = (segments: ReadonlyArray<SegmentRow>): number => 4 * segments.reduce((sum, { pages }) => sum + pages, 0) + 16

interface Tombstone {
  readonly first: number
  readonly count: number
}

/** A segment being merged. */
interface Input {
  readonly segment: SegmentRow
  readonly body: SegmentBody
  /** Tombstones of the segment's chunks. */
  readonly tombstones: ReadonlyArray<Tombstone>
  /** New ordinal by old one, or {@link dead}. */
  readonly target: Uint32Array
  /** Whether no chunk is dead, so that all ordinals move by the same amount. */
  readonly whole: boolean
}

/** Makes the body of the merged segment, and fills in each input's `target`. */
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

/** The merged segment's chunks, divided by the inputs that they came from. */
const partsOf = ({ embeddings }: SegmentBody, inputs: ReadonlyArray<Input>): ReadonlyArray<ListedPart> => {
  let end = 0
  return inputs.map(({ segment, target }) => {
    const start = end
    for (const to of target) if (to !== dead) end = to + 1
    return { embeddings: embeddings.subarray(start, end), from: { segment: segment.id, target } }
  })
}

/** Reads one segment's terms in order, a page at a time. */
class TermCursor {
  readonly #table: SegmentTable
  readonly #input: Input
  /** Place among the inputs: cursors at equal terms are ordered by it. */
  readonly place: number
  #nextPage = 0
  page: PostingPageReader

  /** A cursor at the first term; undefined where the segment has no terms. */
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

  /** Moves to the next term; false at the end. */
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

/** Compares cursors by term, then by place; negative where `a` comes first. */
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

/** Posting lists that are appended in one step. */
const listsOfStep = 256

/** Merges the inputs' terms: a k-way merge with a binary heap of cursors. */
function* mergeTerms(table: SegmentTable, inputs: ReadonlyArray<Input>, pages: PostingPageWriter): Generator<void, void> {
  const heap = inputs.map((input, place) => TermCursor.open(table, input, place)).filter((cursor) => cursor !== undefined)
  heap.sort(compareCursors)
  const term = new ByteWriter()
  /** Writes the current term, if any of its postings is live. */
  const close = (): void => {
    if (pages.list.count > 0) pages.add(term.view(), 0, term.length)
  }
  for (let lists = 1; heap.length > 0; lists++) {
    if (lists % listsOfStep === 0) yield
    const cursor = heap[0] as TermCursor
    const { termBytes, termLength } = cursor.page
    if (term.length !== termLength || term.sharedPrefix(termBytes, 0, termLength) !== termLength) {
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

/** Restores the heap's order by moving its root down. */
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
