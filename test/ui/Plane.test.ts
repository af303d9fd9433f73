import { assert, describe, it } from "vitest"
import { planeOf } from "../../src/ui/Plane.ts"

const dimensions = 3_000

/** Vectors about one direction each, with a little of everything else. */
const about = (axis: number, count: number) =>
  Array.from({ length: count }, (_, n) => ({
    components: Uint16Array.from([axis, axis + 1, (axis + 7 * n + 13) % dimensions].toSorted((a, b) => a - b)),
    values: Float32Array.from([1, 1, .2])
  }))

const centre = (points: Float64Array, from: number, to: number): readonly [number, number] => {
  const mean = (axis: number) =>
    points.slice(2 * from, 2 * to).filter((_, at) => at % 2 === axis).reduce((sum, value) => sum + value, 0) / (to - from)
  return [mean(0), mean(1)]
}

describe("vectors on a plane", () => {
  it("lie near those that they are near to, the same each time", () => {
    const vectors = [...about(10, 50), ...about(700, 50), ...about(2_500, 50)]
    const { points, seen } = planeOf(vectors)
    assert.isAbove(seen, .5)
    assert.isTrue(points.every((value) => value >= 0 && value <= 1))
    const centres = [centre(points, 0, 50), centre(points, 50, 100), centre(points, 100, 150)]
    for (let at = 0; at < 150; at++) {
      const far = centres.map(([x, y]) => Math.hypot(points[2 * at]! - x, points[2 * at + 1]! - y))
      assert.strictEqual(far.indexOf(Math.min(...far)), Math.floor(at / 50))
    }
    assert.deepStrictEqual(planeOf(vectors).points, points)
  })

  it("are in the middle where they do not differ, and none where there are none", () => {
    assert.deepStrictEqual([...planeOf(about(5, 1)).points], [.5, .5])
    assert.deepStrictEqual([...planeOf([]).points], [])
    assert.isTrue(
      [...planeOf([{ components: new Uint16Array(), values: new Float32Array() }, ...about(1, 2)]).points].every(Number.isFinite)
    )
  })
})
