import { assert, describe, it } from "@effect/vitest"
import { DocumentTerms } from "../../../../src/search/analysis/DocumentTerms.ts"
import { Vocabulary } from "../../../../src/search/analysis/Vocabulary.ts"
import { embedHashedSparse } from "../../../../src/text/hashed/EmbedHashed.ts"
import { readerOf } from "../../../../src/engines/embedded/kernel/TextKernel.ts"
import { dimensions } from "../../../../src/text/hashed/Features.ts"
import { FileWords, indexedText, languageOf } from "../../../../src/engines/embedded/store/FileWords.ts"
import { packSparse } from "../../../../src/engines/embedded/store/Vector.ts"
import { random } from "../support/Random.ts"

const pieces = [
  "The",
  "policy",
  "isn't",
  "O'Neill's",
  "e.g.",
  "v2.0",
  "3,000.5",
  "snake_case_name",
  "__",
  "_x_",
  "camelCaseWord",
  "don’t",
  "naïve",
  "Straße",
  "ﬁnal",
  "½",
  "①",
  "Ⓐ",
  "x²",
  "北京大学",
  "かな漢字",
  "ภาษาไทย",
  "นำ้",
  "१२३",
  "می‌روم",
  "日本語の3つ",
  "😀",
  "a—b",
  "“quoted”",
  "a,b–c;d",
  "w".repeat(64),
  "w".repeat(65),
  "word.".repeat(30),
  "w".repeat(300),
  "é".repeat(70),
  "i̇",
  "İstanbul",
  "\ud800",
  "Q&A",
  "C++",
  "50%"
]
const separators = [" ", " ", " ", "\n", "", "-", "/", "(", "\t", "\u00a0"]

const texts = (seed: number, count: number): ReadonlyArray<string> => {
  const next = random(seed)
  const pick = (from: ReadonlyArray<string>): string => from[Math.floor(next() * from.length)] ?? ""
  return Array.from(
    { length: count },
    () => Array.from({ length: Math.floor(next() * 40) }, () => pick(pieces) + pick(separators)).join("")
  )
}

const plainly = (text: string): Uint8Array => packSparse(embedHashedSparse(text, "document"), dimensions)

describe.each([["the kernel", readerOf], ["plain code", undefined]] as const)("FileWords by %s", (_, readerOf) => {
  it("makes the vectors that the embedder makes, whatever stands above a text", () => {
    const documents = new DocumentTerms(new Vocabulary(), undefined, readerOf)
    const all = texts(11, 600)
    for (let at = 0; at < all.length; at += 6) {
      const chunks = all.slice(at, at + 6).map((text, place) => ({ text, headings: place % 2 === 0 ? [] : [`Chapter ${at}`, "Über १२"] }))
      const words = new FileWords(documents, chunks, at % 4 === 0 ? "A title’s own" : undefined, true)
      chunks.forEach(({ text }, place) =>
        assert.deepStrictEqual(Uint8Array.from(words.vectorOf(place)), plainly(text), JSON.stringify(text))
      )
    }
  })

  it("finds the words of a text and of what stands above it as of both in one", () => {
    const vocabulary = new Vocabulary()
    const documents = new DocumentTerms(vocabulary, undefined, readerOf)
    const terms = (): ReadonlyArray<number> => Array.from(documents.terms.subarray(0, documents.length))
    for (const text of texts(12, 300)) {
      const chunk = { text, headings: ["Chapter", "Über १२"] }
      const decision = documents.take(new FileWords(documents, [chunk], "A title’s own").of(0), {})
      const apart = terms()
      assert.deepStrictEqual(decision, documents.read(indexedText(chunk, "A title’s own"), {}), JSON.stringify(text))
      assert.deepStrictEqual(apart, terms(), JSON.stringify(text))
    }
  })

  it("looks at what most of a file is in only where a chunk does not tell its own language", () => {
    const words = (...texts: ReadonlyArray<string>): FileWords =>
      new FileWords(
        new DocumentTerms(new Vocabulary(), undefined, readerOf),
        texts.map((text) => ({ text, headings: [] })),
        undefined
      )
    const english = "The keeper of the lantern is not at home, and it will be lit by those who are."
    const german = "Die Regel ist in dem Haus bekannt, und wer sie nicht kennt, der fragt nach ihr."
    assert.isUndefined(words(english, german, english).surveyed())
    assert.isUndefined(words("Reisekosten").surveyed())
    assert.strictEqual(languageOf(words(german, "Reisekosten", german).surveyed()), "de")
  })

  it("makes the same after words were forgotten, by it or by the embedder", () => {
    const documents = new DocumentTerms(new Vocabulary(), undefined, readerOf)
    const text = "The keeper’s lantern is trimmed before dusk; it isn't lit later."
    const vectorOf = (): Uint8Array => new FileWords(documents, [{ text, headings: [] }], undefined, true).vectorOf(0)
    const many = Array.from({ length: 200_001 }, (_, i) => `w${i.toString(36)}`).join(" ")
    assert.deepStrictEqual(vectorOf(), plainly(text))
    embedHashedSparse(many, "document")
    embedHashedSparse("others get the numbers", "document")
    assert.deepStrictEqual(vectorOf(), plainly(text))
    documents.scan(many)
    assert.isTrue(documents.forgetIfFull())
    documents.scan("others get the numbers")
    assert.deepStrictEqual(vectorOf(), plainly(text))
  })
})
