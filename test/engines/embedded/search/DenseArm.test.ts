import { assert, describe, it } from "@effect/vitest"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { columnsOf, weightsOf } from "../../../../src/engines/embedded/search/ColumnSums.ts"
import { textHash } from "../../../../src/engines/embedded/store/Hash.ts"
import {
  cosineOf,
  cosinesWith,
  forEachComponent,
  packSparse,
  packVector,
  unpackSparse,
  unpackVector
} from "../../../../src/engines/embedded/store/Vector.ts"
import { leastListed } from "../../../../src/engines/embedded/store/VectorLists.ts"
import { embedHashed, embedHashedSparse } from "../../../../src/text/hashed/EmbedHashed.ts"
import { random } from "../support/Random.ts"
import { StoreBench } from "../support/StoreBench.ts"

/** Questions of each test that is compared with a look at every chunk, which is what takes its time; and what they find. */
const asked = 10
const hits = asked * 10

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
      for (let i = 0; i < asked; i++) {
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
        if (i >= 3) continue
        const least = exact.at(-1)?.explanation?.cosine ?? 0
        assert.deepStrictEqual(
          ask(query, { minSimilarity: least - 1e-9 }).map(({ chunkId }) => chunkId),
          exact.map(({ chunkId }) => chunkId)
        )
      }
      assert.isAtLeast(found / hits, 0.97)
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  })

  it("gives in a small corpus what looking at every chunk one by one gives, to the last bit", () => {
    const dir = mkdtempSync(join(tmpdir(), "sluice-"))
    try {
      const next = random(3)
      const dimensions = 200
      // Some share no component with others, many are twice or nothing, and one is nearly another.
      const vectorOf = (i: number): Float32Array => {
        const [from, to] = i % 3 === 0 ? [0, 60] : [40, dimensions]
        const dense = i % 7 === 0 ? 0 : i % 5 === 0 ? 0.05 : 0.5
        return new Float32Array(dimensions).map((_, d) => d >= from && d < to && next() < dense ? next() - 0.4 : 0)
      }
      const bench = new StoreBench(dir, 64 << 20)
      bench.createCorpus("c")
      const kept: Array<Float32Array> = []
      const put = (name: string, count: number): void => {
        const texts = Array.from({ length: count }, (_, i) => ({ text: `${name} ${i}`, hash: textHash(`${name} ${i}`) }))
        const vectors = texts.map(({ hash }, i) => {
          const vector = i % 11 === 3 ? kept.at(-1)! : vectorOf(i)
          kept.push(vector)
          return { hash, vector: packVector(vector) }
        })
        const chunks = texts.map((chunk) => ({ ...chunk, headings: [], byteStart: 0, byteEnd: 1, tokens: 1 }))
        bench.send("putVectors", { embedder: "none", vectors, at: 0 })
        bench.send("putFile", { corpus: "c", file: { name, displayName: name, sourceUri: name, sizeBytes: 1, tokens: 1, chunks }, at: 0 })
      }
      // More than a block of them, and segments that are no multiple of anything.
      put("large", 4_200)
      put("small", 333)
      put("gone", 50)
      bench.send("deleteFile", { corpus: "c", name: "gone", at: 0 })
      const ask = (query: Float32Array, more: object, search = bench.search) =>
        search.run(bench.row("c"), {
          query: "small 17",
          vector: () => query,
          count: 10,
          alpha: 0.5,
          correctSpelling: false,
          explain: true,
          ...more
        })
      for (let i = 0; i < 40; i++) {
        // The whole, or a few components, or one, or none.
        const share = [1, 0.1, 0.01, 0][i % 4]!
        const raw = new Float32Array(dimensions).map(() => next() < share ? next() - 0.5 : 0)
        const length = Math.hypot(...raw) || 1
        const query = raw.map((value) => value / length)
        for (const alpha of [0.5, 1]) {
          const answer = ask(query, { alpha })
          assert.deepStrictEqual(ask(query, { alpha, minSimilarity: -2 }), answer)
          if (i >= 4) continue
          // A search that was just opened looks at the vectors as it reads them, and lays them out with the next question.
          const opened = bench.open()
          for (const more of [{}, {}, { minSimilarity: -2 }]) assert.deepStrictEqual(ask(query, { alpha, ...more }, opened), answer)
        }
      }
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  })

  it("sums columns as one number after the other gives it, and never too much for its registers", () => {
    const next = random(21)
    for (const [dimensions, chunks] of [[7, 5], [64, 16], [301, 33]] as const) {
      const made = columnsOf(dimensions, chunks)
      assert.isDefined(made)
      const { columns, stride, sums } = made!
      for (let at = 0; at < columns.length; at++) columns[at] = Math.floor(next() * 256) - 128
      for (const wanted of [0, 1, 2, dimensions]) {
        const components = Array.from({ length: wanted }, (_, d) => d)
        const query = new Float32Array(dimensions).map(() => next() - 0.5)
        const { error, scale, weights } = weightsOf(query, components)
        const found = sums(components, weights)
        assert.strictEqual(found.length, chunks)
        for (let chunk = 0; chunk < chunks; chunk++) {
          const of = (weight: (d: number) => number): number =>
            components.reduce((sum, d) => sum + weight(d) * (columns[d * stride + chunk] as number), 0)
          assert.strictEqual(found[chunk], of((d) => weights[d]!))
          const length = Math.sqrt(components.reduce((sum, d) => sum + (columns[d * stride + chunk] as number) ** 2, 0))
          if (wanted > 0) assert.isAtMost(Math.abs((found[chunk] as number) / scale - of((d) => query[d]!)), error * length + 1e-9)
        }
      }
    }
    const most = 70_000
    const even = new Float32Array(most).fill(1 / Math.sqrt(most))
    const { weights } = weightsOf(even, Array.from(even.keys()))
    assert.isAtMost(weights.reduce((sum, weight) => sum + Math.abs(weight) * 128, 0), 2 ** 31 - 1)
  })

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
      for (let i = 0; i < asked; i++) {
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
      assert.isAtLeast(found / hits, 0.97)
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  })

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
      // A query has zeros too.
      for (const some of [query, query.map((value, d) => d % 9 === 0 ? value : 0), new Float32Array(300)]) {
        for (const rounding of ["exact", "scanned"] as const) {
          assert.strictEqual(cosinesWith(some, rounding)(packed), cosineOf(packed, some, rounding))
        }
      }
      const seen = new Int8Array(300)
      const sparse = forEachComponent(packed, (component, value) => {
        seen[component] = value
      })
      assert.strictEqual(sparse, share < 1)
      if (sparse) assert.deepStrictEqual(seen, integers)
      const components = new Uint16Array(300)
      const values = new Int8Array(300)
      const count = unpackSparse(packed, 300, components, values)
      assert.strictEqual(count, sparse ? integers.filter((value) => value !== 0).length : undefined)
      const put = new Int8Array(300)
      for (let i = 0; i < (count ?? 0); i++) put[components[i]!] = values[i]!
      if (sparse) assert.deepStrictEqual(put, integers)
    }
  })
})
