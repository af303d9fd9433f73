import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { run } from "../../bench/lib/Process.ts"
import { evaluateEach, type Hit, leftOut } from "../../bench/quality/Evaluate.ts"
import { misspell } from "../../bench/quality/Misspell.ts"
import { ranking } from "../../src/search/Ranking.ts"

/** One document for each question, found by its words. */
const subjects = [
  ["the vacation policy of the company", "Every employee has twenty eight days of vacation, which the policy explains."],
  ["reimbursement of travel expenses", "Expenses of travel are reimbursed within ten days, by the reimbursement form."],
  ["weather forecast for gardens", "Gardens need water when the weather forecast has no rain."],
  ["repair of bicycle brakes", "Brakes of a bicycle wear out, and their repair takes an hour."],
  ["history of steam engines", "Engines that were driven by steam have a long history in mining."],
  ["recipes with roasted pumpkin", "Pumpkin is roasted in the oven for these recipes."]
] as const

describe("the bench of quality", () => {
  let folder = ""
  const bench = async (...options: ReadonlyArray<string>) => {
    const args = ["bench/quality.ts", folder, ...options]
    const { exitCode, stderr, stdout } = await run(process.execPath, args, { cwd: join(import.meta.dirname, "../..") })
    return { exitCode, stderr, lines: stdout.trim().split("\n").map((line) => line.trim().split(/ {2,}/)) }
  }

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "sluice-quality-"))
    const path = join(folder, "small")
    mkdirSync(path)
    const jsonl = (records: ReadonlyArray<object>) => records.map((record) => `${JSON.stringify(record)}\n`).join("")
    writeFileSync(join(path, "corpus.jsonl"), jsonl(subjects.map(([, text], at) => ({ _id: `d${at}`, title: "", text }))))
    writeFileSync(join(path, "queries.jsonl"), jsonl(subjects.map(([text], at) => ({ _id: `q${at}`, text }))))
    writeFileSync(join(path, "qrels.tsv"), `query-id\tcorpus-id\tscore\n${subjects.map((_, at) => `q${at}\td${at}\t1\n`).join("")}`)
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it("asks with slips as often as it is told, and counts those that are read as what was meant", async () => {
    const [header, ...rows] = (await bench("--slips", "2")).lines
    const [small, mean] = rows.map((row) => Object.fromEntries(row.map((cell, at) => [header?.[at] ?? "", cell])))
    expect(small).toMatchObject({ lucene: "-", bm25: "1.0000 1.000", default: "1.0000 1.000", fixed: "1.0000 1.000" })
    const [right = 0, slips = 0] = (small?.["right"] ?? "").split(" of ").map(Number)
    // Two slips in each of six questions, twice.
    expect(slips).toBeLessThanOrEqual(24)
    expect(slips).toBeGreaterThan(15)
    expect(right).toBeLessThanOrEqual(slips)
    expect(right).toBeGreaterThan(slips / 2)
    expect(mean?.["right"]).toBe(small?.["right"])
  })

  it("says what a choice is worth where it was not made", () => {
    const figures = (...ndcg: ReadonlyArray<number>) => ndcg.map((ndcg10) => ({ ndcg10, recall100: 1 - ndcg10 }))
    // The first alone is for the second value; without it the first value is best, so it counts .1.
    const { ndcg10, recall100 } = leftOut([figures(0.1, 0.9), figures(0.5, 0.4), figures(0.5, 0.4)])
    expect(ndcg10).toBeCloseTo((0.1 + 0.4 + 0.4) / 3)
    expect(recall100).toBeCloseTo((0.9 + 0.6 + 0.6) / 3)
  })

  it("varies a constant or alpha, and knows no other", async () => {
    const { lines: [header, small] } = await bench("--vary", "alpha=0,1")
    expect(header).toEqual(["nDCG@10 R@100 ms", "lucene", "bm25", "alpha 0", "alpha 1"])
    expect(small?.join(" ")).toMatch(/^small -( 1\.0000 1\.000 [\d.]+){3}$/)
    const several = (await bench("--vary", "alpha=.25,.5", "--vary", "shared=0,2.5", "--slips", "1")).lines
    expect(several.map(([name]) => name?.split(" ")[0])).toEqual(["alpha", "small", "mean", "least", "shared", "small", "mean", "least"])
    expect(several[0]).toEqual(["alpha", "lucene", "bm25", "default", "alpha .5"])
    expect(several[4]).toEqual(["shared", "lucene", "bm25", "shared 0", "default"])
    // What is chosen is asked for once, and told in both, its time too.
    const figures = (row: number) => several[row]?.join(" ").split(/ +/).slice(5) ?? []
    expect(figures(1).slice(0, 3)).toEqual(figures(5).slice(3))
    for (const wrong of ["beta=1", "shared="]) {
      const { exitCode, stderr } = await bench("--vary", wrong)
      expect([exitCode, stderr], wrong).toEqual([4, expect.stringContaining("NAME is one of candidates, grammar")])
    }
  })
})

describe("the constants of ranking", () => {
  it("each has its place in docs/search.md", () => {
    const page = readFileSync(join(import.meta.dirname, "../../docs/search.md"), "utf8")
    expect(["alpha", ...Object.keys(ranking)].filter((name) => !page.includes(`\`${name}\``))).toEqual([])
  })
})

describe("evaluateEach", () => {
  it("asks each question in every way, another one first each time", async () => {
    const asked: Array<string> = []
    const way = (name: string, hits: ReadonlyArray<Hit>) => async (query: string) => {
      asked.push(`${name}${query}`)
      return hits
    }
    const judgements = new Map(["1", "2"].map((query) => [query, new Map([["good", 1]])]))
    const figures = await evaluateEach(judgements, [
      way("a", [{ id: "good", score: 2 }]),
      way("b", [{ id: "bad", score: 2 }, { id: "good", score: 1 }])
    ])
    expect(asked).toEqual(["a1", "b1", "b2", "a2"])
    expect(figures.map(({ ndcg10, recall100 }) => [ndcg10, recall100])).toEqual([[1, 1], [1 / Math.log2(3), 1]])
  })
})

describe("misspell", () => {
  it("tells the slips it made, the same for the same seed and others for another", () => {
    const question = "which expenses of travel are reimbursed"
    const { slips, text } = misspell(question, 7)
    expect(slips.length).toBeGreaterThan(0)
    expect(slips.reduce((all, { slip, word }) => all.replace(slip, word), text)).toBe(question)
    expect(misspell(question, 7)).toEqual({ slips, text })
    expect(new Set([1, 2, 3, 4].map((seed) => misspell(question, seed).text)).size).toBe(4)
  })
})
