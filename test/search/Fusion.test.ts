import { assert, describe, it } from "vitest"
import { fuse, fuseWords, nearer } from "../../src/search/Fusion.ts"
import { ranking } from "../../src/search/Ranking.ts"

const candidates = [
  { id: 1, sparse: 0, cosine: 0.9 },
  { id: 2, sparse: 8, cosine: 0.1 },
  { id: 3, sparse: 4, cosine: 0.5 },
  { id: 4, sparse: 8, cosine: 0.1 },
  { id: 5, sparse: 2, cosine: 0.5 }
]

const order = (alpha: number): Array<number> => fuse(candidates, alpha).map(({ id }) => id)

describe("fuse", () => {
  it("is BM25's order at 0 and the cosine's at 1, ties by id", () => {
    assert.deepStrictEqual(order(0), [2, 4, 3, 5, 1])
    assert.deepStrictEqual(order(1), [1, 3, 5, 2, 4])
  })

  it("is BM25's order also below the depth", () => {
    const many = Array.from({ length: ranking.candidates + 20 }, (_, id) => ({ id, sparse: 500 - id, cosine: 0 }))
    const fused = fuse(many, 0)
    assert.deepStrictEqual(fused.map(({ id }) => id), many.map(({ id }) => id))
    assert.strictEqual(fused[ranking.candidates]?.normalizedSparse, 0)
  })

  it("is the same of words alone, told of as many as are wanted and their equals", () => {
    for (const length of [0, 1, 7, ranking.candidates, ranking.candidates + 20]) {
      const scores = Float64Array.from({ length }, (_, id) => 50 - Math.floor(id / 3))
      const all = fuse(Array.from(scores, (sparse, id) => ({ id, sparse, cosine: 0 })), 0)
      for (const count of [1, 3, 10, 150]) {
        const few = fuseWords([...scores.keys()], scores, count)
        assert.deepStrictEqual(few, all.slice(0, few.length))
        assert.isAtLeast(few.length, Math.min(count, length))
        assert.notStrictEqual(all[few.length]?.sparse, few.at(-1)?.sparse ?? NaN)
      }
    }
  })

  it("scales each arm from its best to its last and mixes", () => {
    const third = fuse(candidates, 0.5).find(({ id }) => id === 3)
    assert.strictEqual(third?.normalizedSparse, 0.5)
    assert.strictEqual(third?.normalizedDense, 0.5)
    assert.strictEqual(third?.fused, 0.5)
  })

  it("puts a chunk of a better file, and one under a better title, before its equal", () => {
    const equal = { sparse: 3, cosine: 0.4 }
    assert.deepStrictEqual(
      fuse([{ ...equal, id: 1, facts: { file: 2 } }, { ...equal, id: 2, facts: { file: 5 } }], 0.2).map(({ id }) => id),
      [2, 1]
    )
    const [first, second] = fuse([{ ...equal, id: 1, facts: { title: 0 } }, { ...equal, id: 2, facts: { title: 1 } }], 0.2)
    assert.deepStrictEqual([first?.id, first?.normalizedSparse], [2, 1])
    assert.isBelow(second?.fused ?? 1, first?.fused ?? 0)
  })

  it("counts a match, however weak, above none where BM25 found fewer than the depth", () => {
    const [best] = fuse([{ id: 1, sparse: 0, cosine: 0.2 }, { id: 2, sparse: 0.01, cosine: 0.2 }], 0.5)
    assert.strictEqual(best?.id, 2)
    assert.strictEqual(best?.normalizedSparse, 1)
  })

  it("stays within 0 and 1, whatever the scores", () => {
    for (const hit of fuse([{ id: 1, sparse: 0, cosine: -0.5 }, { id: 2, sparse: 0, cosine: -0.9 }], 0.5)) {
      assert.isTrue(hit.fused >= 0 && hit.fused <= 1)
    }
    assert.deepStrictEqual(fuse([], 0.5), [])
  })
})

describe("nearer", () => {
  it("orders the first again by their proximity, and leaves the others behind them", () => {
    const hits = fuse(candidates, 0)
    assert.deepStrictEqual(hits.map(({ id }) => id), [2, 4, 3, 5, 1])
    const again = nearer(hits, [0, 0.5, 1], 0)
    assert.deepStrictEqual(again.map(({ id }) => id), [4, 2, 3, 5, 1])
    assert.deepStrictEqual(again.map(({ facts }) => facts?.proximity), [0.5, 0, 1, undefined, undefined])
    // What was mixed stays what it was.
    assert.deepStrictEqual(again.map(({ fused }) => fused), [1, 1, 0.5, 0.25, 0])
    for (const [at, { score }] of again.entries()) {
      assert.isTrue(score >= 0 && score <= 1)
      assert.isAtMost(score, again[at - 1]?.score ?? 1)
    }
  })
})
