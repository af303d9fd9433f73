import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { run, succeed } from "../../bench/lib/Process.ts"
import { latencies, quantile } from "../../bench/lib/Statistics.ts"
import { table } from "../../bench/lib/Table.ts"

describe("quantile", () => {
  it("is a value that was measured, by the nearest rank", () => {
    const values = [5, 1, 4, 2, 3]
    expect(quantile(values, 0.5)).toBe(3)
    expect(quantile(values, 0.99)).toBe(5)
    expect(quantile([7], 0.5)).toBe(7)
    expect(quantile(Array.from({ length: 200 }, (_, at) => at + 1), 0.99)).toBe(198)
  })
})

describe("latencies", () => {
  it("asks every query once and times those after the warm-up", async () => {
    const asked: Array<string> = []
    const latency = await latencies(["a", "b", "c"], async (query) => asked.push(query), { warmUp: 2 })
    expect(asked).toEqual(["a", "b", "c"])
    expect(latency.queries).toBe(1)
    expect(latency.p99).toBeGreaterThanOrEqual(latency.p50)
  })

  it("stops when the time is up, with what it has", async () => {
    const slow = () => new Promise((resolve) => setTimeout(resolve, 20))
    const latency = await latencies(Array.from({ length: 500 }, String), slow, { maxSeconds: 0.1, warmUp: 0 })
    expect(latency.queries).toBeGreaterThan(0)
    expect(latency.queries).toBeLessThan(50)
  })
})

/**
 * Runs `child` in a child of a process that runs `parent`. Both live on until they must have been measured: our timer
 * here takes turns with the sampler's.
 */
const seen = async (child: string, parent = "") => {
  const folder = mkdtempSync(join(tmpdir(), "bench-"))
  const [ready, measured] = [join(folder, "ready"), join(folder, "measured")]
  const exists = (file: string) => `require("node:fs").existsSync(${JSON.stringify(file)})`
  const stay = `const wait = setInterval(() => ${exists(measured)} && clearInterval(wait), 20);`
  const inner = `${child}; require("node:fs").writeFileSync(${JSON.stringify(ready)}, ""); ${stay}`
  let samples = 0
  const timer = setInterval(() => {
    if (existsSync(ready) && ++samples === 15) writeFileSync(measured, "")
  }, 20)
  try {
    return await run(process.execPath, [
      "--eval",
      `${parent}; require("node:child_process").spawn(process.execPath, ["--eval", ${JSON.stringify(inner)}]); ${stay}`
    ])
  } finally {
    clearInterval(timer)
    rmSync(folder, { recursive: true })
  }
}

describe("a measured process", () => {
  it("returns what it wrote, its exit code and its input", async () => {
    const program = "process.stdin.on('data', (data) => process.stdout.write(data)); process.stderr.write('err'); process.exitCode = 3"
    const finished = await run(process.execPath, ["--eval", program], { input: "hello" })
    expect(finished).toMatchObject({ exitCode: 3, stdout: "hello", stderr: "err" })
    expect(finished.seconds).toBeGreaterThan(0)
  })

  it.runIf(process.platform === "linux")("counts the memory of its children", async () => {
    const { peakRss } = await seen("const held = Buffer.alloc(200 << 20, 1); globalThis.held = held")
    expect(peakRss).toBeGreaterThan(250 << 20)
  })

  it.runIf(process.platform === "linux")("counts processor time, its own and its children's", async () => {
    const work = (milliseconds: number) => `while (process.cpuUsage().user < ${milliseconds} * 1000);`
    const { cpu } = await seen(work(400), work(200))
    expect(cpu?.own).toBeGreaterThan(0.15)
    expect(cpu?.descendants).toBeGreaterThan(0.3)
  })

  it("fails with the program's own words", async () => {
    await expect(succeed(process.execPath, ["--eval", "console.error('out of ink'); process.exit(1)"])).rejects.toThrow(
      /ended with 1\nout of ink/
    )
  })

  it("fails when there is no such program", async () => {
    await expect(run("no-such-program-here", [])).rejects.toThrow(/ENOENT/)
  })
})

describe("the table", () => {
  it("shows each figure beside budget, floor and peer, and a dash for what was not measured", () => {
    const text = table([
      { figure: "ingest", unit: "seconds", sluice: 1.5, budget: 2, floor: 0.5, peers: [6] },
      { figure: "BM25 p50", unit: "milliseconds", sluice: 0.4, budget: 0.3 },
      { figure: "memory", unit: "megabytes", sluice: undefined, budget: 400e6 }
    ], ["peer"])
    const [, ingest, sparse, memory] = text.split("\n").map((line) => line.trim().split(/ {2,}/))
    expect(ingest).toEqual(["ingest", "1.50 s", "2.00 s", "met", "0.50 s", "3.0 x", "6.00 s", "4.0 x"])
    expect(sparse).toEqual(["BM25 p50", "0.40 ms", "0.30 ms", "OVER", "-", "-", "-", "-"])
    expect(memory).toEqual(["memory", "-", "400 MB", "-", "-", "-", "-"])
    expect(new Set(text.split("\n").map((line) => line.length)).size).toBe(1)
  })
})
