/** Slots `from` to `to - 1`. */
export interface SlotRange {
  readonly from: number
  readonly to: number
}

/** Slots beyond `count` that are given because they score what the last one does: which of them counts is not for slots to say. */
const mostTied = 1_000

/**
 * The `count` allowed slots with the highest scores, best first, and after them those that score what the last one does;
 * ties by slot. A score of exactly 0 says that the chunk has nothing of the query, in either arm, and is no candidate.
 * `ranges` ascend; unset, all slots are looked at.
 */
export const topSlots = (
  scores: Float64Array,
  allowed: Uint8Array,
  count: number,
  ranges: ReadonlyArray<SlotRange> = [{ from: 0, to: scores.length }]
): ReadonlyArray<number> => {
  const heap = new WorstFirst(count)
  let least = -Infinity
  /** Some slot that is not kept scores what the worst kept one does. */
  let tied = false
  for (const { from, to } of ranges) {
    for (let slot = from; slot < to; slot++) {
      const score = scores[slot] as number
      // Slots come in ascending order: one that only equals the worst kept comes after it. Asked first, as it is
      // nearly always so, which a processor foresees.
      if (score < least || score === 0 || allowed[slot] === 0) continue
      if (score === least) {
        tied = true
        continue
      }
      const before = least
      least = heap.add(slot, score)
      // The one that was pushed out scored what the worst did.
      tied = before !== -Infinity && (least === before)
    }
  }
  const best = heap.bestFirst()
  return tied ? [...best, ...equalTo(least, best, scores, allowed, ranges)] : best
}

/** The allowed slots that score `least` or more, ascending; undefined where they are more than `most`. */
export const slotsFrom = (
  least: number,
  scores: Float64Array,
  allowed: Uint8Array,
  ranges: ReadonlyArray<SlotRange>,
  most: number
): ReadonlyArray<number> | undefined => {
  const found: Array<number> = []
  for (const { from, to } of ranges) {
    for (let slot = from; slot < to; slot++) {
      if ((scores[slot] as number) < least || allowed[slot] === 0) continue
      if (found.length === most) return undefined
      found.push(slot)
    }
  }
  return found
}

/** Slots that score exactly `score`, without those of `best`, ascending. */
const equalTo = (
  score: number,
  best: ReadonlyArray<number>,
  scores: Float64Array,
  allowed: Uint8Array,
  ranges: ReadonlyArray<SlotRange>
): ReadonlyArray<number> => {
  const known = new Set(best)
  const equal: Array<number> = []
  for (const { from, to } of ranges) {
    for (let slot = from; slot < to; slot++) {
      if (scores[slot] !== score || allowed[slot] === 0 || known.has(slot)) continue
      equal.push(slot)
      if (equal.length === mostTied) return equal
    }
  }
  return equal
}

/** A binary heap of bounded size; its root is the worst entry, which a better one pushes out. */
class WorstFirst {
  readonly #slots: Int32Array
  readonly #scores: Float64Array
  #size = 0

  constructor(capacity: number) {
    this.#slots = new Int32Array(capacity)
    this.#scores = new Float64Array(capacity)
  }

  /** Gives the score that the next entry must exceed. */
  add(slot: number, score: number): number {
    if (this.#size < this.#slots.length) this.#rise(this.#size++, slot, score)
    else this.#sink(slot, score)
    return this.#size < this.#slots.length ? -Infinity : this.#scores[0] as number
  }

  bestFirst(): ReadonlyArray<number> {
    const order = Array.from({ length: this.#size }, (_, at) => at)
    const slots = this.#slots
    const scores = this.#scores
    order.sort((a, b) => (scores[b] as number) - (scores[a] as number) || (slots[a] as number) - (slots[b] as number))
    return order.map((at) => slots[at] as number)
  }

  #rise(from: number, slot: number, score: number): void {
    let at = from
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!this.#after(slot, score, parent)) break
      this.#move(parent, at)
      at = parent
    }
    this.#slots[at] = slot
    this.#scores[at] = score
  }

  #sink(slot: number, score: number): void {
    let at = 0
    while (true) {
      let child = at * 2 + 1
      if (child >= this.#size) break
      if (child + 1 < this.#size && this.#after(this.#slots[child + 1] as number, this.#scores[child + 1] as number, child)) child++
      if (this.#after(slot, score, child)) break
      this.#move(child, at)
      at = child
    }
    this.#slots[at] = slot
    this.#scores[at] = score
  }

  /** Whether an entry comes after the one at `at` in the result. */
  #after(slot: number, score: number, at: number): boolean {
    const other = this.#scores[at] as number
    return score < other || (score === other && slot > (this.#slots[at] as number))
  }

  #move(from: number, to: number): void {
    this.#slots[to] = this.#slots[from] as number
    this.#scores[to] = this.#scores[from] as number
  }
}
