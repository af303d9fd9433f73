import { assert, describe, it } from "@effect/vitest"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { CorpusIndex } from "../../../../src/engines/embedded/search/CorpusIndex.ts"
import { KeptVectors } from "../../../../src/engines/embedded/search/KeptVectors.ts"
import { textHash } from "../../../../src/engines/embedded/store/Hash.ts"
import { cosineOf, packVector } from "../../../../src/engines/embedded/store/Vector.ts"
import { ByteCache } from "../../../../src/search/ByteCache.ts"
import { random } from "../support/Random.ts"
import { StoreBench } from "../support/StoreBench.ts"

describe("vectors that are kept", () => {
  // The second number of dimensions is no multiple of the bits that are looked at together.
  it.each([2_048, 300])(
    "give the cosines of their packed forms to the last bit, also when most were pushed out: %d dimensions",
    (dimensions) => {
      const dir = mkdtempSync(join(tmpdir(), "sluice-"))
      try {
        const next = random(7)
        const shares = [0, 0.05, 0.2, 1]
        const vectorOf = (share: number): Float32Array => new Float32Array(dimensions).map(() => next() < share ? next() - 0.5 : 0)
        // Of these a part fits into the room below.
        const packed = Array.from({ length: 4_000 }, (_, i) => packVector(vectorOf(shares[i % shares.length]!)))
        const hashed = packed.map((vector, i) => ({ text: `t${i}`, hash: textHash(`t${i}`), vector }))
        const chunks = hashed.map(({ hash, text }) => ({ text, hash, headings: [], byteStart: 0, byteEnd: 1, tokens: 1 }))
        const bench = new StoreBench(dir, 64 << 20)
        bench.createCorpus("c")
        bench.send("putVectors", { embedder: "none", vectors: hashed.map(({ hash, vector }) => ({ hash, vector })), at: 0 })
        bench.send("putFile", {
          corpus: "c",
          file: { name: "f", displayName: "f", sourceUri: "f", sizeBytes: 1, tokens: 1, chunks },
          at: 0
        })
        const [segment] = new CorpusIndex(bench.db, new ByteCache(1 << 20), bench.row("c")).segments
        const vectors = new KeptVectors(bench.db, 1 << 20, (chunk) => new Error(`chunk ${chunk}`))
        for (let round = 0; round < 12; round++) {
          const query = vectorOf(round % 2 === 0 ? 0.05 : 1)
          // More than are reckoned at once, and fewer than go together.
          const slots = Int32Array.from(packed.keys()).filter(() => next() < (round % 3 === 0 ? 0.2 : 0.0005))
          for (const rounding of ["exact", "scanned"] as const) {
            const cosines = new Float64Array(slots.length)
            vectors.cosines(segment!, slots, query, rounding, cosines)
            assert.deepStrictEqual([...cosines], Array.from(slots, (slot) => cosineOf(packed[slot]!, query, rounding)))
          }
        }
      } finally {
        rmSync(dir, { recursive: true, force: true })
      }
    }
  )
})
