import { assert, describe, it } from "vitest"
import { hashOf, utf8Of, WordTable } from "../../src/text/WordTable.ts"

const idOf = (table: WordTable, word: string, hash?: number): number => {
  const bytes = Buffer.from(`..${word}..`)
  return table.idOf(bytes, 2, bytes.length - 2, hash ?? hashOf(bytes, 2, bytes.length - 2))
}

describe("WordTable", () => {
  it("numbers words in the order they come, however many, and knows them again", () => {
    const table = new WordTable()
    const words = Array.from({ length: 50_000 }, (_, i) => `wörd${(i * 7_919).toString(36)}`)
    for (const round of [0, 1]) {
      words.forEach((word, i) => assert.strictEqual(idOf(table, word), i, `${word} in round ${round}`))
      assert.strictEqual(table.size, words.length)
    }
  })

  it("tells words apart whose hashes are equal, and knows the empty one", () => {
    const table = new WordTable()
    assert.deepStrictEqual(["a", "b", "ab", "", "b", ""].map((word) => idOf(table, word, 1)), [0, 1, 2, 3, 1, 3])
    const own = new WordTable()
    assert.deepStrictEqual([idOf(own, ""), idOf(own, "")], [0, 0])
  })

  it("starts again from 0 when it is cleared", () => {
    const table = new WordTable()
    for (const word of ["one", "two", "three"]) idOf(table, word)
    table.clear()
    assert.deepStrictEqual(["three", "one", "three"].map((word) => idOf(table, word)), [0, 1, 0])
  })
})

describe("utf8Of", () => {
  it("gives a text's bytes, however long it is", () => {
    for (const text of ["", "abc", "é".repeat(40_000), "豹".repeat(400_000), "\ud800"]) {
      assert.isTrue(Buffer.from(text).equals(utf8Of(text)), `${text.length}`)
    }
  })
})
