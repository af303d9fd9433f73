import { assert, describe, it } from "@effect/vitest"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { sumOf } from "../../../../src/engines/embedded/store/Checksum.ts"
import { StoreBench } from "../support/StoreBench.ts"

const prose = [
  "Cheltuielile de călătorie sunt plătite în zece zile de la sfârșitul lunii, dacă nu lipsesc chitanțele.",
  "Biblioteca este deschisă de luni până vineri, iar cititorii au nevoie de un permis.",
  "Cererea pentru concediu se face cu două săptămâni înainte și este aprobată de șeful echipei.",
  "Parcarea din curte este pentru vizitatori, nu pentru angajații care au loc în garaj."
]
/** Nothing that holds sentences together. */
const short = "Formular decont transport aerian"

const withBench = <A>(use: (bench: StoreBench) => A): A => {
  const dir = mkdtempSync(join(tmpdir(), "sluice-"))
  try {
    const bench = new StoreBench(dir)
    bench.createCorpus("c")
    return use(bench)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** The analyzers of all segments; what has none of its own words is among them by what it was taken for. */
const analyzers = (bench: StoreBench): ReadonlyArray<unknown> =>
  bench.db.prepare("SELECT analyzers FROM segments ORDER BY first_chunk").all().map((row) => JSON.parse(String(row["analyzers"])))

const put = (bench: StoreBench, texts: ReadonlyArray<string>, from = 0) =>
  bench.committer.commit(texts.flatMap((text, i) => bench.file("c", `f${from + i}`, [text])))

describe("a file that does not tell its language", () => {
  it("is taken for what most of the corpus is in, though it comes first", () =>
    withBench((bench) => {
      put(bench, [short, ...prose])
      assert.deepStrictEqual(analyzers(bench), [{ ro: 4 }])
      assert.strictEqual(bench.find("c", "formularul decontului")[0]?.sourceDisplayName, "f0")
    }))

  it("is so in later commits, also when segments are merged", () =>
    withBench((bench) => {
      put(bench, prose)
      put(bench, [short], 4)
      assert.deepStrictEqual(analyzers(bench), [{ ro: 4 }, { ro: 0 }])
      while (bench.committer.merge("idle"));
      put(bench, ["Garanție laptop"], 5)
      assert.deepStrictEqual(analyzers(bench).reduce((all: object, one) => ({ ...all, ...(one as object) }), {}), { ro: 0 })
    }))

  it("is what it looks like where nothing tells", () =>
    withBench((bench) => {
      put(bench, [short, "2024-01-01", "Decont"])
      assert.deepStrictEqual(analyzers(bench), [{ en: 0 }])
    }))

  it("is found among thousands that do not tell either", () =>
    withBench((bench) => {
      put(bench, Array.from({ length: 300 }, (_, i) => `Bosch ${i}`))
      assert.strictEqual(bench.find("c", "bosch 299")[0]?.sourceDisplayName, "f299")
      assert.strictEqual(bench.find("c", "bosch").length, 300)
    }))
})

describe("segments of another version of the analysis", () => {
  it("are made again, never merged", () =>
    withBench((bench) => {
      put(bench, prose)
      const segment = { ...bench.db.prepare("SELECT * FROM segments").get(), analysis: "0", analyzers: "[\"ro\"]" }
      bench.db.prepare("UPDATE segments SET analysis = ?, analyzers = ?, sum = ?").run(
        segment.analysis,
        segment.analyzers,
        sumOf("segments", segment)
      )
      put(bench, [short], 4)
      while (bench.committer.merge("idle"));
      assert.strictEqual(bench.find("c", "formularul decontului")[0]?.sourceDisplayName, "f4")
      assert.deepStrictEqual(analyzers(bench), [{ ro: 4 }])
    }))
})
