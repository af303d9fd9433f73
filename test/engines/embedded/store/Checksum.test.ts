import { assert, describe, it } from "@effect/vitest"
import { DatabaseSync } from "node:sqlite"
import { preparedValues, readVector, sumOf, summedVector } from "../../../../src/engines/embedded/store/Checksum.ts"

describe("a vector's row, read as one value", () => {
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
  const read = (db: DatabaseSync) =>
    Array.from(preparedValues(db, `SELECT ${summedVector} FROM embeddings ORDER BY id`).iterate(), readVector)

  it("has the sum it was written with, whatever its embedder is called", () => {
    assert.deepStrictEqual(
      read(database()).map(({ id, intact, packed }) => [id, intact, Array.from(packed)]),
      embedders.map((_, at) => [at + 1, true, Array.from({ length: 40 * at }, (_, i) => (i * 7) & 255)])
    )
  })

  it("is not intact where any of its columns changed, or is none", () => {
    for (
      const change of [
        "embedder = 'other'",
        "hash = x'00'",
        "vector = x'0102'",
        "vector = CAST('text' AS TEXT)",
        "vector = NULL",
        "hash = NULL",
        "id = id + 100",
        "sum = sum + 1"
      ]
    ) {
      const db = database()
      db.exec(`UPDATE embeddings SET ${change} WHERE id = 2`)
      assert.strictEqual(read(db).filter(({ intact }) => !intact).length, 1, change)
    }
  })
})
