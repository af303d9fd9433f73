import { assert, describe, it } from "@effect/vitest"
import { DatabaseSync } from "node:sqlite"
import { preparedVectors, sumOf } from "../../../../src/engines/embedded/store/Checksum.ts"

describe("vectors, read together", () => {
  const embedders = ["hashed", "modèle \"b\"\\\u0001\n\u007f/日本", ""]
  const database = (): DatabaseSync => {
    const db = new DatabaseSync(":memory:")
    db.exec("CREATE TABLE embeddings (id INTEGER PRIMARY KEY, embedder TEXT, hash BLOB, vector BLOB, sum INTEGER)")
    embedders.forEach((embedder, at) => {
      const row = { id: at + 1, embedder, hash: new Uint8Array(16).fill(at), vector: Uint8Array.from({ length: 40 * at }, (_, i) => i * 7) }
      db.prepare("INSERT INTO embeddings VALUES (?, ?, ?, ?, ?)").run(
        row.id,
        row.embedder,
        row.hash,
        row.vector,
        sumOf("embeddings", row)
      )
    })
    return db
  }
  const read = (db: DatabaseSync) => preparedVectors(db)(1, 200)

  it("have the sums they were written with, whatever their embedder is called", () => {
    assert.deepStrictEqual(
      read(database()).map(({ id, intact, packed }) => [id, intact, Array.from(packed)]),
      embedders.map((_, at) => [at + 1, true, Array.from({ length: 40 * at }, (_, i) => (i * 7) & 255)])
    )
  })

  it("of them, only the one is not intact of which any column changed, or is none", () => {
    for (
      const change of [
        "embedder = 'other'",
        "hash = x'00'",
        "vector = x'0102'",
        "vector = CAST('text' AS TEXT)",
        "vector = NULL",
        "hash = NULL",
        "id = id + 100",
        "sum = sum + 1",
        "sum = 'text'",
        "sum = x'010203'"
      ]
    ) {
      const db = database()
      db.exec(`UPDATE embeddings SET ${change} WHERE id = 2`)
      const found = read(db)
      assert.deepStrictEqual(found.map(({ intact }) => intact).sort(), [false, true, true], change)
      assert.deepStrictEqual(found.filter(({ intact }) => intact).map(({ packed }) => packed.length), [0, 80], change)
    }
  })
})
