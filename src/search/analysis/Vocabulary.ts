/** Terms by number, in the order they come, and in the order of their UTF-8 bytes. */
export class Vocabulary {
  readonly #numbers = new Map<string, number>()
  #terms: Array<string> = []
  /** Numbers of terms in byte order: all of them, or all but the youngest. */
  #sorted = new Uint32Array(0)
  /** Some term has surrogates, which UTF-16 sorts otherwise than UTF-8. */
  #astral = false
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
    this.#astral ||= /[\ud800-\udfff]/.test(own)
    return this.#terms.push(own) - 1
  }

  term(number: number): string {
    return this.#terms[number] ?? ""
  }

  /** All numbers, in byte order of their terms. Costs a sort of what is new since the last time. */
  sorted(): Uint32Array {
    const old = this.#sorted
    if (old.length === this.size) return old
    const fresh = Array.from({ length: this.size - old.length }, (_, i) => old.length + i)
    fresh.sort((a, b) => this.#compare(this.term(a), this.term(b)))
    const merged = new Uint32Array(this.size)
    let from = 0
    let to = 0
    for (const number of fresh) {
      const place = this.#placeOf(this.term(number), from)
      merged.set(old.subarray(from, place), to)
      to += place - from
      merged[to++] = number
      from = place
    }
    merged.set(old.subarray(from), to)
    this.#sorted = merged
    return merged
  }

  clear(): void {
    this.#timesForgotten++
    this.#numbers.clear()
    this.#terms = []
    this.#sorted = new Uint32Array(0)
    this.#astral = false
  }

  /** Where a new term goes among the sorted ones, not before `low`. */
  #placeOf(term: string, from: number): number {
    let low = from
    let high = this.#sorted.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#compare(this.term(this.#sorted[middle] as number), term) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  #compare(a: string, b: string): number {
    return this.#astral ? Buffer.compare(Buffer.from(a), Buffer.from(b)) : a < b ? -1 : 1
  }
}

/** Shorter slices are copies anyway. */
const longestCopiedByV8 = 13
