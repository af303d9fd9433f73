/**
 * Finds strings that share trigrams with a given one. The ends of a string count as characters, so that its first and last letters weigh
 * more. It takes about 40 bytes per string, in typed arrays.
 */
export class TrigramIndex {
  readonly #strings: ReadonlyArray<string>
  /** Where each bucket's range in {@link #members} starts, and where the last one ends. */
  readonly #starts = new Uint32Array(buckets + 1)
  readonly #members: Uint32Array
  readonly #shared: Uint8Array

  constructor(strings: ReadonlyArray<string>) {
    this.#strings = strings
    for (const string of strings) forEachTrigram(string, (bucket) => this.#starts[bucket + 1]!++)
    for (let i = 0; i < buckets; i++) this.#starts[i + 1]! += this.#starts[i]!
    this.#members = new Uint32Array(this.#starts[buckets]!)
    this.#shared = new Uint8Array(strings.length)
    const next = this.#starts.slice()
    strings.forEach((string, index) => {
      forEachTrigram(string, (bucket) => {
        this.#members[next[bucket]!++] = index
      })
    })
  }

  /** Strings with at least `least` trigrams in common with `word`, and at most `lengths` longer or shorter. */
  similar(word: string, least: number, lengths: number): ReadonlyArray<string> {
    const touched: Array<number> = []
    forEachTrigram(word, (bucket) => {
      for (let i = this.#starts[bucket]!; i < this.#starts[bucket + 1]!; i++) {
        const index = this.#members[i]!
        if (this.#shared[index] === 0) touched.push(index)
        this.#shared[index]!++
      }
    })
    const found: Array<string> = []
    for (const index of touched) {
      const string = this.#strings[index]!
      if (this.#shared[index]! >= least && Math.abs(string.length - word.length) <= lengths) found.push(string)
      this.#shared[index] = 0
    }
    return found
  }
}

const buckets = 1 << 15

const forEachTrigram = (word: string, visit: (bucket: number) => void): void => {
  const padded = `^${word}$`
  for (let i = 0; i + 3 <= padded.length; i++) {
    const mixed = padded.charCodeAt(i) * 961 + padded.charCodeAt(i + 1) * 31 + padded.charCodeAt(i + 2)
    visit(Math.imul(mixed, 0x9e3779b1) >>> 17)
  }
}
