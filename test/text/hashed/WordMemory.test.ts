import { assert, describe, it } from "@effect/vitest"
import { DocumentTerms, MetWords } from "../../../src/search/analysis/DocumentTerms.ts"
import { Vocabulary } from "../../../src/search/analysis/Vocabulary.ts"
import { embedHashedSparse } from "../../../src/text/hashed/EmbedHashed.ts"
import { remembered } from "../../../src/text/hashed/WordMemory.ts"

/** A text of long words that no other text has, and names of program code, which are several terms each. */
const textOf = (number: number, words: number): string =>
  Array.from({ length: words }, (_, at) => `readUnusual${(number * words + at).toString(36)}Identifier${at}`).join(" ")

describe("what is remembered of words", () => {
  it("has arrays of the size that it is forgotten at, and none twice as large", () => {
    // Some hundred features a word, of two bytes each: three times as much as may be kept.
    for (let number = 0; number < 150; number++) embedHashedSparse(textOf(number, 500), "document")
    assert.isAtMost(remembered().slots.byteLength, 4 * 1024 * 1024)
  })

  it("keeps the terms of a word that has several as numbers side by side, and forgets them with the vocabulary", () => {
    const vocabulary = new Vocabulary()
    const documents = new DocumentTerms(vocabulary, 2_000)
    const termsOf = (text: string, met?: MetWords): ReadonlyArray<string> => {
      documents.take(documents.scan(text), {}, met)
      return [...documents.terms.subarray(0, documents.length)].map((term) => vocabulary.term(term))
    }
    const text = `${textOf(0, 40)} ${textOf(1, 40)}`
    const first = termsOf(text)
    assert.isAbove(first.length, 80)
    assert.deepStrictEqual(termsOf(text), first)
    for (let number = 2; !documents.forgetIfFull(); number++) termsOf(textOf(number, 40))
    assert.deepStrictEqual(termsOf(text), first)
    const met = new MetWords()
    assert.deepStrictEqual([met.keep([1, 2]), met.keep([]), met.keep([3])], [0, 3, 4])
    assert.deepStrictEqual([...met.lists.subarray(0, 6)], [2, 1, 2, 0, 1, 3])
  })
})
