import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import { CorpusIndex, IndexDamage } from "../../../../src/engines/embedded/search/CorpusIndex.ts"
import { asBlob, sumOf } from "../../../../src/engines/embedded/store/Checksum.ts"
import { Committer } from "../../../../src/engines/embedded/store/Committer.ts"
import { packSegmentBody, unpackSegmentBody } from "../../../../src/engines/embedded/store/SegmentBody.ts"
import { ByteCache } from "../../../../src/search/ByteCache.ts"
import { manyTerms } from "../support/ManyTerms.ts"
import { random } from "../support/Random.ts"
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
  bench.committer = new Committer(bench.db, dataDir, { mergePatience: 0 })
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
    const { revision } = bench.row("c")
    for (let step = 0; step < 3; step++) assert.isTrue(bench.committer.merge("idle"))
    assert.isAbove(strays(bench), 0)
    assert.strictEqual(bench.row("c").revision, revision, "readers need not look again")

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
    new Committer(bench.db, "", { mergePatience: 0 }).merge("idle")
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

describe("an index", () => {
  it("is opened without its pages, but for those that an older Sluice wrote", () => {
    const { bench } = newBench()
    while (bench.committer.merge("idle"));
    const open = () => new CorpusIndex(bench.db, new ByteCache(1 << 20), bench.row("c"))
    const vocabulary = [...open().vocabulary()]
    bench.db.exec("BEGIN; DELETE FROM posting_pages")
    const index = open()
    assert.isAbove(index.segments[0]?.firstTerms.length ?? 0, 1)
    assert.throws(() => index.lookup(vocabulary[0]?.[0] ?? ""), IndexDamage)
    bench.db.exec("ROLLBACK")
    for (const row of bench.db.prepare("SELECT * FROM segments").all()) {
      const { firstTerms: _, ...before } = unpackSegmentBody(asBlob(row["body"])) ?? assert.fail("no body")
      const body = packSegmentBody(before)
      bench.db.prepare("UPDATE segments SET body = ?, sum = ? WHERE id = ?").run(
        body,
        sumOf("segments", { ...row, body }),
        Number(row["id"])
      )
    }
    assert.deepStrictEqual([...open().vocabulary()], vocabulary)
    bench.db.exec("DELETE FROM posting_pages")
    assert.throws(open, IndexDamage)
  })
})

describe("recent segments", () => {
  /** How often each chunk has each term, and where its vector is. */
  const indexOf = (bench: StoreBench, corpus: string) => {
    const index = new CorpusIndex(bench.db, new ByteCache(1 << 20), bench.row(corpus))
    const postings: Array<string> = []
    for (const [term] of index.vocabulary()) {
      for (const { postings: { frequencies, ordinals }, segment } of index.lookup(term).bySegment) {
        ordinals.forEach((ordinal, at) => postings.push(`${term} in ${segment.chunks[ordinal]}: ${frequencies[at]}`))
      }
    }
    const chunks = Array.from(index.live.keys()).filter((slot) => index.live[slot] === 1)
    return { postings, chunks: chunks.map((slot) => [index.chunkAt(slot), index.embeddingAt(slot)]) }
  }

  const emptyBench = () => {
    const dataDir = mkdtempSync(join(tmpdir(), "sluice-"))
    const bench = new StoreBench(dataDir)
    onTestFinished(() => {
      bench.db.close()
      rmSync(dataDir, { recursive: true, force: true })
    })
    return bench
  }

  it("tell of a frequent term that it is, and leave its list as it is", () => {
    const bench = emptyBench()
    bench.createCorpus("c")
    bench.committer.commit(bench.file("c", "dead", ["all", "all rare"]))
    bench.committer.commit(bench.file("c", "a", ["all rare", "all", "all", "all"]))
    while (bench.committer.merge("idle"));
    const cache = new ByteCache(1 << 20)
    const whole = new CorpusIndex(bench.db, cache, bench.row("c"))
    assert.strictEqual(whole.documentFrequency("all"), 6)
    assert.isFalse(whole.segments.some(({ dead, id }) => cache.has(`p${id}.${dead} all`)))
    bench.send("deleteFile", { corpus: "c", name: "dead", at: 0 })
    const index = new CorpusIndex(bench.db, cache, bench.row("c"))
    const keptOf = (term: string) => index.segments.some(({ dead, id }) => cache.has(`p${id}.${dead} ${term}`))
    assert.isUndefined(index.lookupRare("all", 1))
    assert.isFalse(keptOf("all"))
    // Two of its six may be those that were deleted: they are looked at.
    assert.isUndefined(index.lookupRare("all", 3))
    assert.strictEqual(index.lookupRare("all", 4)?.documentFrequency, 4)
    assert.strictEqual(index.lookupRare("rare", 1)?.documentFrequency, 1)
    assert.isTrue(keptOf("rare"))
    assert.deepStrictEqual(index.lookupRare("rare", 1), index.lookup("rare"))
    assert.strictEqual(index.lookupRare("nowhere", 1)?.documentFrequency, 0)
    assert.strictEqual(index.documentFrequency("all"), 4)
    assert.strictEqual(index.documentFrequency("nowhere"), 0)
  })

  it("are not read to be merged", () => {
    const bench = emptyBench()
    bench.createCorpus("c")
    for (const name of ["a", "b", "d", "e"]) bench.committer.commit(bench.file("c", name, [`${name} all`, `all of ${name} all`]))
    const before = indexOf(bench, "c")
    assert.include(before.postings, "all in 2: 2")
    // Nor could they be made again.
    bench.db.exec("UPDATE posting_pages SET body = x'00'; DELETE FROM chunk_pages")
    while (bench.committer.merge("idle"));
    assert.strictEqual(bench.count("segments"), 1)
    assert.deepStrictEqual(indexOf(bench, "c"), before)
  })

  for (
    const [seed, options] of [
      [1, {}],
      [2, { mergePatience: 0 }],
      [3, { mostRecent: 1_500 }],
      [4, { mergePatience: 0, mostRecent: 700 }]
    ] as const
  ) {
    it(`and all others are what a new index is, whatever is written and merged, ${JSON.stringify(options)}`, () => {
      const bench = emptyBench()
      bench.committer = new Committer(bench.db, "", options)
      for (const corpus of ["c", "d"]) bench.createCorpus(corpus)
      const next = random(seed)
      const word = () => `${next() < 0.1 ? "豹" : "w"}${Math.floor(next() ** 3 * 5_000)}`
      const text = () => Array.from({ length: 1 + Math.floor(next() * 60) }, word).join(" ") + (next() < 0.1 ? " w7".repeat(300) : "")
      const names: Array<string> = []
      for (let commit = 0; commit < 40; commit++) {
        const group = Array.from({ length: 1 + Math.floor(next() * 4) }, (_, at) => {
          const corpus = next() < 0.1 ? "d" : "c"
          const replaces = corpus === "c" && next() < 0.05 ? names.splice(Math.floor(next() * names.length), 1)[0] : undefined
          const name = `${corpus}${commit}-${at}`
          if (corpus === "c") names.push(name)
          return bench.file(corpus, name, Array.from({ length: Math.floor(next() * 6) }, text), replaces)
        }).flat()
        if (next() < 0.1) group.push(bench.message("deleteFile", { corpus: "c", name: "nobody", at: 0 }))
        const refused = bench.committer.commit(group).filter(({ ok }) => !ok)
        assert.isAtMost(refused.length, 1)
        const steps = Math.floor(next() * 6)
        for (let step = 0; step < steps; step++) bench.committer.merge(next() < 0.3 ? "idle" : "busy")
      }
      while (bench.committer.merge("idle"));
      for (const corpus of ["c", "d"]) {
        const merged = indexOf(bench, corpus)
        bench.send("rebuildIndex", { corpus })
        assert.deepStrictEqual(merged, indexOf(bench, corpus))
      }
    })
  }
})
