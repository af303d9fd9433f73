import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn, spawnSync } from "node:child_process"
import { join } from "node:path"
import { root } from "../support/Root.ts"
import { tempFolder, write } from "../support/TempFolder.ts"

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

/** Loaded before a command: says which of V8's flags it sets. */
const telling = `
import { syncBuiltinESMExports } from "node:module"
import v8 from "node:v8"
const { setFlagsFromString } = v8
v8.setFlagsFromString = (flag) => {
  process.stderr.write("set " + flag + "\\n")
  setFlagsFromString(flag)
}
syncBuiltinESMExports()
`

describe("a command that works for as long as it is let", () => {
  it.live.each(["serve --port 0", "watch"])("bounds its heap: %s", (command) =>
    Effect.gen(function*() {
      const cwd = yield* tempFolder
      write(cwd, {
        "telling.mjs": telling,
        "pipeline.yaml": "name: docs\nengine: embedded\ncorpus: { displayName: Docs }\nsources: { docs: { local: { path: ./docs } } }\n",
        "docs/leave.md": "# Leave\n\n28 days.\n"
      })
      const child = yield* Effect.acquireRelease(
        Effect.sync(() => spawn(process.execPath, ["--import", "./telling.mjs", join(root, "src/bin.ts"), ...command.split(" ")], { cwd })),
        (child) =>
          Effect.promise(() =>
            new Promise((resolve) => {
              if (child.exitCode !== null) return resolve(undefined)
              child.on("exit", resolve)
              child.kill("SIGKILL")
            })
          )
      )
      const said = yield* Effect.promise(() =>
        new Promise<string>((resolve) => {
          let text = ""
          child.stderr.setEncoding("utf8").on("data", (part: string) => {
            text += part
            if (text.includes("set --heap-growing-percent=")) resolve(text)
          })
          child.on("exit", () => resolve(text))
        })
      )
      assert.include(said, "set --heap-growing-percent=")
    }).pipe(Effect.scoped))
})

/** How often a thread that makes 64 MB of garbage collects it, where growth had been ended before it started. */
const collectionsOfThread = (withRoom: boolean): number => {
  const { stderr, stdout } = spawnSync(process.execPath, [
    "--input-type=module",
    "--eval",
    `
import { setFlagsFromString } from "node:v8"
import { Worker } from "node:worker_threads"
import { giveThreadsRoom } from ${JSON.stringify(heap)}
setFlagsFromString("--semi-space-growth-factor=1")
${withRoom ? "giveThreadsRoom()" : ""}
const work = \`
const { PerformanceObserver } = require("node:perf_hooks")
let count = 0
new PerformanceObserver((list) => { count += list.getEntries().length }).observe({ entryTypes: ["gc"] })
for (let i = 0; i < 64_000; i++) globalThis.kept = new Array(125).fill(i)
setTimeout(() => require("node:worker_threads").parentPort.postMessage(count), 50)
\`
new Worker(work, { eval: true, execArgv: [] }).once("message", (count) => console.log(count))
`
  ], { encoding: "utf8" })
  assert.strictEqual(stderr, "")
  return Number(stdout)
}

describe("threads that answer questions", () => {
  it("have room for their garbage from the start, where growth was ended", () => {
    const without = collectionsOfThread(false)
    assert.isAtLeast(without, 16)
    assert.isBelow(collectionsOfThread(true), without / 2)
  })
})
