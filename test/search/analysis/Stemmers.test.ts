import { assert, describe, it } from "@effect/vitest"
import { analyzeWord } from "../../../src/search/analysis/Analyzer.ts"
import { DocumentTerms } from "../../../src/search/analysis/DocumentTerms.ts"
import { type LanguageId, languages } from "../../../src/search/analysis/Languages.ts"
import { Vocabulary } from "../../../src/search/analysis/Vocabulary.ts"
import { random } from "../../engines/embedded/support/Random.ts"

const ids = Object.keys(languages) as ReadonlyArray<LanguageId>

describe("Bulgarian", () => {
  // Lucene's BulgarianStemmer changes letters within these.
  const pairs: ReadonlyArray<readonly [string, string]> = [
    ["силогизъм", "силогизма"],
    ["яснозелен", "яснозелена"],
    ["вестници", "вестник"],
    ["подлози", "подлог"],
    ["градове", "град"]
  ]
  for (const [one, other] of pairs) {
    it(`stems ${one} and ${other} alike`, () => {
      assert.strictEqual(analyzeWord(one, "bg"), analyzeWord(other, "bg"))
    })
  }
})

describe("every language's stemmer", () => {
  /** The language's own stop words are real words of it; endings and beginnings of them make more. */
  const wordsOf = (id: LanguageId, next: () => number): ReadonlyArray<string> => {
    const real = [...languages[id].stopWords]
    const pick = () => real[Math.floor(next() * real.length)] ?? ""
    return [
      ...real,
      ...Array.from({ length: 500 }, () => pick() + pick()),
      ...Array.from({ length: 300 }, () => pick().slice(0, 3) + pick().slice(-3))
    ]
  }
  for (const id of ids) {
    it(`makes a term of every word: ${id}`, () => {
      const next = random(1)
      const { lower, normalize, stem } = languages[id]
      for (const word of wordsOf(id, next)) {
        const plain = normalize(lower(word))
        if (plain === "") continue
        const term = stem(plain)
        assert.isTrue(typeof term === "string" && term !== "", `${word}: ${term}`)
      }
    })
  }

  it("loses no word that it fails on or leaves nothing of", () => {
    assert.strictEqual(analyzeWord("αει", "el"), "αει")
  })

  it("does not stop a document of words that no stemmer expects", () => {
    const documents = new DocumentTerms(new Vocabulary())
    const next = random(2)
    for (const id of ids) {
      const text = Array.from(
        { length: 300 },
        () => String.fromCodePoint(...Array.from({ length: 1 + Math.floor(next() * 9) }, () => 0x20 + Math.floor(next() ** 3 * 0x11000)))
      ).join(" ")
      documents.read(text.toWellFormed(), { hint: id })
    }
    assert.isAbove(documents.length, 0)
  })
})
