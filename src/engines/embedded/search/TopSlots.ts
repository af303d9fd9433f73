import { mostFound, type Scores, type SlotRange } from "./Scores.ts"

/** Slots beyond `count` that are given because they score what the last one does: which of them counts is not for slots to say. */
const mostTied = 1_000

/**
 * The `count` allowed slots with the highest scores, best first, and after them those that score what the last one does;
 * ties by slot. A score of exactly 0 says that the chunk has nothing of the query, in either arm, and is no candidate.
 * `ranges` ascend; unset, all slots are looked at.
 */
export const topSlots = (
  scores: AnyScores,
  allowed: Uint8Array,
  count: number,
  ranges: ReadonlyArray<SlotRange> = [{ from: 0, to: scores.values.length }]
): ReadonlyArray<number> => {
  const guess = guessed(scores, allowed, count, ranges)
  return bestFrom(guess, scores, allowed, count, ranges) ?? bestFrom(-Infinity, scores, allowed, count, ranges) ?? []
}

type AnyScores = Scores<Float64Array | Int16Array>

/** The same of those that score `floor` or more; undefined where they are fewer than `count` and others may be among the best. */
const bestFrom = (
  floor: number,
  scores: AnyScores,
  allowed: Uint8Array,
  count: number,
  ranges: ReadonlyArray<SlotRange>
): ReadonlyArray<number> | undefined => {
  const best = new BestSlots(count, floor)
  best.addFrom(scores, allowed, ranges)
  if (!best.isFull && floor > -Infinity) return undefined
  const slots = best.slots()
  return best.tied ? [...slots, ...equalTo(best.least, slots, scores, allowed, ranges)] : slots
}

/** One cache line of scores in so many is a sample of them, ... */
const sampled = 16
/** ... and too small a sample where fewer of it than these are wanted. */
const leastSampled = 8

/**
 * A score that about twice `count` slots have or exceed, judging by a sample: slots below it need not be put in order. -Infinity
 * where a sample would be too small.
 */
const guessed = (scores: AnyScores, allowed: Uint8Array, count: number, ranges: ReadonlyArray<SlotRange>): number => {
  const wanted = Math.ceil((2 * count) / sampled)
  if (wanted < leastSampled) return -Infinity
  const best = new BestSlots(wanted, -Infinity)
  best.addFrom(scores, allowed, ranges, sampled)
  return best.least
}

/** The best of the slots that it is given, as many as it has room for. */
class BestSlots {
  readonly #heap: WorstFirst
  /** The least score that counts: that of the worst kept slot once there is no more room. */
  least: number
  /** Some slot that is not kept scores what the worst kept one does. */
  tied = false

  constructor(room: number, floor: number) {
    this.#heap = new WorstFirst(room)
    this.least = floor
  }

  get isFull(): boolean {
    return this.#heap.full
  }

  /** Adds the allowed slots of `ranges`, or those of one cache line of scores in `every`. */
  addFrom(scores: AnyScores, allowed: Uint8Array, ranges: ReadonlyArray<SlotRange>, every = 1): void {
    for (const { from, to } of ranges) {
      for (let next = from; next < to;) {
        const found = scores.atLeast(this.least, next, to, every)
        for (const slot of found) if (allowed[slot] !== 0) this.#add(slot, scores.values[slot] as number)
        next = after(found, to)
      }
    }
  }

  #add(slot: number, score: number): void {
    const heap = this.#heap
    if (score < this.least) return
    if (!heap.full) {
      heap.add(slot, score)
      if (heap.full) this.least = heap.worst
      return
    }
    // Slots come in ascending order: one that only equals the worst kept comes after it.
    if (score === this.least) {
      this.tied = true
      return
    }
    const before = this.least
    heap.add(slot, score)
    this.least = heap.worst
    // The one that was pushed out scored what the worst did.
    this.tied = this.least === before
  }

  /** Best first; none is kept afterwards. */
  slots(): ReadonlyArray<number> {
    return this.#heap.bestFirst()
  }
}

/** Where to look on after what was found. */
const after = (found: Uint32Array, to: number): number => found.length < mostFound ? to : (found[mostFound - 1] as number) + 1

/** The allowed slots that score `least` or more and not 0, ascending; undefined where they are more than `most`. */
export const slotsFrom = (
  least: number,
  scores: Scores,
  allowed: Uint8Array,
  ranges: ReadonlyArray<SlotRange>,
  most: number
): ReadonlyArray<number> | undefined => {
  const slots: Array<number> = []
  for (const { from, to } of ranges) {
    for (let next = from; next < to;) {
      const found = scores.atLeast(least, next, to)
      for (const slot of found) {
        if (allowed[slot] === 0) continue
        if (slots.length === most) return undefined
        slots.push(slot)
      }
      next = after(found, to)
    }
  }
  return slots
}

/** Slots that score exactly `score`, without those of `best`, ascending. */
const equalTo = (
  score: number,
  best: ReadonlyArray<number>,
  scores: AnyScores,
  allowed: Uint8Array,
  ranges: ReadonlyArray<SlotRange>
): ReadonlyArray<number> => {
  const known = new Set(best)
  const equal: Array<number> = []
  for (const { from, to } of ranges) {
    for (let next = from; next < to;) {
      const found = scores.atLeast(score, next, to)
      for (const slot of found) {
        if (scores.values[slot] !== score || allowed[slot] === 0 || known.has(slot)) continue
        equal.push(slot)
        if (equal.length === mostTied) return equal
      }
      next = after(found, to)
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

  get full(): boolean {
    return this.#size === this.#slots.length
  }

  /** The score that the next entry must exceed, once it is {@link full}. */
  get worst(): number {
    return this.#scores[0] as number
  }

  /** Of entries in a full one, the worst is pushed out. */
  add(slot: number, score: number): void {
    if (this.full) this.#sink(slot, score)
    else this.#rise(this.#size++, slot, score)
  }

  /** Empties it. */
  bestFirst(): ReadonlyArray<number> {
    const best: Array<number> = []
    while (this.#size > 0) {
      best.push(this.#slots[0] as number)
      this.#size--
      if (this.#size > 0) this.#sink(this.#slots[this.#size] as number, this.#scores[this.#size] as number)
    }
    return best.reverse()
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
