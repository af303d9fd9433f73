/** A seeded source of numbers (mulberry32): the same seed gives the same sequence on every machine. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** A number in [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }

  /** A whole number in [from, to]. */
  between(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1))
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<A>(items: ReadonlyArray<A>): A {
    return items[Math.floor(this.next() * items.length)]!
  }

  /** `count` different items in random order, or all items where there are fewer. */
  sample<A>(items: ReadonlyArray<A>, count: number): Array<A> {
    const shuffled = [...items]
    for (let i = 0; i < Math.min(count, shuffled.length); i++) {
      const other = this.between(i, shuffled.length - 1)
      const item = shuffled[i]!
      shuffled[i] = shuffled[other]!
      shuffled[other] = item
    }
    return shuffled.slice(0, count)
  }
}
