import { assert, describe, it } from "@effect/vitest"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { textHash } from "../../../../src/engines/embedded/store/Hash.ts"
import { cosineOf, forEachComponent, packSparse, packVector, unpackVector } from "../../../../src/engines/embedded/store/Vector.ts"
import { leastListed } from "../../../../src/engines/embedded/store/VectorLists.ts"
import { embedHashed, embedHashedSparse } from "../../../../src/models/hash/EmbedHashed.ts"
import { random } from "../support/Random.ts"
import { StoreBench } from "../support/StoreBench.ts"

const syllables = ["ba", "ko", "ri", "ten", "mul", "sa", "vor", "ni", "lex", "dra", "po", "gim"]

describe("dense candidates from lists", () => {
  it("finds what looking at every chunk finds, with its exact cosines", () => {
    const dir = mkdtempSync(join(tmpdir(), "sluice-"))
    try {
      const next = random(5)
      const pick = <A>(from: ReadonlyArray<A>): A => from[Math.floor(next() * from.length)] as A
      const words = Array.from({ length: 4_000 }, () => pick(syllables) + pick(syllables) + pick(syllables) + pick(syllables))
      const text = (): string => Array.from({ length: 6 }, () => words[Math.floor(next() ** 2 * words.length)]).join(" ")
      const bench = new StoreBench(dir, 64 << 20)
      bench.createCorpus("c")
      const put = (name: string, texts: ReadonlyArray<string>): void => {
        const hashed = texts.map((text) => ({ text, hash: textHash(text) }))
        const vectors = hashed.map(({ hash, text }) => ({ hash, vector: packSparse(embedHashedSparse(text, "document"), 2048) }))
        const chunks = hashed.map((chunk) => ({ ...chunk, headings: [], byteStart: 0, byteEnd: 1, tokens: 1 }))
        bench.send("putVectors", { embedder: "none", vectors, at: 0 })
        bench.send("putFile", {
          corpus: "c",
          file: { name, displayName: name, sourceUri: name, sizeBytes: 1, tokens: 1, chunks },
          at: 0
        })
      }
      put("large", Array.from({ length: leastListed }, text))
      put("gone", Array.from({ length: 300 }, text))
      put("small", Array.from({ length: 300 }, text))
      while (bench.committer.merge("idle"));
      put("late", Array.from({ length: 100 }, text))
      bench.send("deleteFile", { corpus: "c", name: "gone", at: 0 })
      assert.isAbove(bench.count("vector_lists"), 1_000)

      const ask = (query: string, more: object) =>
        bench.search.run(bench.row("c"), {
          query,
          vector: () => embedHashed(query, "query"),
          count: 10,
          alpha: 1,
          correctSpelling: false,
          explain: true,
          ...more
        })
      let found = 0
      for (let i = 0; i < 20; i++) {
        const query = text().split(" ").slice(0, 4).join(" ")
        const exact = ask(query, { minSimilarity: -2 })
        const fast = ask(query, {})
        const cosines = new Map(exact.map((context) => [context.chunkId, context.explanation?.cosine ?? 0]))
        for (const { chunkId, explanation } of fast) {
          const cosine = cosines.get(chunkId)
          if (cosine === undefined) continue
          found++
          assert.closeTo(explanation?.cosine ?? 0, cosine, 1e-6)
        }
        assert.isFalse(fast.some(({ sourceDisplayName }) => sourceDisplayName === "gone"))
        // A threshold is kept for every chunk, not only for candidates.
        const least = exact.at(-1)?.explanation?.cosine ?? 0
        assert.deepStrictEqual(
          ask(query, { minSimilarity: least - 1e-9 }).map(({ chunkId }) => chunkId),
          exact.map(({ chunkId }) => chunkId)
        )
      }
      assert.isAtLeast(found / 200, 0.97)
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  }, 60_000)

  it("finds the nearest of a model's vectors from their codes, with exact cosines", () => {
    const dir = mkdtempSync(join(tmpdir(), "sluice-"))
    try {
      const next = random(11)
      const normal = (): number => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())
      const dimensions = 2_048
      const normals = (): Float32Array => new Float32Array(dimensions).map(normal)
      // As models' vectors are: all on one side, in groups.
      const [side, ...topics] = Array.from({ length: 41 }, normals) as [Float32Array, ...Array<Float32Array>]
      const near = (topic: Float32Array): Float32Array => normals().map((value, d) => 2 * side[d]! + 0.7 * topic[d]! + value)
      const bench = new StoreBench(dir, 64 << 20)
      bench.createCorpus("c")
      const count = 4_500
      const hashed = Array.from({ length: count }, (_, i) => ({ text: `t${i}`, hash: textHash(`t${i}`) }))
      const vectors = hashed.map(({ hash }, i) => ({ hash, vector: packVector(near(topics[i % topics.length]!)) }))
      const chunks = hashed.map((chunk) => ({ ...chunk, headings: [], byteStart: 0, byteEnd: 1, tokens: 1 }))
      bench.send("putVectors", { embedder: "none", vectors, at: 0 })
      bench.send("putFile", { corpus: "c", file: { name: "f", displayName: "f", sourceUri: "f", sizeBytes: 1, tokens: 1, chunks }, at: 0 })
      assert.isAbove(count * dimensions, 8 << 20)
      const ask = (query: Float32Array, more: object) =>
        bench.search.run(bench.row("c"), {
          query: "",
          vector: () => query,
          count: 10,
          alpha: 1,
          correctSpelling: false,
          explain: true,
          ...more
        })
      let found = 0
      for (let i = 0; i < 20; i++) {
        const raw = near(topics[i]!)
        const length = Math.hypot(...raw)
        const query = raw.map((value) => value / length)
        const cosines = new Map(ask(query, { minSimilarity: -2 }).map((context) => [context.chunkId, context.explanation?.cosine ?? 0]))
        for (const { chunkId, explanation } of ask(query, {})) {
          const cosine = cosines.get(chunkId)
          if (cosine === undefined) continue
          found++
          assert.closeTo(explanation?.cosine ?? 0, cosine, 1e-6)
        }
      }
      assert.isAtLeast(found / 200, 0.97)
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  }, 60_000)

  it("reckons a packed vector's cosine as its unpacked integers give it, in every form", () => {
    const next = random(9)
    const query = new Float32Array(300).map(() => next() - 0.5)
    for (const share of [0, 0.02, 0.3, 1]) {
      const vector = new Float32Array(300).map(() => next() < share ? next() - 0.5 : 0)
      const packed = packVector(vector)
      const integers = new Int8Array(300)
      const norm = Math.sqrt(unpackVector(packed, 300, integers))
      const dot = integers.reduce((sum, value, d) => sum + value * (query[d] ?? 0), 0)
      assert.closeTo(cosineOf(packed, query), norm === 0 ? 0 : dot / norm, 1e-9)
      const seen = new Int8Array(300)
      const sparse = forEachComponent(packed, (component, value) => {
        seen[component] = value
      })
      assert.strictEqual(sparse, share < 1)
      if (sparse) assert.deepStrictEqual(seen, integers)
    }
  })
})
