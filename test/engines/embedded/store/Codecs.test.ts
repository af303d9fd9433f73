import { zstdCompressSync } from "node:zlib"
import { assert, describe, expect, it } from "@effect/vitest"
import { chunkPages, packChunks, unpackChunks } from "../../../../src/engines/embedded/store/ChunkPage.ts"
import { packHashes, textHash, unpackHashes } from "../../../../src/engines/embedded/store/Hash.ts"
import { mergePlan } from "../../../../src/engines/embedded/store/MergePlan.ts"
import { PostingPageReader, PostingPageWriter, type PostingPage } from "../../../../src/engines/embedded/store/PostingPages.ts"
import { packSegmentBody, unpackSegmentBody } from "../../../../src/engines/embedded/store/SegmentBody.ts"
import { packVector, unpackVector } from "../../../../src/engines/embedded/store/Vector.ts"
import { random } from "../support/Random.ts"

const unit = (values: ReadonlyArray<number>): Float32Array => {
  const norm = Math.hypot(...values) || 1
  return Float32Array.from(values, (value) => value / norm)
}

const cosine = (a: ArrayLike<number>, b: ArrayLike<number>): number => {
  let dot = 0
  let aa = 0
  let bb = 0
  for (let i = 0; i < a.length; i++) {
    dot += (a[i] ?? 0) * (b[i] ?? 0)
    aa += (a[i] ?? 0) ** 2
    bb += (b[i] ?? 0) ** 2
  }
  return dot / Math.sqrt(aa * bb)
}

describe("vectors at rest", () => {
  for (const share of [1, 0.6, 0.1, 0.01]) {
    it(`keeps the direction of a vector of which ${share * 100}% is not zero`, () => {
      const next = random(7)
      const vector = unit(Array.from({ length: 777 }, () => next() < share ? next() - 0.5 : 0))
      const packed = packVector(vector)
      const back = new Int8Array(777)
      const squares = unpackVector(packed, 777, back)
      assert.strictEqual(squares, back.reduce((sum, value) => sum + value * value, 0))
      assert.isAbove(cosine(vector, back), 0.9998)
      const nonZero = vector.filter((value) => value !== 0).length
      assert.isAtMost(packed.length, 1 + Math.min(777, 98 + nonZero, 3 * nonZero))
    })
  }

  it("reads a vector into a column of many", () => {
    const columns = new Int8Array(12)
    unpackVector(packVector(Float32Array.of(0.6, 0, 0, -0.8)), 4, columns, 1, 3)
    assert.deepStrictEqual([...columns], [0, 95, 0, 0, 0, 0, 0, 0, 0, 0, -127, 0])
  })

  it("keeps zero", () => {
    const back = new Int8Array(16)
    unpackVector(packVector(new Float32Array(16)), 16, back)
    assert.deepStrictEqual([...back], Array.from({ length: 16 }, () => 0))
  })
})

describe("posting pages", () => {
  const write = (terms: ReadonlyArray<readonly [string, ReadonlyArray<readonly [number, number]>]>): Array<PostingPage> => {
    const pages: Array<PostingPage> = []
    const writer = new PostingPageWriter((page) => pages.push(page))
    for (const [term, postings] of terms) {
      writer.list.start()
      for (const [ordinal, frequency] of postings) writer.list.add(ordinal, frequency)
      const bytes = Buffer.from(term)
      writer.add(bytes, 0, bytes.length)
    }
    writer.finish()
    return pages
  }
  const next = random(3)
  const terms = [
    ...new Set(
      Array.from({ length: 3_000 }, () => `${["pre", "prefix", "日本", "ß", "x"][Math.floor(next() * 5)]}${Math.floor(next() * 2_000)}`)
    )
  ]
    .toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .map((term) => {
      let ordinal = -1
      const postings = Array.from({ length: 1 + Math.floor(next() ** 6 * 3_000) }, () => {
        ordinal += 1 + Math.floor(next() * 300)
        return [ordinal, 1 + Math.floor(next() ** 3 * (next() < 0.001 ? 70_000 : 200))] as const
      })
      return [term, postings] as const
    })
  const pages = write(terms)

  it("give back every term in order", () => {
    const read = pages.flatMap((page) => {
      const reader = PostingPageReader.open(page.body)
      assert.isDefined(reader)
      const found: Array<readonly [string, ReadonlyArray<readonly [number, number]>]> = []
      while (reader.next()) {
        const { frequencies, ordinals } = reader.postings()
        found.push([reader.term, [...ordinals].map((ordinal, i) => [ordinal, frequencies[i] ?? 0] as const)])
      }
      return found
    })
    assert.deepStrictEqual(read, terms)
  })

  it("find single terms, and no others", () => {
    for (const [term, postings] of terms) {
      const page = pages.findLast(({ firstTerm }) => Buffer.compare(firstTerm, Buffer.from(term)) <= 0)
      const reader = PostingPageReader.open(page?.body ?? new Uint8Array(0))
      assert.isTrue(reader?.find(Buffer.from(term)))
      assert.strictEqual(reader?.count, postings.length)
      assert.deepStrictEqual([...reader?.postings().ordinals ?? []], postings.map(([ordinal]) => ordinal))
      for (const absent of [`${term}0x`, term.slice(0, -1) + "!"]) {
        assert.isFalse(PostingPageReader.open(page?.body ?? new Uint8Array(0))?.find(Buffer.from(absent)))
      }
    }
  })

  it("notice a flipped bit", () => {
    const body = Uint8Array.from(pages[0]?.body ?? [])
    body[20] = (body[20] ?? 0) ^ 4
    assert.isUndefined(PostingPageReader.open(body))
  })
})

describe("segment bodies, chunk pages and hashes", () => {
  it("come back as they were", () => {
    const body = {
      chunks: Float64Array.from([3, 4, 900, 2 ** 40]),
      lengths: Uint32Array.from([1, 0, 70_000, 5]),
      embeddings: Float64Array.from([9, 2, 2 ** 33, 1])
    }
    for (const firstTerms of [[], ["", "a", "größer", "日本"].map((term) => new Uint8Array(Buffer.from(term)))]) {
      assert.deepStrictEqual(unpackSegmentBody(packSegmentBody({ ...body, firstTerms })), { ...body, firstTerms })
    }
    // As an older Sluice writes them.
    assert.deepStrictEqual(unpackSegmentBody(packSegmentBody(body)), body)
    const chunks = [
      { text: "a \u{1f600} text", headings: ["One", "Two"], byteStart: 5, byteEnd: 12, tokens: 3, firstPage: 2, lastPage: 3 },
      { text: "", headings: [], byteStart: 0, byteEnd: 0, tokens: 0 }
    ]
    expect(unpackChunks(packChunks(chunks))).toEqual(chunks)
    const before = zstdCompressSync(JSON.stringify([["packed by an older Sluice", ["One"], 0, 25, 5]]))
    expect(unpackChunks(before)).toMatchObject([{ text: "packed by an older Sluice", headings: ["One"], byteEnd: 25, tokens: 5 }])
    const hashes = ["a", "b", ""].map(textHash)
    assert.deepStrictEqual(unpackHashes(packHashes(hashes)), hashes)
  })

  it("cut a file into pages of bounded size that hold every chunk once", () => {
    const chunks = Array.from({ length: 500 }, (_, i) => ({ text: "x".repeat((i * 37) % 9_000) }))
    const pages = chunkPages(chunks)
    assert.deepStrictEqual(pages.flatMap((page) => page.chunks), chunks)
    let first = 0
    for (const page of pages) {
      assert.strictEqual(page.first, first)
      first += page.chunks.length
      assert.isTrue(page.chunks.length === 1 || page.chunks.reduce((sum, { text }) => sum + text.length, 0) <= 8_192)
    }
  })
})

describe("the merge plan", () => {
  const of = (...chunks: ReadonlyArray<number>) => chunks.map((count) => ({ chunks: count, dead: 0 }))

  it("leaves a good shape alone", () => {
    assert.isUndefined(mergePlan([], 2))
    assert.isUndefined(mergePlan(of(5), 2))
    assert.isUndefined(mergePlan(of(10_000, 1_000, 100), 2))
  })

  it("merges the young ones first", () => {
    assert.deepStrictEqual(mergePlan(of(10_000, 1_000, 60, 60), 2), { from: 2, to: 4 })
    assert.deepStrictEqual(mergePlan(of(100, 90, 80), 2), { from: 0, to: 3 })
  })

  it("rewrites a segment of which too much is dead", () => {
    assert.deepStrictEqual(mergePlan([{ chunks: 1_000, dead: 300 }, { chunks: 10, dead: 0 }], 2), { from: 0, to: 1 })
  })

  it("keeps the number of segments logarithmic", () => {
    const sizes: Array<number> = []
    for (let i = 0; i < 5_000; i++) {
      sizes.push(1)
      for (let run = mergePlan(of(...sizes), 2); run !== undefined; run = mergePlan(of(...sizes), 2)) {
        sizes.splice(run.from, run.to - run.from, sizes.slice(run.from, run.to).reduce((a, b) => a + b))
      }
      assert.isAtMost(sizes.length, 14)
    }
  })
})
