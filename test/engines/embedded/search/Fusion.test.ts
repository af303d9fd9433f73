import { assert, describe, it } from "vitest"
import { fuse } from "../../../../src/search/Fusion.ts"

const candidates = [
  { id: 1, sparse: 0, cosine: 0.9 },
  { id: 2, sparse: 8, cosine: 0.1 },
  { id: 3, sparse: 4, cosine: 0.5 },
  { id: 4, sparse: 8, cosine: 0.1 },
  { id: 5, sparse: 2, cosine: 0.5 }
]

const order = (alpha: number, depth?: number): Array<number> => fuse(candidates, alpha, depth).map(({ id }) => id)

describe("fuse", () => {
  it("is BM25's order at 0 and the cosine's at 1, also below the depth, ties by id", () => {
    for (const depth of [1, 2, 100]) {
      assert.deepStrictEqual(order(0, depth), [2, 4, 3, 5, 1])
      assert.deepStrictEqual(order(1, depth), [1, 3, 5, 2, 4])
    }
  })

  it("scales each arm from its best to its depth-th best and mixes", () => {
    const third = fuse(candidates, 0.5).find(({ id }) => id === 3)
    assert.strictEqual(third?.normalizedSparse, 0.5)
    assert.strictEqual(third?.normalizedDense, 0.5)
    assert.strictEqual(third?.fused, 0.5)
    const shallow = fuse(candidates, 0.5, 3)
    assert.deepStrictEqual(shallow.map(({ id, normalizedSparse }) => [id, normalizedSparse]).sort(), [
      [1, 0], [2, 1], [3, 0], [4, 1], [5, 0]
    ])
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
