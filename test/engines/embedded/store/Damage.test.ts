import { assert, describe, it } from "@effect/vitest"
import { equalTo } from "../../../../src/domain/MetadataFilter.ts"
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import { ServiceError, StateError } from "../../../../src/domain/Errors.ts"
import { IndexDamage } from "../../../../src/engines/embedded/search/CorpusIndex.ts"
import { StoreDamage } from "../../../../src/engines/embedded/store/Checksum.ts"
import { textHash } from "../../../../src/engines/embedded/store/Hash.ts"
import { packSparse } from "../../../../src/engines/embedded/store/Vector.ts"
import { embedHashed, embedHashedSparse } from "../../../../src/text/hashed/EmbedHashed.ts"
import { databaseFile } from "../../../../src/state/Database.ts"
import { random } from "../support/Random.ts"
import { StoreBench } from "../support/StoreBench.ts"
import { seedsOf } from "../../../support/Seeds.ts"

const words = "anchor basket candle dragon engine forest garden harbor island jacket kettle lantern mirror needle orchard pepper".split(" ")

/** Puts a file with its vectors, permissions and metadata. */
const put = (bench: StoreBench, name: string, texts: ReadonlyArray<string>, replaces?: string): void => {
  const chunks = texts.map((text, i) => ({ text, headings: ["Heading"], byteStart: i, byteEnd: i + 1, tokens: 4, hash: textHash(text) }))
  const vectors = chunks.map(({ hash, text }) => ({ hash, vector: packSparse(embedHashedSparse(text, "document"), 2048) }))
  bench.committer.commit([
    bench.message("putVectors", { embedder: "none", vectors, at: 0 }),
    bench.message("putFile", {
      corpus: "c",
      file: {
        name,
        displayName: `${name}.md`,
        sourceUri: `file:///docs/${name}.md`,
        sizeBytes: 9,
        tokens: 9,
        metadata: { team: name < "f5" ? "red" : "blue" },
        permissions: { public: false, principals: ["ann@example.com", `${name}@example.com`] },
        chunks
      },
      ...(replaces === undefined ? {} : { replaces }),
      at: 0
    })
  ])
}

const filled = (folder: string): StoreBench => {
  const bench = new StoreBench(folder)
  bench.createCorpus("c")
  for (let i = 0; i < 12; i++) {
    put(
      bench,
      `f${i}`,
      Array.from({ length: 3 + (i % 4) }, (_, part) => `${words[i]} ${words[(i * part + 3) % words.length]} part ${part} of file ${i}`)
    )
  }
  put(bench, "g3", ["dragon again", "the dragon's second life"], "f3")
  bench.send("deleteFile", { corpus: "c", name: "f7", at: 0 })
  return bench
}

const questions = [
  { query: "dragon part 2", alpha: 0 },
  { query: "the forest garden", alpha: 0.5 },
  { query: "lanterns", alpha: 1 },
  { query: "part of file", alpha: 0.5, principal: "f4@example.com" },
  { query: "part of file", alpha: 0, metadata: equalTo({ team: "red" }) }
]

const answers = (bench: StoreBench) =>
  questions.map(({ query, ...filter }) =>
    bench.search.run(bench.intactRow("c"), {
      query,
      count: 50,
      correctSpelling: true,
      explain: false,
      vector: () => embedHashed(query, "query"),
      ...filter
    })
  )

const isNamed = (cause: unknown): boolean =>
  cause instanceof StoreDamage || cause instanceof StateError || cause instanceof ServiceError ||
  (cause instanceof Error && "errcode" in cause)

const temporary = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const flips = seedsOf("SLUICE_FLIPS", 40, 4_000)

describe("a flipped bit anywhere in the database", () => {
  it(`changes no answer: it is the same as before, or an error that names the damage (${flips} flips)`, () => {
    const folder = temporary()
    const bench = filled(folder)
    const expected = answers(bench)
    // Every fourth flip is aimed at the index, which is a small part of the file: what is seen does not hang on a seed.
    const indexPages = bench.db.prepare("SELECT pageno FROM dbstat WHERE name IN ('segments', 'posting_pages')").all().map((row) =>
      Number(row["pageno"])
    )
    const pageSize = Number(bench.db.prepare("PRAGMA page_size").get()?.["page_size"])
    bench.db.close()
    const path = join(folder, databaseFile)
    const whole = readFileSync(path)
    const next = random(Number(process.env["SLUICE_SEED"] ?? 3))
    const outcomes = { same: 0, failed: 0, rebuilt: 0 }
    for (let flip = 0; flip < flips; flip++) {
      const damaged = Buffer.from(whole)
      const page = flip % 4 === 0 ? indexPages[Math.floor(next() * indexPages.length)] : undefined
      const at = page === undefined ? Math.floor(next() * whole.length) : (page - 1) * pageSize + Math.floor(next() * pageSize)
      damaged[at] = (damaged[at] as number) ^ (1 << Math.floor(next() * 8))
      for (const leftover of ["-wal", "-shm"]) rmSync(path + leftover, { force: true })
      writeFileSync(path, damaged)
      outcomes[outcome(folder, expected, `byte ${at}`)]++
    }
    assert.isAbove(outcomes.failed + outcomes.rebuilt, 0)
  }, 240_000 + flips * 300)
})

const outcome = (folder: string, expected: unknown, where: string): "same" | "failed" | "rebuilt" => {
  let bench: StoreBench | undefined
  try {
    bench = new StoreBench(folder)
    try {
      assert.deepStrictEqual(answers(bench), expected, where)
      return "same"
    } catch (cause) {
      if (!(cause instanceof IndexDamage)) throw cause
      // What the engine does.
      const reply = bench.send("rebuildIndex", { corpus: "c" })
      if (reply?.ok === false) return "failed"
      assert.deepStrictEqual(answers(bench), expected, where)
      return "rebuilt"
    }
  } catch (cause) {
    if (isNamed(cause)) return "failed"
    throw new Error(`${where}: not an error that names damage`, { cause })
  } finally {
    bench?.db.close()
  }
}

describe("damage that is known", () => {
  const damages: ReadonlyArray<readonly [string, string]> = [
    ["a text", "UPDATE chunk_pages SET body = zeroblob(length(body)) WHERE file = 1"],
    ["a vector", "UPDATE embeddings SET vector = zeroblob(length(vector)) WHERE id = 2"],
    ["a fact", "UPDATE files SET source_uri = 'file:///etc/passwd' WHERE id = 1"],
    ["a lost vector", "DELETE FROM embeddings WHERE id = 2"]
  ]
  for (const [name, sql] of damages) {
    it(`names the file, and putting the file again repairs it without another vector changed: ${name}`, () => {
      const folder = temporary()
      const bench = filled(folder)
      const before = bench.search.run(bench.intactRow("c"), { ...asked, query: "anchor" }).map(({ text }) => text)
      bench.db.exec(sql)
      bench.reopen()
      const file = thrown(() => bench.search.run(bench.intactRow("c"), { ...asked, query: "anchor" }))
      assert.include(file.message, "f0.md")
      assert.strictEqual(file.file, 1)
      assert.isTrue(bench.send("noteDamage", { files: [1], what: file.message })?.ok)
      assert.strictEqual(bench.count("damage"), 1)
      put(bench, "h0", Array.from({ length: 3 }, (_, part) => `anchor ${words[3]} part ${part} of file 0`), "f0")
      assert.strictEqual(bench.count("damage"), 0)
      assert.deepStrictEqual(bench.search.run(bench.intactRow("c"), { ...asked, query: "anchor" }).map(({ text }) => text), before)
      bench.db.close()
    })
  }

  it("of the database's structure ends all writing to it", () => {
    const folder = temporary()
    const bench = filled(folder)
    const root = Number(bench.db.prepare("SELECT rootpage FROM sqlite_master WHERE name = 'operations'").get()?.["rootpage"])
    const page = Number(bench.db.prepare("PRAGMA page_size").get()?.["page_size"])
    bench.db.close()
    const path = join(folder, databaseFile)
    const bytes = readFileSync(path)
    bytes.fill(0xff, (root - 1) * page, root * page)
    writeFileSync(path, bytes)
    copyFileSync(path, `${path}.before`)
    const again = new StoreBench(folder)
    again.db.exec("PRAGMA wal_autocheckpoint = 0")
    const reply = again.send("rebuildIndex", { corpus: "c" })
    assert.strictEqual(reply?.ok === false && reply.error._tag === "StateError" && reply.error.problem, "damaged")
    const next = again.send("deleteFile", { corpus: "c", name: "f1", at: 0 })
    assert.strictEqual(next?.ok === false && next.error._tag === "StateError" && next.error.problem, "damaged")
    again.db.close()
    assert.deepStrictEqual(readFileSync(path), readFileSync(`${path}.before`))
  })
})

const asked = { count: 50, alpha: 0.5, correctSpelling: false, explain: false, vector: () => embedHashed("anchor", "query") }

const thrown = (body: () => unknown): StoreDamage => {
  try {
    body()
  } catch (cause) {
    if (cause instanceof StoreDamage) return cause
    throw cause
  }
  throw new Error("nothing was thrown")
}
