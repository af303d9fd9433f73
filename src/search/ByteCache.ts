/** A value, between the one used before it and the one used after it; one alone is a ring of its own. */
class Entry {
  readonly key: string
  readonly value: unknown
  readonly bytes: number
  older: Entry = this
  newer: Entry = this

  constructor(key: string, value: unknown, bytes: number) {
    this.key = key
    this.value = value
    this.bytes = bytes
  }

  unlink(): void {
    this.older.newer = this.newer
    this.newer.older = this.older
  }
}

/** Keeps what was used last, up to a number of bytes. */
export class ByteCache {
  /** Bytes. */
  readonly limit: number
  readonly #entries = new Map<string, Entry>()
  /** Where the ring of entries closes: after the one that was used last comes the one that was used longest ago. */
  readonly #ends = new Entry("", undefined, 0)
  #bytes = 0

  constructor(limit: number) {
    this.limit = limit
  }

  /** The value under a key, made and kept if it is not there. Each kind of value has its own prefix of keys. */
  get<A>(key: string, make: () => A, sizeOf: (value: A) => number): A {
    const known = this.#used(key)
    // Kinds of values do not share keys, so what is under this one was made by the same `make`.
    if (known !== undefined) return known.value as A
    const value = make()
    this.put(key, value, sizeOf(value))
    return value
  }

  /** The value that was {@link put} under a key, where it is still there. */
  peek<A>(key: string): A | undefined {
    return this.#used(key)?.value as A | undefined
  }

  /** Whether there is a value under a key. It does not count as used. */
  has(key: string): boolean {
    return this.#entries.has(key)
  }

  /** Like {@link peek}; the value is then no longer kept. */
  take<A>(key: string): A | undefined {
    const known = this.#entries.get(key)
    if (known !== undefined) this.#drop(known)
    return known?.value as A | undefined
  }

  #used(key: string): Entry | undefined {
    const known = this.#entries.get(key)
    if (known !== undefined) {
      known.unlink()
      this.#link(known)
    }
    return known
  }

  put(key: string, value: unknown, size: number): void {
    // A slot of the map and a key are not free either.
    const bytes = size + 100
    if (bytes > this.limit) return
    const known = this.#entries.get(key)
    if (known !== undefined) this.#drop(known)
    while (this.#bytes + bytes > this.limit) this.#drop(this.#ends.newer)
    const entry = new Entry(key, value, bytes)
    this.#entries.set(key, entry)
    this.#bytes += bytes
    this.#link(entry)
  }

  #drop(entry: Entry): void {
    entry.unlink()
    this.#entries.delete(entry.key)
    this.#bytes -= entry.bytes
  }

  /** As the one used last. */
  #link(entry: Entry): void {
    entry.older = this.#ends.older
    entry.newer = this.#ends
    entry.older.newer = entry
    this.#ends.older = entry
  }
}
