import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { run } from "../../bench/lib/Process.ts"
import { readCollection } from "../../bench/quality/Collection.ts"

describe("collections of other forms", () => {
  let folder = ""
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "sluice-collections-"))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const make = async (kind: string, file: string, content: string, ...options: ReadonlyArray<string>) => {
    writeFileSync(join(folder, file), content)
    const args = ["bench/collections.ts", kind, join(folder, "made"), join(folder, file), ...options]
    const { exitCode, stderr } = await run(process.execPath, args, { cwd: join(import.meta.dirname, "../..") })
    expect([exitCode, stderr]).toEqual([0, ""])
    return readCollection(folder, "made")
  }

  it("have SQuAD's paragraphs once each, with the questions that they answer", async () => {
    const paragraph = (context: string, ...questions: ReadonlyArray<string>) => ({
      context,
      qas: questions.map((question) => ({ question, is_impossible: question.startsWith("Not") }))
    })
    const data = [
      { paragraphs: [paragraph("Rain.", "What falls?", "Not this?"), paragraph("Snow.", "What is white?")] },
      { paragraphs: [paragraph("Rain.", "What is wet?")] }
    ]
    const all = await make("squad", "a.json", JSON.stringify({ data }))
    expect(all.documents.map(({ text }) => text)).toEqual(["Rain.", "Snow."])
    const answers = (made: typeof all) => made.queries.map(({ id, text }) => [text, ...[...made.judgements.get(id) ?? []].flat()])
    expect(answers(all)).toEqual([["What falls?", "0", 1], ["What is white?", "1", 1], ["What is wet?", "0", 1]])
    expect(answers(await make("squad", "a.json", JSON.stringify({ data }), "--queries", "2"))).toEqual([
      ["What falls?", "0", 1],
      ["What is wet?", "0", 1]
    ])
  })

  it("find files by their numbers and a heading that others have", async () => {
    writeFileSync(join(folder, "adr-0012-cache.md"), "# Cache\n\nWhy.\n\n## Consequences\n\nMuch.\n")
    const made = await make(
      "numbered",
      "pep-0008.rst",
      "PEP: 8\n\nNaming\n======\n\nHow.\n\nConsequences\n------------\n\nFew.\n",
      join(folder, "adr-0012-cache.md")
    )
    expect(made.documents.map(({ id }) => id)).toEqual(["pep-0008.rst", "adr-0012-cache.md"])
    const answers = made.queries.map(({ id, text }) => [text, ...[...made.judgements.get(id) ?? []].flat()])
    expect(answers).toEqual([["Consequences of pep 8", "pep-0008.rst", 1], ["Consequences of adr 12", "adr-0012-cache.md", 1]])
  })

  it("find files by the names of their sections, asked and as they are", async () => {
    writeFileSync(join(folder, "other.md"), "# Other\n\n## Examples\n\nMany.\n\n## How to reset `it`\n\nPress.\n")
    const made = await make(
      "sections",
      "guide.md",
      "# Guide\n\n## Examples\n\n```\n# no heading\n```\n\n## Alerting\n\nLoud.\n\n## A heading of more than four words\n\nNo.\n",
      join(folder, "other.md")
    )
    const answers = made.queries.map(({ id, text }) => [text, ...[...made.judgements.get(id) ?? []].flat()])
    expect(answers).toEqual([
      ["Guide", "0-guide.md", 1],
      ["What is Alerting?", "0-guide.md", 1],
      ["Other", "1-other.md", 1],
      ["How to reset it", "1-other.md", 1]
    ])
  })

  it("find a page's paragraphs by what stands in them", async () => {
    const long = "Everyone has the right to a nationality, and nobody shall be deprived of it at will."
    const made = await make("paragraphs", "a.html", `<h1>Rights</h1><p>Too short.</p><p>Everyone has the <i>right</i>${long.slice(22)}</p>`)
    expect(made.documents.map(({ text }) => text)).toEqual([long])
    const texts = made.queries.map(({ text }) => text)
    expect(texts).toHaveLength(3)
    for (const text of texts) expect(long).toContain(text)
    expect(texts[0]).toBe("has the right to a nationali")
  })
})
