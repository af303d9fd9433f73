import { assert, describe, it } from "@effect/vitest"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { DatabaseSync } from "node:sqlite"
import { onTestFinished } from "vitest"
import { IndexDamage } from "../../../../src/engines/embedded/search/CorpusIndex.ts"
import type { CommandMessage } from "../../../../src/engines/embedded/store/Commands.ts"
import { Committer } from "../../../../src/engines/embedded/store/Committer.ts"
import { textHash } from "../../../../src/engines/embedded/store/Hash.ts"
import { random } from "../support/Random.ts"
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

/** The same database, with the savepoints that are made in it counted. */
const countingSavepoints = (db: DatabaseSync): { readonly db: DatabaseSync; readonly count: () => number } => {
  let count = 0
  const watched = new Proxy(db, {
    get: (target, key) => {
      if (key !== "prepare") {
        const value: unknown = Reflect.get(target, key)
        return typeof value === "function" ? value.bind(target) : value
      }
      return (sql: string) => {
        const statement = target.prepare(sql)
        if (!sql.startsWith("SAVEPOINT")) return statement
        return { run: () => (count++, statement.run()) }
      }
    }
  })
  return { db: watched, count: () => count }
}

const texts = (bench: StoreBench, query: string): ReadonlyArray<string> => bench.find("c", query).map(({ text }) => text)

describe("commits", () => {
  it("write nothing of a command that is refused, and all of the others of its group", () => {
    const bench = newBench()
    const replies = bench.committer.commit([
      ...bench.file("c", "one", ["apples"]),
      ...bench.file("missing", "two", ["pears"]),
      bench.message("deleteFile", { corpus: "c", name: "nobody", at: 0 }),
      ...bench.file("c", "three", ["apples and plums"])
    ])
    assert.deepStrictEqual(replies.map(({ ok }) => ok), [true, true, true, false, false, true, true])
    assert.sameMembers([...texts(bench, "apples")], ["apples", "apples and plums"])
    assert.strictEqual(bench.row("c").chunks, 2)
  })

  it("lose one file to a document that the analysis fails on, and none of the others of its group", () => {
    const bench = newBench()
    const bad = bench.file("c", "two", ["pears and", "plums"])
    // What no type lets through stands for what nobody thought of.
    for (const message of bad) {
      if (message.kind === "putFile") Object.defineProperty(message.payload.file.chunks[1], "headings", { value: null })
    }
    const replies = bench.committer.commit([
      ...bench.file("c", "one", ["apples"]),
      ...bad,
      ...bench.file("c", "three", ["apples and plums"])
    ])
    assert.deepStrictEqual(replies.map(({ ok }) => ok), [true, true, true, false, true, true])
    assert.sameMembers([...texts(bench, "apples plums pears")], ["apples", "apples and plums"])
    assert.strictEqual(bench.row("c").chunks, 2)
  })

  it("have savepoints, which copy each page that is changed, only where a command is refused and once after it", () => {
    const bench = newBench()
    const savepoints = countingSavepoints(bench.db)
    bench.committer = new Committer(savepoints.db, "")
    const good = (name: string) => bench.file("c", name, [`apples ${name}`])
    const run = (...group: ReadonlyArray<CommandMessage>) => {
      const before = savepoints.count()
      const replies = bench.committer.commit(group)
      return { savepoints: savepoints.count() - before, ok: replies.map(({ ok }) => ok) }
    }
    assert.deepStrictEqual(run(...good("one"), ...good("two")), { savepoints: 0, ok: [true, true, true, true] })
    const bad = bench.message("deleteFile", { corpus: "c", name: "nobody", at: 0 })
    assert.deepStrictEqual(run(...good("three"), bad, ...good("four")), { savepoints: 5, ok: [true, true, false, true, true] })
    assert.deepStrictEqual(run(...good("five")), { savepoints: 2, ok: [true, true] })
    assert.deepStrictEqual(run(...good("six")), { savepoints: 0, ok: [true, true] })
    assert.strictEqual(bench.row("c").files, 6)
    assert.strictEqual(bench.intactRow("c").chunks, 6)
    assert.sameMembers([...texts(bench, "apples")], ["one", "two", "three", "four", "five", "six"].map((name) => `apples ${name}`))
  })

  it("say which vectors a file lacks, and write nothing of it", () => {
    const bench = newBench()
    const [, put] = bench.file("c", "one", ["apples"])
    assert.isDefined(put)
    const [reply] = bench.committer.commit([put])
    assert.deepStrictEqual(reply?.ok === true ? Object.keys(reply.value as object) : [], ["missing"])
    assert.strictEqual(bench.count("files"), 0)
    assert.strictEqual(bench.count("chunk_pages"), 0)
    assert.strictEqual(bench.row("c").revision, 0)
  })

  it("take deletes and replacements in the group that brought the file", () => {
    const bench = newBench()
    bench.committer.commit([
      ...bench.file("c", "one", ["apples"]),
      ...bench.file("c", "two", ["pears"], "one"),
      ...bench.file("c", "three", ["plums"]),
      bench.message("deleteFile", { corpus: "c", name: "three", at: 0 })
    ])
    assert.deepStrictEqual(texts(bench, "apples pears plums"), ["pears"])
  })

  it("embed a text once, and keep it when the last file that has it goes", () => {
    const bench = newBench()
    bench.committer.commit([...bench.file("c", "one", ["same", "own"]), ...bench.file("c", "two", ["same", "same"])])
    assert.strictEqual(bench.count("embeddings"), 2)
    bench.send("deleteFile", { corpus: "c", name: "one", at: 0 })
    bench.send("deleteFile", { corpus: "c", name: "two", at: 0 })
    assert.deepStrictEqual(bench.db.prepare("SELECT uses FROM embeddings").all().map(({ uses }) => uses), [0, 0])
    assert.strictEqual(bench.count("chunk_pages"), 0)
  })

  it("make a vector for each text once, whatever was new before", () => {
    const bench = newBench()
    const put = (name: string, texts: ReadonlyArray<string>) => {
      const [, message] = bench.file("c", name, texts)
      if (message?.kind !== "putFile") throw new Error("no file")
      const [reply] = bench.committer.commit([{ ...message, payload: { ...message.payload, vectors: "hashed" } } as CommandMessage])
      return reply?.ok === true ? (reply.value as { readonly made: ReadonlyArray<number> }).made : []
    }
    const many = Array.from({ length: 100 }, (_, i) => `text ${i}`)
    assert.strictEqual(put("many", many).length, 100)
    // By now each text is taken for new.
    assert.deepStrictEqual(put("mixed", ["new one", "text 7", "new two", "new one", "text 7"]), [0, 2])
    assert.strictEqual(put("more", many.map((text) => `more ${text}`)).length, 100)
    assert.deepStrictEqual(put("again", many), [])
    const brought = bench.file("c", "brought", ["text 7", "of another maker"])
    assert.deepStrictEqual(bench.committer.commit(brought).map(({ ok }) => ok), [true, true])
    const uses = new Map(
      bench.db.prepare("SELECT lower(hex(hash)) AS hash, uses FROM embeddings").all().map(({ hash, uses }) => [hash, uses])
    )
    assert.strictEqual(uses.size, 203)
    assert.deepStrictEqual(["text 7", "text 8", "new one", "more text 7"].map((text) => uses.get(textHash(text))), [5, 2, 2, 1])
  })

  it("leave nothing of files that come with the end of their corpus", () => {
    const bench = newBench()
    bench.createCorpus("d")
    const replies = bench.committer.commit([
      ...bench.file("d", "stays", ["apples"]),
      ...bench.file("c", "goes", ["apples"]),
      bench.message("deleteCorpus", { name: "c", force: true, at: 0 })
    ])
    assert.isTrue(replies.every(({ ok }) => ok))
    assert.deepStrictEqual([bench.count("files"), bench.count("segments")], [1, 1])
    assert.deepStrictEqual(bench.find("d", "apples").map(({ text }) => text), ["apples"])
  })

  it("leave nothing behind of a corpus that is deleted", () => {
    const bench = newBench()
    bench.committer.commit([...bench.file("c", "one", ["apples"]), ...bench.file("c", "two", ["pears"])])
    bench.send("deleteFile", { corpus: "c", name: "one", at: 0 })
    assert.isFalse(bench.send("deleteCorpus", { name: "c", force: false, at: 0 })?.ok)
    assert.isTrue(bench.send("deleteCorpus", { name: "c", force: true, at: 0 })?.ok)
    for (const table of ["corpora", "files", "chunk_pages", "segments", "posting_pages", "tombstones"]) {
      assert.strictEqual(bench.count(table), 0, table)
    }
  })

  it("change facts about a file without touching chunks, vectors or index", () => {
    const bench = newBench()
    bench.committer.commit(bench.file("c", "one", ["apples"]))
    const before = Number(bench.db.prepare("SELECT total_changes() AS n").get()?.["n"])
    bench.send("updateFile", { corpus: "c", name: "one", patch: { displayName: "renamed" }, at: 1 })
    // The file's row, the corpus's generation, and their checksums.
    assert.strictEqual(Number(bench.db.prepare("SELECT total_changes() AS n").get()?.["n"]) - before, 4)
    assert.strictEqual(bench.find("c", "apples")[0]?.sourceDisplayName, "renamed")
  })

  it("keep vectors that no file uses for a day, then collect them step by step", () => {
    const bench = newBench()
    const day = 24 * 3600 * 1e6
    const texts = Array.from({ length: 2_500 }, (_, i) => `text ${i}`)
    bench.committer.commit([...bench.file("c", "one", texts), ...bench.file("c", "two", ["text 7"])])
    bench.send("deleteFile", { corpus: "c", name: "one", at: 5 * day })
    assert.isFalse(bench.committer.collect(6 * day))
    assert.strictEqual(bench.count("embeddings"), 2_500)
    // One that comes to be used again stays, and what was put and never used goes too.
    bench.committer.commit(bench.file("c", "three", ["text 9"]))
    assert.deepStrictEqual([7 * day, 7 * day, 7 * day].map((now) => [bench.committer.collect(now), bench.count("embeddings")]), [
      [true, 500],
      [true, 2],
      [false, 2]
    ])
    assert.deepStrictEqual(bench.find("c", "7 9").map(({ text }) => text).toSorted(), ["text 7", "text 9"])
  })

  it("give back the room that deleted files leave", () => {
    const bench = newBench()
    const pages = (): number => Number(bench.db.prepare("PRAGMA page_count").get()?.["page_count"])
    const noise = random(3)
    const text = () => Array.from({ length: 300 }, () => Math.floor(noise() * 1e9).toString(36)).join(" ")
    for (let i = 0; i < 60; i++) bench.committer.commit(bench.file("c", `f${i}`, [text()]))
    const full = pages()
    for (let i = 0; i < 50; i++) bench.send("deleteFile", { corpus: "c", name: `f${i}`, at: 0 })
    while (bench.committer.merge("idle"));
    while (bench.committer.collect(100 * 24 * 3600 * 1e6));
    while (bench.committer.shrink());
    assert.isBelow(pages(), full / 2)
    assert.strictEqual(bench.db.prepare("PRAGMA integrity_check").get()?.["integrity_check"], "ok")
    assert.strictEqual(bench.row("c").chunks, 10)
  })

  it("embed nothing again that went and came back", () => {
    const bench = newBench()
    bench.committer.commit([...bench.file("c", "one", ["chapter 1", "chapter 2"])])
    bench.committer.commit([bench.message("deleteFile", { corpus: "c", name: "one", at: 0 })])
    // The file alone, without its vectors.
    const [, put] = bench.file("c", "two", ["chapter 2", "chapter 1"])
    assert.isDefined(put)
    const [reply] = bench.committer.commit([put])
    assert.deepStrictEqual(reply?.ok === true ? (reply.value as { readonly made?: unknown }).made : undefined, [])
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
      bench.send("deleteFile", { corpus: "c", name: "f3", at: 0 })
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
