import { assert, describe, it } from "@effect/vitest"
import { partitionPoint } from "../../src/text/PartitionPoint.ts"

describe("the point where a statement stops to hold", () => {
  it("is found wherever it is, and is asked for few places", () => {
    for (let length = 0; length <= 20; length++) {
      for (let point = 0; point <= length; point++) {
        let asked = 0
        const found = partitionPoint(length, (at) => {
          asked++
          assert.isTrue(at >= 0 && at < length)
          return at < point
        })
        assert.strictEqual(found, point)
        assert.isAtMost(asked, 5)
      }
    }
  })
})
