/** Keeps what was used last, up to a number of bytes. */
export class ByteCache {
  /** Bytes. */
  readonly limit: number
  readonly #entries = new Map<string, { readonly value: unknown; readonly bytes: number }>()
  #bytes = 0

  constructor(limit: number) {
    this.limit = limit
  }

  /** The value under a key, made and kept if it is not there. Each kind of value has its own prefix of keys. */
  get<A>(key: string, make: () => A, sizeOf: (value: A) => number): A {
    const known = this.#entries.get(key)
    if (known !== undefined) {
      this.#entries.delete(key)
      this.#entries.set(key, known)
      // Kinds of values do not share keys, so what is under this one was made by the same `make`.
      return known.value as A
    }
    const value = make()
    this.put(key, value, sizeOf(value))
    return value
  }

  put(key: string, value: unknown, size: number): void {
    // A slot of the map and a key are not free either.
    const bytes = size + 100
    if (bytes > this.limit) return
    this.#bytes += bytes - (this.#entries.get(key)?.bytes ?? 0)
    this.#entries.delete(key)
    this.#entries.set(key, { value, bytes })
    for (const [oldest, entry] of this.#entries) {
      if (this.#bytes <= this.limit) break
      this.#entries.delete(oldest)
      this.#bytes -= entry.bytes
    }
  }
}
