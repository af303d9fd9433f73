import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { type CorpusOptions, corpusQueries, editCorpus, writeCorpus } from "../../bench/corpus.ts"

const options: CorpusOptions = { files: 120, bytes: 300_000, seed: 7 }

const pages = (folder: string): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".md"))
      .sort()
      .map((path) => [path, readFileSync(join(folder, path), "utf8")])
  )

describe("the generated corpus", () => {
  let folder = ""
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "sluice-corpus-"))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  it("has the files and bytes asked for", () => {
    const bytes = writeCorpus(folder, options)
    const written = pages(folder)
    expect(written.size).toBe(options.files)
    expect([...written.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0)).toBe(bytes)
    expect(Math.abs(bytes - options.bytes)).toBeLessThan(5_000)
  })

  it("is the same for the same seed and another for another", () => {
    const [one, same, other] = ["one", "same", "other"].map((name) => join(folder, name))
    writeCorpus(one!, options)
    writeCorpus(same!, options)
    writeCorpus(other!, { ...options, seed: 8 })
    expect(pages(same!)).toEqual(pages(one!))
    expect(pages(other!)).not.toEqual(pages(one!))
  })

  it("has headings, lists, tables, code and paragraphs that pages share", () => {
    writeCorpus(folder, options)
    const texts = [...pages(folder).values()]
    const all = texts.join("\n")
    for (const form of [/^# /m, /^## /m, /^- /m, /^\| --- \|/m, /^```ts$/m]) expect(all).toMatch(form)
    const counts = new Map<string, number>()
    for (const block of texts.flatMap((text) => text.split("\n\n"))) counts.set(block, (counts.get(block) ?? 0) + 1)
    expect([...counts].some(([block, count]) => count > 1 && block.length > 100)).toBe(true)
  })

  it("follows Zipf's law roughly: the commonest words make up much of the text", () => {
    writeCorpus(folder, options)
    const counts = new Map<string, number>()
    const words = [...pages(folder).values()].join(" ").toLowerCase().match(/[a-z]+/g) ?? []
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
    const sorted = [...counts.values()].sort((a, b) => b - a)
    const top = sorted.slice(0, 50).reduce((sum, count) => sum + count, 0) / words.length
    expect(top).toBeGreaterThan(0.25)
    expect(top).toBeLessThan(0.65)
    expect(sorted.length).toBeGreaterThan(3_000)
  })

  it("edits one paragraph in the share of pages asked for", () => {
    writeCorpus(folder, options)
    const before = pages(folder)
    const edits = editCorpus(folder, options, 0.05)
    const after = pages(folder)
    const changed = [...after].filter(([path, text]) => before.get(path) !== text)
    expect(edits).toHaveLength(6)
    expect(changed.map(([path]) => join(folder, path)).sort()).toEqual(edits.map(({ path }) => path).sort())
    for (const [path, text] of changed) {
      const old = new Set(before.get(path)!.split("\n\n"))
      expect(text.split("\n\n").filter((block) => !old.has(block))).toHaveLength(1)
    }
  })

  it("edits other text in another round", () => {
    writeCorpus(folder, options)
    const first = editCorpus(folder, options, 0.05, 1)
    const second = editCorpus(folder, options, 0.05, 2)
    expect(second.every(({ after, before }) => after !== before)).toBe(true)
    expect(second.map(({ path }) => path)).not.toEqual(first.map(({ path }) => path))
  })

  it("asks questions whose words the corpus has", () => {
    writeCorpus(folder, options)
    const all = [...pages(folder).values()].join("\n").toLowerCase()
    const queries = corpusQueries(options, 50)
    const words = queries.flatMap((query) => query.toLowerCase().split(" "))
    expect(new Set(queries).size).toBe(50)
    expect(words.filter((word) => all.includes(word)).length / words.length).toBeGreaterThan(0.9)
  })
})
