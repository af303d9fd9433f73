import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { prepareFile } from "../../src/text/pool/PrepareFile.ts"
import { defaultLimits } from "../../src/text/Prepared.ts"

interface Question {
  readonly question: string
  readonly answerable: boolean
  readonly answer?: string
  readonly file?: string
  readonly page?: number
  readonly quote?: string
}

const examples = join(import.meta.dirname, "..", "..", "examples")
const folder = join(examples, "handbook")
const questions: ReadonlyArray<Question> = JSON.parse(readFileSync(join(examples, "handbook.questions.json"), "utf8"))
const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name !== ".sluiceignore")
  .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))

const prepare = (file: string) =>
  prepareFile(
    { content: readFileSync(join(folder, file)), name: file, chunking: { strategy: "structure", size: 256, overlap: 0 } },
    defaultLimits
  )

describe("the example handbook", () => {
  it.each(files)("%s has text that can be indexed", async (file) => {
    const { chunks } = await prepare(file)
    expect(chunks.length).toBeGreaterThan(0)
    expect(chunks.map(({ text }) => text).join(" ")).not.toContain("\uFFFD")
  })

  it.each(questions.filter(({ answerable }) => answerable))("answers: $question", async ({ answer, file, page, quote }) => {
    const { chunks } = await prepare(file!)
    const evidence = chunks.filter(({ text }) => text.includes(answer!) && text.includes(quote!))
    expect(evidence.length).toBeGreaterThan(0)
    expect(evidence.some(({ firstPage }) => firstPage === page)).toBe(true)
  })

  it.each(["gym", "stock option"])("never mentions a %s, so that some questions have no answer", async (subject) => {
    for (const file of files) {
      const { chunks } = await prepare(file)
      expect(chunks.map(({ text }) => text).join(" ").toLowerCase(), file).not.toContain(subject)
    }
  })
})
