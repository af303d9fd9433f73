/** An entry in a ring ordered by use. A single entry is a ring of its own. */
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

/** Keeps the most recently used values, up to a number of bytes. */
export class ByteCache {
  /** Most bytes that all values together may take. */
  readonly limit: number
  readonly #entries = new Map<string, Entry>()
  /** Closes the ring of entries: its `older` neighbour was used last, its `newer` one longest ago. */
  readonly #ends = new Entry("", undefined, 0)
  #bytes = 0

  constructor(limit: number) {
    this.limit = limit
  }

  /** The value under a key, which is made and kept if it is absent. Each kind of value has its own prefix of keys. */
  get<A>(key: string, make: () => A, sizeOf: (value: A) => number): A {
    const known = this.#used(key)
    // Kinds of values do not share keys, so the value under this key was made by the same `make`.
    if (known !== undefined) return known.value as A
    const value = make()
    this.put(key, value, sizeOf(value))
    return value
  }

  /** The value under a key; undefined where it was never {@link put} or is no longer kept. */
  peek<A>(key: string): A | undefined {
    return this.#used(key)?.value as A | undefined
  }

  /** Whether a value is kept under a key. Asking does not count as a use. */
  has(key: string): boolean {
    return this.#entries.has(key)
  }

  /** Like {@link peek}, but removes the value. */
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

  /** Keeps a value of `size` bytes, unless it is larger than the limit. */
  put(key: string, value: unknown, size: number): void {
    // A slot of the map and a key take memory too.
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

  /** Puts an entry into the ring as the one used last. */
  #link(entry: Entry): void {
    entry.older = this.#ends.older
    entry.newer = this.#ends
    entry.older.newer = entry
    this.#ends.older = entry
  }
}
