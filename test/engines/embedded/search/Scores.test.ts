import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import { lengthNorm, termScore } from "../../../../src/engines/embedded/search/Bm25.ts"
import { mostFound, ScoreRoom } from "../../../../src/engines/embedded/search/Scores.ts"
import { ByteWriter } from "../../../../src/engines/embedded/store/Bytes.ts"
import { narrow } from "../../../../src/engines/embedded/store/Postings.ts"
import { largestMagnitude, magnitudeStep, openVectorList } from "../../../../src/engines/embedded/store/VectorLists.ts"

const k1 = 1.7

/** A corpus of so many chunks of all lengths. */
const corpusOf = (slots: number) => ({
  slots,
  lengths: Uint16Array.from({ length: slots }, (_, slot) => (slot * 7) % 300),
  norms: Float64Array.from({ length: 300 }, (_, length) => lengthNorm(length, 80, { k1, b: 0.6 })),
  bm25: { k1 }
})

/** Ascending numbers below `limit`, in steps that come again. */
const stepping = (limit: number, steps: ReadonlyArray<number>): ReadonlyArray<number> => {
  const numbers: Array<number> = []
  for (let at = steps[0] ?? 0, i = 1; at < limit; at += 1 + (steps[i++ % steps.length] ?? 0)) numbers.push(at)
  return numbers
}

const lists = fc.array(
  fc.record({
    steps: fc.array(fc.oneof(fc.nat(3), fc.nat(400), fc.nat(40_000)), { minLength: 1, maxLength: 9 }),
    large: fc.nat(400),
    weight: fc.double({ min: -3, max: 9, noNaN: true })
  }),
  { maxLength: 6 }
)

/** More than one window of slots, and a segment whose ordinals take 32 bits. */
const segments = [{ offset: 0, chunks: 300 }, { offset: 300, chunks: 40_000 }, { offset: 40_300, chunks: 70_000 }]
const corpus = corpusOf(110_300)

describe("the room for scores", () => {
  it("adds BM25 of postings to the last bit, in their order, of any width", () => {
    const room = new ScoreRoom()
    fc.assert(
      fc.property(lists, (terms) => {
        room.begin(corpus)
        const expected = new Float64Array(corpus.slots)
        const scores = room.zeros("sparse")
        const all = terms.flatMap(({ large, steps, weight }) =>
          segments.map(({ chunks, offset }) => {
            const ordinals = Uint32Array.from(stepping(chunks, steps))
            const frequencies = ordinals.map((ordinal) => 1 + (ordinal * 31) % (large + 1))
            return { offset, weight, postings: narrow({ ordinals, frequencies }, ordinals.length) }
          })
        )
        for (const { offset, postings: { frequencies, ordinals }, weight } of all) {
          for (let i = 0; i < ordinals.length; i++) {
            const slot = offset + (ordinals[i] ?? 0)
            expected[slot] = (expected[slot] ?? 0) +
              termScore(weight, frequencies[i] ?? 0, corpus.norms[corpus.lengths[slot] ?? 0] ?? 0, k1)
          }
        }
        room.addPostings("sparse", all)
        assert.strictEqual(
          Buffer.compare(Buffer.from(new Uint8Array(Float64Array.from(scores.values).buffer)), Buffer.from(expected.buffer)),
          0
        )
      }),
      { numRuns: 20 }
    )
  })

  it("estimates by lists of vectors within half a step for each list, however far their postings are apart", () => {
    const room = new ScoreRoom()
    fc.assert(
      fc.property(lists, (terms) => {
        room.begin(corpus)
        const expected = new Float64Array(corpus.slots)
        const all = terms.flatMap(({ steps, weight }, id) =>
          segments.map(({ chunks, offset }) => {
            const ordinals = stepping(chunks, steps)
            const halves = ordinals.map((ordinal) => (ordinal * 5 + id) % 16)
            ordinals.forEach((ordinal, i) => {
              const half = halves[i] ?? 0
              const magnitude = ((half & 7) + 1) * magnitudeStep
              expected[offset + ordinal] = (expected[offset + ordinal] ?? 0) + weight * (half < 8 ? magnitude : -magnitude)
            })
            const list = openVectorList(packed(id, ordinals, halves), id)
            assert.isDefined(list)
            return { offset, weight, list }
          })
        )
        const most = terms.reduce((sum, { weight }) => sum + Math.abs(weight), 0)
        const { values } = room.estimates(all, most)
        // A slot that has the most of every list has an estimate of nearly 15 bits.
        const step = (most * largestMagnitude) / 32_000
        const off = expected.findIndex((sum, slot) =>
          Math.abs((values[slot] ?? 0) * step - sum) > step * (terms.length / 2) + 0.02 * Math.abs(sum)
        )
        assert.strictEqual(off, -1)
      }),
      { numRuns: 20 }
    )
  })

  it("has room for more lists than are added at once, and for another corpus, larger or smaller", () => {
    const room = new ScoreRoom()
    for (const slots of [50, 2_000, 7]) {
      room.begin(corpusOf(slots))
      const scores = room.zeros("aside")
      assert.deepStrictEqual(Float64Array.from(scores.values), new Float64Array(slots))
      const postings = narrow(
        { ordinals: Uint32Array.from({ length: slots }, (_, i) => i), frequencies: new Uint32Array(slots).fill(1) },
        slots
      )
      room.addPostings("aside", Array.from({ length: 2_000 }, () => ({ offset: 0, weight: 1, postings })))
      const { lengths, norms } = corpusOf(slots)
      lengths.forEach((length, slot) =>
        assert.approximately(scores.values[slot] ?? 0, 2_000 * termScore(1, 1, norms[length] ?? 0, k1), 1e-6)
      )
    }
  })

  it("finds what scores as much and is not 0, some at a time", () => {
    const room = new ScoreRoom()
    room.begin(corpus)
    const scores = room.zeros("sparse")
    for (let slot = 0; slot < corpus.slots; slot += 3) scores.values[slot] = (slot % 100) - 50
    for (const [least, from, to] of [[-Infinity, 5, 3_001], [0, 0, 900], [49, 1, corpus.slots], [50, 0, corpus.slots]] as const) {
      const expected = Array.from(scores.values.keys()).slice(from, to).filter((slot) =>
        (scores.values[slot] ?? 0) >= least && scores.values[slot] !== 0
      )
      assert.deepStrictEqual([...scores.atLeast(least, from, to)], expected.slice(0, mostFound))
      const firsts = expected.filter((slot) => Math.floor((slot - from) / 8) % 4 === 0)
      assert.deepStrictEqual([...scores.atLeast(least, from, to, 4)], firsts.slice(0, mostFound))
    }
  })

  it("finds estimates of as much that are not 0, some at a time", () => {
    const room = new ScoreRoom()
    room.begin(corpus)
    const { atLeast, values } = room.estimates([], 1)
    for (let slot = 0; slot < corpus.slots; slot += 3) values[slot] = ((slot % 100) - 50) * 600
    for (const [least, from, to] of [[-Infinity, 5, 3_001], [0, 0, 900], [29_400, 1, corpus.slots], [29_400.5, 0, corpus.slots]] as const) {
      const expected = Array.from(values.keys()).slice(from, to).filter((slot) => (values[slot] ?? 0) >= least && values[slot] !== 0)
      assert.deepStrictEqual([...atLeast(least, from, to)], expected.slice(0, mostFound))
      const firsts = expected.filter((slot) => Math.floor((slot - from) / 32) % 4 === 0)
      assert.deepStrictEqual([...atLeast(least, from, to, 4)], firsts.slice(0, mostFound))
    }
  })
})

/** A list as it is stored. */
const packed = (id: number, ordinals: ReadonlyArray<number>, halves: ReadonlyArray<number>): Uint8Array => {
  const out = new ByteWriter()
  out.varint(id)
  out.varint(1)
  out.varint(ordinals.length)
  ordinals.forEach((ordinal, i) => out.varint(ordinal - (ordinals[i - 1] ?? -1) - 1))
  for (let i = 0; i < halves.length; i += 2) out.byte((halves[i] ?? 0) | ((halves[i + 1] ?? 0) << 4))
  return out.sealed()
}
