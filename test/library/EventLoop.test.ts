import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { local } from "../../connectors/index.ts"
import { compose, generate, Pipeline, retrieve } from "../../src/index.ts"
import { open } from "../../src/Promise.ts"
import { isolatedEngine } from "../../src/Testing.ts"

const pipelineOf = (folder: string) =>
  Pipeline.make("rules", {
    corpus: { displayName: "Rules" },
    sources: { docs: local(folder) },
    stages: compose(retrieve({ topK: 10 }), generate())
  })

describe("questions that wait for nothing", () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-loop-"))
  let app: Awaited<ReturnType<typeof openAll>>
  const openAll = () => open(pipelineOf(folder), isolatedEngine())

  beforeAll(async () => {
    for (let i = 0; i < 40; i++) writeFileSync(join(folder, `${i}.md`), `# Rule ${i}\n\nOf ${i} days of leave, ${i % 7} carry over.\n`)
    app = await openAll()
    await app.run()
    // What is loaded with the first question lets the loop turn by itself.
    await app.ask("How many days carry over?")
  })

  afterAll(async () => {
    await app.close()
    rmSync(folder, { recursive: true })
  })

  /** Asks one question after the other until a timer has fired, five seconds at most. */
  const asksUntilTimer = async (ask: (question: string) => Promise<unknown>): Promise<boolean> => {
    const timer = new AbortController()
    setTimeout(() => timer.abort(), 20)
    const end = performance.now() + 5_000
    for (let n = 0; !timer.signal.aborted && performance.now() < end; n++) await ask(`How much of ${n} days of leave carries over?`)
    return timer.signal.aborted
  }

  it("leave timers their turn, one after the other", async () => {
    assert.isTrue(await asksUntilTimer((question) => app.retrieve(question)))
    assert.isTrue(await asksUntilTimer((question) => app.ask(question)))
  })

  it("leave timers their turn, many at once", async () => {
    const started = performance.now()
    let turn = Infinity
    setTimeout(() => void (turn = performance.now() - started), 20)
    await Promise.all(Array.from({ length: 120 }, async (_, n) => {
      await app.ask(`How many of ${n} days carry over in rule ${n % 40}?`)
    }))
    // A timer of 20 ms that waited for all of them would come last.
    assert.isBelow(turn, (performance.now() - started) / 2)
  })

  it("can be aborted between two of them", async () => {
    const signal = AbortSignal.timeout(20)
    const asking = async (): Promise<void> => {
      const end = performance.now() + 5_000
      for (let n = 0; performance.now() < end; n++) await app.retrieve(`What of ${n} days?`, { signal })
    }
    assert.instanceOf(await asking().then(() => undefined, (error: unknown) => error), Error)
  })
})
