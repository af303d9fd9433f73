import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import { ScoreRoom, type Scores } from "../../../../src/engines/embedded/search/Scores.ts"
import { topSlots } from "../../../../src/engines/embedded/search/TopSlots.ts"

const room = new ScoreRoom()

const scoresOf = (values: ReadonlyArray<number>): Scores => {
  room.begin({ slots: values.length, lengths: new Uint16Array(values.length), norms: new Float64Array(1), bm25: { k1: 1 } })
  const scores = room.zeros("sparse")
  scores.values.set(values)
  return scores
}

/** What {@link topSlots} says, by putting all in order. */
const byOrder = (scores: ReadonlyArray<number>, allowed: Uint8Array, count: number): ReadonlyArray<number> => {
  const slots = scores.map((_, slot) => slot).filter((slot) => allowed[slot] === 1 && scores[slot] !== 0)
    .sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b)
  const least = scores[slots[count - 1] ?? -1]
  return slots.filter((slot, place) => place < count || scores[slot] === least)
}

describe("topSlots", () => {
  it("gives what an order of all gives, of few and many, with equals, negatives, zeros and slots that are left out", () => {
    const score = fc.oneof(
      { weight: 3, arbitrary: fc.constant(0) },
      { weight: 2, arbitrary: fc.integer({ min: -3, max: 6 }) },
      { weight: 3, arbitrary: fc.double({ min: -1, max: 20, noNaN: true }) }
    )
    const scores = fc.oneof(fc.array(score, { maxLength: 80 }), fc.array(score, { minLength: 400, maxLength: 900, size: "max" }))
    fc.assert(
      fc.property(scores, fc.constantFrom(1, 5, 70, 100), fc.constantFrom(1, 2, 30), (scores, count, kept) => {
        const allowed = Uint8Array.from(scores, (_, slot) => slot % kept === 0 ? 1 : 0)
        assert.deepStrictEqual(topSlots(scoresOf(scores), allowed, count), byOrder(scores, allowed, count))
      }),
      { numRuns: 300 }
    )
  })

  it("does not trust a sample that is better than the rest", () => {
    const scores = Array.from({ length: 2_000 }, (_, slot) => slot % 16 === 0 ? 100 + slot : slot / 2_000)
    const allowed = new Uint8Array(scores.length).fill(1)
    for (const count of [100, 125, 300]) {
      assert.deepStrictEqual(topSlots(scoresOf(scores), allowed, count), byOrder(scores, allowed, count))
    }
  })

  it("looks at no slots but those of its ranges", () => {
    const scores = scoresOf(Array.from({ length: 1_000 }, (_, slot) => slot))
    const ranges = [{ from: 10, to: 200 }, { from: 500, to: 510 }]
    const top = topSlots(scores, new Uint8Array(1_000).fill(1), 100, ranges)
    assert.deepStrictEqual(top.slice(0, 11), [509, 508, 507, 506, 505, 504, 503, 502, 501, 500, 199])
    assert.lengthOf(top, 100)
  })
})
