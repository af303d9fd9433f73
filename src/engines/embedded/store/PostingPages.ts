import { ByteReader, ByteWriter } from "./Bytes.ts"
import { PostingListWriter, readPostings, type Postings } from "./Postings.ts"

/**
 * A page of a segment's posting lists, which are ordered by the UTF-8 bytes of their terms. A page has whole terms, prefix coded, each
 * followed by its compressed list. A page is one row, so a query reads one row per term and segment.
 *
 * A term is stored as: number of bytes shared with the previous term, length and bytes of the rest, number of postings, last ordinal if
 * there are several, length and bytes of the list.
 */
export interface PostingPage {
  readonly firstTerm: Uint8Array
  /** The page's bytes, sealed with a checksum. */
  readonly body: Uint8Array
}

/** Bytes beyond which a page is closed, so that it fits into one page of SQLite. A longer list has a page of its own. */
const pageSize = 3_900

/** Writes pages from terms in ascending order: write a term's postings to `list`, then {@link add} the term. */
export class PostingPageWriter {
  readonly #emit: (page: PostingPage) => void
  readonly #listBytes = new ByteWriter()
  readonly list = new PostingListWriter(this.#listBytes)
  readonly #page = new ByteWriter()
  readonly #lastTerm = new ByteWriter()
  #firstTerm: Uint8Array | undefined

  constructor(emit: (page: PostingPage) => void) {
    this.#emit = emit
  }

  /** Writes the current list as that of the term in `source` from `start` to `end`. */
  add(source: Uint8Array, start: number, end: number): void {
    const { count, last } = this.list
    const list = this.#listBytes
    const length = end - start
    if (this.#page.length > 0 && this.#page.length + length + list.length + 12 > pageSize) this.finish()
    const shared = this.#firstTerm === undefined ? 0 : this.#lastTerm.sharedPrefix(source, start, end)
    this.#firstTerm ??= Uint8Array.from(source.subarray(start, end))
    this.#page.varint(shared)
    this.#page.varint(length - shared)
    this.#page.bytes(source, start + shared, end)
    this.#page.varint(count)
    if (count > 1) this.#page.varint(last)
    this.#page.varint(list.length)
    this.#page.append(list)
    this.#lastTerm.clear()
    this.#lastTerm.bytes(source, start, end)
  }

  /** Closes the current page; call it once, after the last term. */
  finish(): void {
    if (this.#firstTerm === undefined) return
    this.#emit({ firstTerm: this.#firstTerm, body: this.#page.sealed() })
    this.#page.clear()
    this.#firstTerm = undefined
  }
}

/** Reads a page term by term. Only requested posting lists are decoded. */
export class PostingPageReader {
  readonly #reader: ByteReader
  #term = Buffer.allocUnsafe(64)
  #listStart = 0
  #listEnd = 0
  #last = 0
  /** Length of the current term's bytes. */
  termLength = 0
  /** Postings of the current term, dead chunks included. */
  count = 0

  private constructor(reader: ByteReader) {
    this.#reader = reader
  }

  /** A reader at the start of a page; undefined where the page is damaged. */
  static open(body: Uint8Array): PostingPageReader | undefined {
    const reader = ByteReader.unseal(body)
    return reader === undefined ? undefined : new PostingPageReader(reader)
  }

  /** The current term's bytes, up to {@link termLength}; valid until the next term. */
  get termBytes(): Uint8Array {
    return this.#term
  }

  get term(): string {
    return this.#term.toString("utf8", 0, this.termLength)
  }

  /** Moves to the next term; false at the end of the page. */
  next(): boolean {
    const reader = this.#reader
    reader.position = this.#listEnd
    if (reader.done) return false
    const shared = reader.varint()
    const rest = reader.varint()
    this.termLength = shared + rest
    if (this.termLength > this.#term.length) this.#term = Buffer.concat([this.#term], this.termLength * 2)
    for (let i = 0; i < rest; i++) this.#term[shared + i] = reader.source[reader.position + i] as number
    reader.position += rest
    this.#readHead()
    return true
  }

  postings(): Postings {
    return readPostings(this.#reader.source.subarray(this.#listStart, this.#listEnd), this.count, this.#last)
  }

  /** Appends the current posting list, with `shift` added to its ordinals. */
  appendTo(list: PostingListWriter, shift: number): void {
    this.#reader.position = this.#listStart
    list.append(this.#reader, this.#listEnd, this.count, this.#last, shift)
  }

  /** Moves from the start of the page to a term; false where the page does not have it. Terms are compared as stored, without decoding. */
  find(term: Uint8Array): boolean {
    const reader = this.#reader
    const { source } = reader
    // Length of the common prefix of the current term and the wanted one.
    let alike = 0
    while (!reader.done) {
      const shared = reader.varint()
      const rest = reader.varint()
      // Terms are sorted: one that shares less of the prefix comes after the wanted one.
      if (shared < alike) return false
      if (shared === alike) {
        let i = 0
        while (i < rest && alike < term.length && source[reader.position + i] === term[alike]) {
          i++
          alike++
        }
        if (i === rest && alike === term.length) {
          reader.position += rest
          this.#readHead()
          return true
        }
      }
      reader.position += rest
      this.#readHead()
      reader.position = this.#listEnd
    }
    return false
  }

  /** Reads the numbers between a term and its list. */
  #readHead(): void {
    const reader = this.#reader
    this.count = reader.varint()
    this.#last = this.count > 1 ? reader.varint() : -1
    const length = reader.varint()
    this.#listStart = reader.position
    this.#listEnd = reader.position + length
    if (this.count === 1) {
      this.#last = Math.floor(reader.varint() / 2)
      reader.position = this.#listStart
    }
  }
}
