import { assert, describe, it } from "@effect/vitest"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { analyze } from "../../../../src/search/analysis/Analyzer.ts"
import { random } from "../support/Random.ts"
import { StoreBench } from "../support/StoreBench.ts"

const lucene = { k1: 1.2, b: 0.75 }

/** BM25 as the book has it, over every chunk there is, nothing indexed. A term counts as often as the query says it. */
const bookBm25 = (chunks: ReadonlyArray<string>, query: string, { b, k1 }: typeof lucene): ReadonlyArray<number> => {
  const documents = chunks.map((text) => analyze(text, "en"))
  const average = documents.reduce((sum, terms) => sum + terms.length, 0) / documents.length
  const scores = documents.map(() => 0)
  for (const term of analyze(query, "en")) {
    const frequencies = documents.map((terms) => terms.filter((other) => other === term).length)
    const having = frequencies.filter((frequency) => frequency > 0).length
    const idf = Math.log(1 + (documents.length - having + 0.5) / (having + 0.5))
    frequencies.forEach((frequency, at) => {
      const norm = k1 * (1 - b + b * (documents[at]?.length ?? 0) / average)
      scores[at] = (scores[at] ?? 0) + idf * (frequency * (k1 + 1)) / (frequency + norm)
    })
  }
  return scores
}

/** Words that are terms of their own, no two of the same stem. The first ones are everywhere. */
const words = Array.from({ length: 60 }, (_, i) => `w${String.fromCharCode(97 + (i % 26))}${String.fromCharCode(97 + Math.floor(i / 26))}x`)

const inTempDir = (body: (dir: string) => void): void => {
  const dir = mkdtempSync(join(tmpdir(), "sluice-"))
  try {
    body(dir)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

describe("BM25 over segments", () => {
  for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
    const asked = seed > 6 ? { k1: 2.5, b: 0 } : seed > 4 ? { k1: 3 } : undefined
    it(`agrees with BM25 over all chunks after random writes, ${asked === undefined ? "" : `${JSON.stringify(asked)}, `}seed ${seed}`, () =>
      inTempDir((dir) => {
        const next = random(seed)
        const pick = (limit: number): number => Math.floor(next() * limit)
        const text = (): string =>
          // Squared, so that some words are common and some rare.
          Array.from({ length: 1 + pick(12) }, () => words[Math.floor(next() ** 2 * words.length)]).join(" ")
        const bench = new StoreBench(dir, seed % 2 === 0 ? 1 : 1 << 20)
        bench.createCorpus("c", asked === undefined ? {} : { hybrid: { bm25: asked } })
        bench.createCorpus("other")
        const stored = new Map<string, ReadonlyArray<string>>()
        let files = 0

        const put = (replaces?: string) => {
          const name = `f${files++}`
          const texts = Array.from({ length: 1 + pick(4) }, text)
          if (replaces !== undefined) stored.delete(replaces)
          stored.set(name, texts)
          return bench.file("c", name, texts, replaces)
        }
        const someFile = (): string | undefined => [...stored.keys()][pick(stored.size)]

        const check = (): void => {
          const query = `${text()} ${text()}`
          // Maps keep the order of insertion, which is the order of chunk numbers.
          const chunks = [...stored.values()].flat()
          const expected = bookBm25(chunks, query, { ...lucene, ...asked })
            .map((score, at) => ({ score, text: chunks[at] }))
            .filter(({ score }) => score > 0)
            .toSorted((a, b) => b.score - a.score)
          const found = bench.find("c", query)
          assert.strictEqual(found.length, expected.length)
          found.forEach((context, at) => {
            assert.closeTo(context.explanation?.sparse ?? Number.NaN, expected[at]?.score ?? 0, 1e-9)
          })
          assert.sameMembers(found.map((context) => context.text), expected.map((one) => one.text))
        }

        for (let step = 0; step < 120; step++) {
          const what = next()
          const old = someFile()
          if (what < 0.5 || old === undefined) {
            bench.committer.commit([...put(), ...(next() < 0.5 ? put() : []), ...bench.file("other", `o${step}`, [text()])])
          } else if (what < 0.65) {
            bench.committer.commit(put(old))
          } else if (what < 0.8) {
            stored.delete(old)
            bench.send("deleteFile", { corpus: "c", name: old, at: 0 })
          } else if (what < 0.9) {
            while (bench.committer.merge("idle"));
          } else if (what < 0.95) {
            bench.reopen()
          } else {
            check()
          }
        }
        while (bench.committer.merge("idle"));
        check()
        bench.reopen()
        check()
        bench.db.close()
      }))
  }
})
