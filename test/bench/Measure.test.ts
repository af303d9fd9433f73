import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { generatedText } from "../../bench/corpus.ts"
import { changedChunks, measure } from "../../bench/lib/Measure.ts"
import { peersOf } from "../../bench/lib/Peers.ts"
import { realText } from "../../bench/lib/RealText.ts"
import type { Subject } from "../../bench/lib/Subject.ts"

const corpus = generatedText({ files: 100, bytes: 100_000, seed: 3 })
const latency = { queries: 5, p50: 1, p99: 2 }

let workspace = ""
beforeEach(() => {
  workspace = mkdtempSync(join(tmpdir(), "sluice-measure-"))
})
afterEach(() => rmSync(workspace, { recursive: true }))

/** Takes the seconds it is told to and leaves ten bytes in its store per sync. */
const pretender = (name: string, calls: Array<string>, seconds: Array<number>, looksForChanges = true): Subject => ({
  name,
  looksForChanges,
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
    corpus.write(docs)
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

  it("asks nobody to look for changes who does not", async () => {
    const docs = join(workspace, "docs")
    corpus.write(docs)
    const calls: Array<string> = []
    const subjects = [pretender("one", calls, [1, 2, 3]), pretender("other", calls, [], false)]
    const { figures: [one, other] } = await measure(subjects, { docs, workspace, corpus, queries: 1, repeat: 1, note: () => undefined })
    expect(calls.filter((call) => call.startsWith("other"))).toEqual(["other sync other-0", "other 201 queries other-0"])
    expect(calls.filter((call) => call.startsWith("one sync"))).toHaveLength(3)
    expect(one?.edited?.seconds).toBe(3)
    expect([other?.unchanged, other?.edited, other?.embeddedAfterEdits]).toEqual([undefined, undefined, undefined])
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

describe("real texts", () => {
  it("are those of a folder, copied before they are edited, and asked for in words of theirs", () => {
    const from = join(workspace, "from")
    mkdirSync(join(from, "deep"), { recursive: true })
    const texts: Record<string, string> = {
      "one.md": "# One\n\nalpha beta gamma delta epsilon zeta eta theta",
      "deep/two.rst": "Two\n===\n\niota kappa lambda mu nu xi omicron",
      "image.png": "\u0000"
    }
    for (const [name, text] of Object.entries(texts)) writeFileSync(join(from, name), text)
    const text = realText(from, 1)
    const docs = join(workspace, "docs")
    expect(text.write(docs)).toBe(texts["one.md"]!.length + texts["deep/two.rst"]!.length)
    expect(text.files).toBe(2)
    expect(existsSync(join(docs, "image.png"))).toBe(false)
    const words = Object.values(texts).join(" ")
    const queries = text.queries(20)
    expect(queries).toEqual(realText(from, 1).queries(20))
    for (const query of queries) for (const word of query.split(" ")) expect(words).toContain(word)
    const [edit] = text.edit(docs, 0.5, 1)
    expect(edit?.after).not.toBe(edit?.before)
    expect(readFileSync(edit!.path, "utf8")).toBe(edit?.after)
    for (const [name, text] of Object.entries(texts)) expect(readFileSync(join(from, name), "utf8")).toBe(text)
    expect(() => realText(join(from, "deep", ".."), 1)).not.toThrow()
    rmSync(join(from, "one.md"))
    rmSync(join(from, "deep/two.rst"))
    expect(() => realText(from, 1)).toThrow(/\.md, \.rst, \.txt/)
  })
})

describe("peers", () => {
  it("are named as their programs are", () => {
    expect(peersOf("fts5,orama")).toEqual(["fts5", "orama"])
    expect(peersOf("")).toEqual([])
    expect(() => peersOf("lucene")).toThrow(/langchain, lancedb, orama, fts5; lucene/)
  })
})
