/** Selects the items with the lowest ranks from items offered one after another, holding at most twice as many. */
export class Chosen<A> {
  readonly #most: number
  #kept: Array<{ readonly rank: number; readonly item: A }> = []
  #offered = 0

  constructor(most: number) {
    this.#most = most
  }

  /** Offers an item. `rank` must be unrelated to the order of offers, such as a hash. */
  offer(rank: number, item: A): void {
    this.#offered += 1
    this.#kept.push({ rank, item })
    if (this.#kept.length >= 2 * this.#most) this.#cut()
  }

  /** Number of items offered. */
  get offered(): number {
    return this.#offered
  }

  /** The selected items, in the order of their ranks. */
  get items(): ReadonlyArray<A> {
    this.#cut()
    return this.#kept.map(({ item }) => item)
  }

  #cut(): void {
    this.#kept = this.#kept.toSorted((a, b) => a.rank - b.rank).slice(0, this.#most)
  }
}
