/** Some of many things, offered one after another: those of the lowest ranks, and no more than twice as many are held. */
export class Chosen<A> {
  readonly #most: number
  #kept: Array<{ readonly rank: number; readonly item: A }> = []
  #offered = 0

  constructor(most: number) {
    this.#most = most
  }

  /** `rank`: what has nothing to do with the order in which things come, such as a hash. */
  offer(rank: number, item: A): void {
    this.#offered += 1
    this.#kept.push({ rank, item })
    if (this.#kept.length >= 2 * this.#most) this.#cut()
  }

  /** How many there are to choose from. */
  get offered(): number {
    return this.#offered
  }

  /** In the order of their ranks. */
  get items(): ReadonlyArray<A> {
    this.#cut()
    return this.#kept.map(({ item }) => item)
  }

  #cut(): void {
    this.#kept = this.#kept.toSorted((a, b) => a.rank - b.rank).slice(0, this.#most)
  }
}
