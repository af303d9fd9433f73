import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { writeCorpus } from "../../bench/corpus.ts"
import { changedChunks, measure } from "../../bench/lib/Measure.ts"
import type { Subject } from "../../bench/lib/Subject.ts"

const corpus = { files: 100, bytes: 100_000, seed: 3 }
const latency = { queries: 5, p50: 1, p99: 2 }

let workspace = ""
beforeEach(() => {
  workspace = mkdtempSync(join(tmpdir(), "sluice-measure-"))
})
afterEach(() => rmSync(workspace, { recursive: true }))

/** Takes the seconds it is told to and leaves ten bytes in its store per sync. */
const pretender = (name: string, calls: Array<string>, seconds: Array<number>): Subject => ({
  name,
  sync: async (_docs, store) => {
    calls.push(`${name} sync ${store.slice(workspace.length + 1)}`)
    mkdirSync(store, { recursive: true })
    writeFileSync(join(store, `sync-${calls.length}`), "0123456789")
    return { seconds: seconds.shift() ?? 0, peakRss: seconds.length * 100, chunks: 7, embedded: 4 }
  },
  query: async (store, queries) => {
    calls.push(`${name} ${queries.length} queries ${store.slice(workspace.length + 1)}`)
    return { reopenSeconds: 0.1, sparse: latency, hybrid: latency }
  }
})

describe("measure", () => {
  it("lets the subjects take turns, goes on with the last store, and takes medians", async () => {
    const docs = join(workspace, "docs")
    writeCorpus(docs, corpus)
    const calls: Array<string> = []
    const one = pretender("one", calls, [3, 9, 1, 0.5, 0.4, 0.6, 1, 3, 2])
    const two = pretender("two", calls, [])
    const { edits, figures } = await measure([one, two], { docs, workspace, corpus, queries: 5, repeat: 3, note: () => undefined })
    const cold = [0, 1, 2].flatMap((round) => [`one sync one-${round}`, `two sync two-${round}`])
    const later = Array.from({ length: 6 }, () => ["one sync one-2", "two sync two-2"]).flat()
    expect(calls).toEqual([...cold, ...later, "one 205 queries one-2", "two 205 queries two-2"])
    expect(edits).toHaveLength(3)
    expect(figures[0]).toMatchObject({
      cold: { seconds: 3, peakRss: 800 },
      unchanged: { seconds: 0.5 },
      edited: { seconds: 2 },
      embeddedAfterEdits: 12,
      storeBytes: 70
    })
  })
})

describe("changed chunks", () => {
  const chunking = { strategy: "fixed", size: 64, overlap: 8 } as const
  const page = (middle: string): string => ["# Title", "alpha ".repeat(300), middle, "omega ".repeat(300)].join("\n\n")

  it("counts the chunks whose text the page did not have", async () => {
    const edit = { path: "page.md", before: page("the old paragraph"), after: page("a new paragraph") }
    const changed = await changedChunks([edit], chunking)
    expect(changed).toBeGreaterThan(0)
    expect(changed).toBeLessThan(12)
  })

  it("counts none where nothing changed", async () => {
    expect(await changedChunks([{ path: "page.md", before: page("same"), after: page("same") }], chunking)).toBe(0)
  })
})
