import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import { Committer } from "../../../../src/engines/embedded/store/Committer.ts"
import { manyTerms } from "../support/ManyTerms.ts"
import { StoreBench } from "../support/StoreBench.ts"

/** A corpus of ten segments, whose merges take a step for every few terms. */
const newBench = () => {
  const dataDir = mkdtempSync(join(tmpdir(), "sluice-"))
  const bench = new StoreBench(dataDir)
  onTestFinished(() => {
    bench.db.close()
    rmSync(dataDir, { recursive: true, force: true })
  })
  bench.createCorpus("c")
  for (const name of ["a", "b", "d", "e", "f", "g", "h", "i", "j", "k"]) bench.committer.commit(manyTerms(name, 0))
  bench.committer = new Committer(bench.db, dataDir, undefined, 0)
  // Corpora are looked at for merging once they changed.
  bench.committer.commit(manyTerms("l", 0))
  return { bench, dataDir }
}

const names = (bench: StoreBench, ...wanted: ReadonlyArray<string>) =>
  wanted.flatMap((name) => bench.find("c", `${name}x7`).map(({ file }) => file.slice(file.lastIndexOf("/") + 1)))

const strays = (bench: StoreBench) =>
  bench.count("posting_pages p WHERE NOT EXISTS (SELECT 1 FROM segments s WHERE p.id >= s.first_page AND p.id < s.first_page + s.pages)")

const noted = (bench: StoreBench) => bench.count("counters WHERE name LIKE 'merge %'")

describe("merges", () => {
  it("go on in steps, between which others write, and are seen with the last", () => {
    const { bench } = newBench()
    const before = bench.count("segments")
    assert.isTrue(bench.committer.merge("idle"))
    assert.strictEqual(bench.count("segments"), before)
    assert.strictEqual(noted(bench), 3)
    const { generation } = bench.row("c")
    for (let step = 0; step < 3; step++) assert.isTrue(bench.committer.merge("idle"))
    assert.isAbove(strays(bench), 0)
    assert.strictEqual(bench.row("c").generation, generation, "readers need not look again")

    bench.committer.commit(manyTerms("new", 0))
    bench.send("deleteFile", { corpus: "c", name: "b", at: 0 })
    assert.deepStrictEqual(names(bench, "a", "b", "d", "l", "new"), ["a", "d", "l", "new"])
    let steps = 0
    while (bench.committer.merge("idle")) steps++
    assert.isAbove(steps, 3)
    assert.isBelow(bench.count("segments"), before)
    assert.deepStrictEqual([strays(bench), noted(bench)], [0, 0])
    assert.deepStrictEqual(names(bench, "a", "b", "d", "l", "new"), ["a", "d", "l", "new"])
    assert.strictEqual(bench.row("c").chunks, 11)
  })

  it("end with the corpus that they are of", () => {
    const { bench } = newBench()
    assert.isTrue(bench.committer.merge("idle"))
    bench.send("deleteCorpus", { name: "c", force: true, at: 0 })
    while (bench.committer.merge("idle"));
    assert.deepStrictEqual([bench.count("posting_pages"), bench.count("segments"), noted(bench)], [0, 0, 0])
  })

  it("begin anew where another process took what they had written for left behind", () => {
    const { bench } = newBench()
    assert.isTrue(bench.committer.merge("idle"))
    assert.isTrue(bench.committer.merge("idle"))
    new Committer(bench.db, "", undefined, 0).merge("idle")
    assert.deepStrictEqual([strays(bench), noted(bench)], [0, 0])
    while (bench.committer.merge("idle"));
    assert.deepStrictEqual([strays(bench), noted(bench)], [0, 0])
    assert.deepStrictEqual(names(bench, "a", "f", "l"), ["a", "f", "l"])
  })

  it("leave nothing and lose nothing where their process is killed", () => {
    const { bench, dataDir } = newBench()
    const { signal, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, "../support/KilledMerge.ts"), dataDir], {
      encoding: "utf8"
    })
    assert.strictEqual(signal, "SIGKILL", stderr)
    assert.isAbove(strays(bench), 0)
    bench.reopen()
    assert.deepStrictEqual(names(bench, "a", "b", "l", "late"), ["a", "b", "l", "late"])
    while (bench.committer.merge("idle"));
    assert.deepStrictEqual([strays(bench), noted(bench)], [0, 0])
    bench.committer.commit(manyTerms("later", 0))
    while (bench.committer.merge("idle"));
    assert.strictEqual(bench.count("segments"), 1)
    assert.deepStrictEqual([strays(bench), noted(bench)], [0, 0])
    assert.deepStrictEqual(names(bench, "a", "b", "l", "late", "later"), ["a", "b", "l", "late", "later"])
  })
})
