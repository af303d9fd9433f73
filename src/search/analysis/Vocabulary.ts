import { grown } from "../../text/WordTable.ts"

/** Terms by number, in the order they come, and in the order of their UTF-8 bytes. */
export class Vocabulary {
  readonly #numbers = new Map<string, number>()
  #terms: Array<string> = []
  /** Numbers of terms in byte order: all of them, or all but the youngest. */
  #sorted = new Uint32Array(0)
  /** Of the sorted terms: their UTF-8, where each begins and the last ends, and by number what it begins with. */
  #bytes = new Uint8Array(1 << 12)
  #starts = new Uint32Array(1 << 10)
  #prefixes = new Float64Array(1 << 10)
  #timesForgotten = 0

  /** How often all terms were forgotten: numbers from before mean nothing. */
  get timesForgotten(): number {
    return this.#timesForgotten
  }

  get size(): number {
    return this.#terms.length
  }

  numberOf(term: string): number {
    const known = this.#numbers.get(term)
    if (known !== undefined) return known
    // Copied, so that the text it is a slice of is not kept in memory.
    const own = term.length < longestCopiedByV8 ? term : Buffer.from(term, "utf16le").toString("utf16le")
    this.#numbers.set(own, this.#terms.length)
    return this.#terms.push(own) - 1
  }

  term(number: number): string {
    return this.#terms[number] ?? ""
  }

  /**
   * All numbers, in byte order of their terms, whose UTF-8 is then in {@link bytes}. Costs a sort of what is new since the
   * last time.
   */
  sorted(): Uint32Array {
    const old = this.#sorted
    if (old.length === this.size) return old
    this.#encode(old.length)
    const fresh = Uint32Array.from({ length: this.size - old.length }, (_, i) => old.length + i).sort(this.#compare)
    const merged = new Uint32Array(this.size)
    let from = 0
    let to = 0
    for (let i = 0; i < fresh.length; i++) {
      const number = fresh[i] as number
      const place = this.#placeOf(number, from)
      merged.set(old.subarray(from, place), to)
      to += place - from
      merged[to++] = number
      from = place
    }
    merged.set(old.subarray(from), to)
    this.#sorted = merged
    return merged
  }

  /** The terms as UTF-8, without separators. The term of a sorted number begins at {@link startOf} it, and ends where the next one begins. */
  get bytes(): Uint8Array {
    return this.#bytes
  }

  startOf(number: number): number {
    return this.#starts[number] as number
  }

  clear(): void {
    this.#timesForgotten++
    this.#numbers.clear()
    this.#terms = []
    this.#sorted = new Uint32Array(0)
  }

  /** Writes the terms from a number on as UTF-8, and what they begin with. */
  #encode(first: number): void {
    for (let number = first; number < this.size; number++) {
      const term = this.term(number)
      const start = number === 0 ? 0 : this.startOf(number)
      while (start + term.length * 3 > this.#bytes.length) this.#bytes = grown(this.#bytes)
      if (number + 1 >= this.#starts.length) {
        this.#starts = grown(this.#starts)
        this.#prefixes = grown(this.#prefixes)
      }
      const end = start + utf8.encodeInto(term, this.#bytes.subarray(start)).written
      this.#starts[number + 1] = end
      let prefix = 0
      for (let at = start; at < start + prefixBytes; at++) prefix = prefix * 256 + (at < end ? this.#bytes[at] as number : 0)
      this.#prefixes[number] = prefix
    }
  }

  /** Where a new term goes among the sorted ones, not before `low`. */
  #placeOf(term: number, from: number): number {
    let low = from
    let high = this.#sorted.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#compare(this.#sorted[middle] as number, term) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  readonly #compare = (a: number, b: number): number =>
    (this.#prefixes[a] as number) - (this.#prefixes[b] as number) || this.#compareBytes(a, b)

  #compareBytes(a: number, b: number): number {
    const bytes = this.#bytes
    const endOfA = this.startOf(a + 1)
    const endOfB = this.startOf(b + 1)
    let i = this.startOf(a)
    let j = this.startOf(b)
    while (i < endOfA && j < endOfB && bytes[i] === bytes[j]) {
      i++
      j++
    }
    return i === endOfA || j === endOfB ? (endOfA - i) - (endOfB - j) : (bytes[i] as number) - (bytes[j] as number)
  }
}

/** Bytes that most terms are told apart by, as one number that a double holds. */
const prefixBytes = 6

const utf8 = new TextEncoder()

/** Shorter slices are copies anyway. */
const longestCopiedByV8 = 13
