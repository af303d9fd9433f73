import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { textHash } from "../../../../src/engines/embedded/store/Hash.ts"
import { packSparse } from "../../../../src/engines/embedded/store/Vector.ts"
import { embedHashedSparse, embedWeighed } from "../../../../src/text/hashed/EmbedHashed.ts"
import { StoreBench } from "../support/StoreBench.ts"
import { languages, type Passage } from "./fixtures/Passages.ts"

const everyLanguage = "all"

/** The first is asked for by a verb whose first part stands at the end of the question. */
const parted: ReadonlyArray<Passage> = [
  { text: "Jeder Redakteur darf auf dieser Seite Ordner anlegen.", question: "Wie lege ich einen Ordner an?" },
  { text: "Der Ordner steht im Schrank.", question: "Schrank" }
]

/** A corpus for each language, and one that holds all of them, where a short question is of no language. */
const build = (bench: StoreBench): void => {
  for (
    const [language, passages] of [
      ...Object.entries(languages),
      ["parted", parted] as const,
      [everyLanguage, Object.values(languages).flat()] as const
    ]
  ) {
    bench.createCorpus(language)
    bench.committer.commit(passages.flatMap(({ text }) => {
      const chunk = { text, headings: [], byteStart: 0, byteEnd: 1, tokens: 1, hash: textHash(text) }
      const vectors = [{ hash: chunk.hash, vector: packSparse(embedHashedSparse(text, "document"), 2048) }]
      const file = { name: `${language} ${text}`, displayName: text, sourceUri: text, sizeBytes: 1, tokens: 1, chunks: [chunk] }
      return [
        bench.message("putVectors", { embedder: "none", vectors, at: 0 }),
        bench.message("putFile", { corpus: language, file, at: 0 })
      ]
    }))
  }
}

describe("questions in words that the passage has in other forms", () => {
  const dir = mkdtempSync(join(tmpdir(), "sluice-"))
  let bench: StoreBench
  beforeAll(() => {
    bench = new StoreBench(dir)
    build(bench)
  })
  afterAll(() => rmSync(dir, { recursive: true, force: true }))

  const first = (corpus: string, query: string, alpha: number): string | undefined =>
    bench.search.run(bench.row(corpus), {
      query,
      count: 3,
      alpha,
      vector: (weigh) => embedWeighed(query, weigh),
      correctSpelling: true,
      explain: false
    })[0]?.sourceDisplayName

  const missed = (corpus: string, passages: ReadonlyArray<Passage>, alpha: number): ReadonlyArray<string> =>
    passages.filter(({ question, text }) => first(corpus, question, alpha) !== text).map(({ question }) =>
      `${question} -> ${first(corpus, question, alpha)}`
    )

  it("find it in German where the verb's first part stands at the end", () => {
    const query = parted[0]!.question
    const [hit] = bench.search.run(bench.row("parted"), {
      query,
      count: 1,
      alpha: 0.2,
      vector: (weigh) => embedWeighed(query, weigh),
      correctSpelling: true,
      explain: true
    })
    assert.strictEqual(hit?.sourceDisplayName, parted[0]!.text)
    assert.includeMembers(hit?.explanation?.terms.map(({ term }) => term) ?? [], ["ordn", "anleg"])
  })

  it("find it in Thai with a slip, and explain says what was meant", () => {
    const [hit] = bench.search.run(bench.row("th"), {
      query: "โรงพยบาลใกล้ที่สุด",
      count: 1,
      alpha: 0,
      correctSpelling: true,
      explain: true
    })
    assert.strictEqual(hit?.sourceDisplayName, "โรงพยาบาลที่ใกล้ที่สุดอยู่บนถนนริมแม่น้ำ")
    const corrected = hit?.explanation?.terms.filter(({ corrected }) => corrected === true)
    assert.deepStrictEqual(corrected?.map(({ from, term }) => [from, term]), [["พยบาล", "พยาบาล"]])
  })

  for (const [language, passages] of Object.entries(languages)) {
    it(`find it first: ${language}`, () => {
      assert.deepStrictEqual(missed(language, passages, 0), [], "by BM25")
      assert.deepStrictEqual(missed(language, passages, 0.25), [], "by the default mix")
    })

    it(`find it first among all languages: ${language}`, () => {
      assert.deepStrictEqual(missed(everyLanguage, passages, 0.25), [], "by the default mix")
    })
  }
})
