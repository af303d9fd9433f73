import { assert, describe, it } from "@effect/vitest"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import { IndexDamage } from "../../../../src/engines/embedded/search/CorpusIndex.ts"
import { StoreBench } from "../support/StoreBench.ts"

const newBench = (): StoreBench => {
  const dir = mkdtempSync(join(tmpdir(), "sluice-"))
  const bench = new StoreBench(dir)
  onTestFinished(() => {
    bench.db.close()
    rmSync(dir, { recursive: true, force: true })
  })
  bench.createCorpus("c")
  return bench
}

const texts = (bench: StoreBench, query: string): ReadonlyArray<string> => bench.find("c", query).map(({ text }) => text)

describe("commits", () => {
  it("write nothing of a command that is refused, and all of the others of its group", () => {
    const bench = newBench()
    const replies = bench.committer.commit([
      ...bench.file("c", "one", ["apples"]),
      ...bench.file("missing", "two", ["pears"]),
      bench.message("deleteFile", { corpus: "c", name: "nobody" }),
      ...bench.file("c", "three", ["apples and plums"])
    ])
    assert.deepStrictEqual(replies.map(({ ok }) => ok), [true, true, true, false, false, true, true])
    assert.sameMembers([...texts(bench, "apples")], ["apples", "apples and plums"])
    assert.strictEqual(bench.row("c").chunks, 2)
  })

  it("say which vectors a file lacks, and write nothing of it", () => {
    const bench = newBench()
    const [, put] = bench.file("c", "one", ["apples"])
    assert.isDefined(put)
    const [reply] = bench.committer.commit([put])
    assert.deepStrictEqual(reply?.ok === true ? Object.keys(reply.value as object) : [], ["missing"])
    assert.strictEqual(bench.count("files"), 0)
    assert.strictEqual(bench.count("chunk_pages"), 0)
    assert.strictEqual(bench.row("c").generation, 0)
  })

  it("take deletes and replacements in the group that brought the file", () => {
    const bench = newBench()
    bench.committer.commit([
      ...bench.file("c", "one", ["apples"]),
      ...bench.file("c", "two", ["pears"], "one"),
      ...bench.file("c", "three", ["plums"]),
      bench.message("deleteFile", { corpus: "c", name: "three" })
    ])
    assert.deepStrictEqual(texts(bench, "apples pears plums"), ["pears"])
  })

  it("embed a text once, and drop it with the last file that has it", () => {
    const bench = newBench()
    bench.committer.commit([...bench.file("c", "one", ["same", "own"]), ...bench.file("c", "two", ["same", "same"])])
    assert.strictEqual(bench.count("embeddings"), 2)
    bench.send("deleteFile", { corpus: "c", name: "one" })
    assert.strictEqual(bench.count("embeddings"), 1)
    bench.send("deleteFile", { corpus: "c", name: "two" })
    assert.strictEqual(bench.count("embeddings"), 0)
    assert.strictEqual(bench.count("chunk_pages"), 0)
  })

  it("leave nothing behind of a corpus that is deleted", () => {
    const bench = newBench()
    bench.committer.commit([...bench.file("c", "one", ["apples"]), ...bench.file("c", "two", ["pears"])])
    bench.send("deleteFile", { corpus: "c", name: "one" })
    assert.isFalse(bench.send("deleteCorpus", { name: "c", force: false })?.ok)
    assert.isTrue(bench.send("deleteCorpus", { name: "c", force: true })?.ok)
    for (const table of ["corpora", "files", "chunk_pages", "embeddings", "segments", "posting_pages", "tombstones"]) {
      assert.strictEqual(bench.count(table), 0, table)
    }
  })

  it("change facts about a file without touching chunks, vectors or index", () => {
    const bench = newBench()
    bench.committer.commit(bench.file("c", "one", ["apples"]))
    const before = Number(bench.db.prepare("SELECT total_changes() AS n").get()?.["n"])
    bench.send("updateFile", { corpus: "c", name: "one", patch: { displayName: "renamed" }, at: 1 })
    // The file's row, and the corpus's generation.
    assert.strictEqual(Number(bench.db.prepare("SELECT total_changes() AS n").get()?.["n"]) - before, 2)
    assert.strictEqual(bench.find("c", "apples")[0]?.sourceDisplayName, "renamed")
  })

  it("keep vectors that no file used for a day, then sweep them", () => {
    const bench = newBench()
    const [vectors] = bench.file("c", "one", ["apples"])
    assert.isDefined(vectors)
    bench.committer.commit([vectors])
    const day = 24 * 3600 * 1e6
    bench.committer.tidy(day - 1)
    assert.strictEqual(bench.count("embeddings"), 1)
    bench.committer.tidy(3 * day)
    assert.strictEqual(bench.count("embeddings"), 0)
  })
})

describe("a full disk", () => {
  it("fails the group as a whole, loses nothing, and is over when there is space again", () => {
    const bench = newBench()
    bench.committer.commit(bench.file("c", "one", ["apples"]))
    const { page_count: size } = bench.db.prepare("PRAGMA page_count").get() ?? {}
    bench.db.exec(`PRAGMA max_page_count = ${Number(size) + 2}`)
    const big = Array.from({ length: 400 }, (_, i) => `plums number${i} ${"x".repeat(i)}`)
    const group = [...bench.file("c", "two", ["apples too"]), ...bench.file("c", "three", big)]
    const replies = bench.committer.commit(group)
    for (const reply of replies) assert.strictEqual(!reply.ok && reply.error._tag === "StateError" && reply.error.problem, "full")
    assert.deepStrictEqual(texts(bench, "apples"), ["apples"])
    bench.db.exec("PRAGMA max_page_count = 1000000")
    assert.isTrue(bench.committer.commit(group).every(({ ok }) => ok))
    assert.strictEqual(texts(bench, "plums").length, 400)
    assert.sameMembers([...texts(bench, "apples")], ["apples", "apples too"])
  })
})

describe("a damaged index", () => {
  const damages: ReadonlyArray<readonly [string, string]> = [
    ["a posting page with a flipped byte", "UPDATE posting_pages SET body = X'0000000000' || substr(body, 6)"],
    ["a lost posting page", "DELETE FROM posting_pages WHERE id = (SELECT max(id) FROM posting_pages)"],
    ["a lost segment", "DELETE FROM segments WHERE id = (SELECT max(id) FROM segments)"],
    ["a segment that is cut short", "UPDATE segments SET body = substr(body, 1, 6)"],
    ["an index of another analysis", "UPDATE segments SET analysis = 'old'"]
  ]
  for (const [name, sql] of damages) {
    it(`is noticed and rebuilt from the chunks: ${name}`, () => {
      const bench = newBench()
      for (let i = 0; i < 20; i++) bench.committer.commit(bench.file("c", `f${i}`, [`apples number${i}`, `pears number${i}`]))
      bench.send("deleteFile", { corpus: "c", name: "f3" })
      const expected = bench.find("c", "apples number7")
      bench.db.exec(sql)
      bench.reopen()
      assert.throws(() => bench.find("c", "apples number7"), IndexDamage)
      assert.isTrue(bench.send("rebuildIndex", { corpus: "c" })?.ok)
      assert.deepStrictEqual(bench.find("c", "apples number7"), expected)
    })
  }

  it("is rebuilt when a merge meets it", () => {
    const bench = newBench()
    for (let i = 0; i < 20; i++) bench.committer.commit(bench.file("c", `f${i}`, [`apples number${i}`]))
    const expected = bench.find("c", "apples number7")
    bench.db.exec("UPDATE posting_pages SET body = X'00'")
    while (bench.committer.merge("idle"));
    bench.reopen()
    assert.deepStrictEqual(bench.find("c", "apples number7"), expected)
  })
})
