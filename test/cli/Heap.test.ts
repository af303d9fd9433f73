import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { root } from "../support/Root.ts"

const heap = join(root, "src", "cli", "Heap.ts")

/** Makes 150 MB of objects, of which the last 30 MB are still in use, and tells the bytes of the young generation. */
const program = (bounded: boolean): string => `
${bounded ? `import { boundHeap } from ${JSON.stringify(heap)}; boundHeap()` : ""}
import { getHeapSpaceStatistics } from "node:v8"
const kept = []
for (let i = 0; i < 300; i++) {
  kept[i % 60] = Array.from({ length: 10_000 }, (_, at) => ({ at }))
  await new Promise((resolve) => setImmediate(resolve))
}
console.log(getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space").space_size, kept.length)
`

const youngGenerationOf = (bounded: boolean): number => {
  const { stderr, stdout } = spawnSync(process.execPath, ["--input-type=module", "--eval", program(bounded)], { encoding: "utf8" })
  assert.strictEqual(stderr, "")
  return Number(stdout.split(" ")[0])
}

describe("the heap of a run", () => {
  it("has a young generation that stops growing, however much is made", { timeout: 120_000 }, () => {
    const bounded = youngGenerationOf(true)
    assert.isAtMost(bounded, 20 * 1024 * 1024)
    assert.isAbove(youngGenerationOf(false), bounded)
  })
})
