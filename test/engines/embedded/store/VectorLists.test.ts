import { assert, describe, it } from "@effect/vitest"
import { DatabaseSync } from "node:sqlite"
import { onTestFinished } from "vitest"
import { packSparse, packVector } from "../../../../src/engines/embedded/store/Vector.ts"
import {
  DamagedLists,
  dropped,
  leastListed,
  openVectorList,
  VectorListTable,
  vectorListId
} from "../../../../src/engines/embedded/store/VectorLists.ts"
import { embedHashedSparse } from "../../../../src/text/hashed/EmbedHashed.ts"
import { random } from "../support/Random.ts"

/** Vectors that there are; chunks have the same ones again and again. The one before the last is zero, the last has no zeros. */
const vectors = 300
const noZeros = vectors

const tables = () => {
  const db = new DatabaseSync(":memory:")
  onTestFinished(() => db.close())
  db.exec("CREATE TABLE embeddings (id INTEGER PRIMARY KEY, vector BLOB); CREATE TABLE vector_lists (id INTEGER PRIMARY KEY, body BLOB)")
  const insert = db.prepare("INSERT INTO embeddings VALUES (?, ?)")
  for (let id = 1; id < vectors - 1; id++) insert.run(id, packSparse(embedHashedSparse(`words of ${id} and ${id * id}`, "document"), 2048))
  insert.run(vectors - 1, packVector(new Float32Array(2048)))
  insert.run(noZeros, packVector(new Float32Array(2048).fill(1)))
  const table = new VectorListTable(db)
  const write = (...insert: Parameters<VectorListTable["insert"]>) => {
    for (const _ of table.insert(...insert)) continue
  }
  /** All that is listed of a segment, but for its number. */
  const listsOf = (segment: number) =>
    db.prepare("SELECT id, body FROM vector_lists WHERE id >= ? AND id < ? ORDER BY id")
      .all(vectorListId(segment, 0), vectorListId(segment + 1, 0))
      .map(({ body, id }) => openVectorList(body as Uint8Array, Number(id)))
  return { db, listsOf, write }
}

const next = random(3)
const chunks = (count: number) => Float64Array.from({ length: count }, () => 1 + Math.floor(next() * (vectors - 1)))

/** The lists that neighbouring segments have come to those of all their vectors, but for the chunks that `isDead`. */
const check = (sizes: ReadonlyArray<number>, isDead: (ordinal: number) => boolean = () => false) => {
  const { db, listsOf, write } = tables()
  let place = 0
  const parts = sizes.map((size, at) => {
    const embeddings = chunks(size)
    write(at + 1, [{ embeddings }])
    const target = Uint32Array.from(embeddings, (_, ordinal) => isDead(ordinal) ? dropped : place++)
    return { embeddings: embeddings.filter((_, ordinal) => !isDead(ordinal)), from: { segment: at + 1, target } }
  })
  write(50, [{ embeddings: Float64Array.from(parts.flatMap(({ embeddings }) => [...embeddings])) }])
  // They are not read again.
  db.exec("DELETE FROM embeddings")
  write(51, parts)
  const whole = listsOf(50)
  assert.isAbove(whole.length, 2_000)
  assert.deepStrictEqual(listsOf(51), whole)
}

describe("vector lists", () => {
  it("of merged segments are made of theirs", () => check([leastListed + 1, leastListed + 2]))

  it("of merged segments leave out dead chunks", () => check([leastListed + 1, leastListed], (ordinal) => ordinal % 7 < 3))

  it("of merged segments are made of vectors where a small one has none", () => {
    const { listsOf, write } = tables()
    const sizes = [501, leastListed + 1, 4_097, 2]
    let place = 0
    const parts = sizes.map((size, at) => {
      const embeddings = chunks(size)
      write(at + 1, [{ embeddings }])
      return { embeddings, from: { segment: at + 1, target: Uint32Array.from(embeddings, () => place++) } }
    })
    assert.deepStrictEqual(sizes.map((_, at) => listsOf(at + 1).length > 0), [false, true, false, false])
    write(50, [{ embeddings: Float64Array.from(parts.flatMap(({ embeddings }) => [...embeddings])) }])
    write(51, parts)
    assert.isAbove(listsOf(50).length, 2_000)
    assert.deepStrictEqual(listsOf(51), listsOf(50))
  })

  it("are none where a vector has few zeros, or there are few chunks", () => {
    const { listsOf, write } = tables()
    write(1, [{ embeddings: chunks(leastListed) }])
    const target = Uint32Array.from({ length: leastListed }, (_, at) => at)
    write(2, [{ embeddings: chunks(leastListed), from: { segment: 1, target } }, { embeddings: Float64Array.of(noZeros) }])
    write(3, [{ embeddings: chunks(leastListed - 1) }])
    assert.deepStrictEqual([listsOf(2), listsOf(3)], [[], []])
  })

  it("that are damaged are not merged", () => {
    const { db, write } = tables()
    const embeddings = chunks(leastListed)
    write(1, [{ embeddings }])
    db.prepare("UPDATE vector_lists SET body = x'00' WHERE id = ?").run(vectorListId(1, 1_000))
    const target = Uint32Array.from(embeddings, (_, at) => at)
    assert.throws(() => write(2, [{ embeddings, from: { segment: 1, target } }]), DamagedLists)
  })
})
