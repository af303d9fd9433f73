import { assert, describe, it } from "vitest"
import { analyze, detect } from "../../../src/search/analysis/Analyzer.ts"
import { decide } from "../../../src/search/analysis/Detection.ts"
import { DocumentTerms } from "../../../src/search/analysis/DocumentTerms.ts"
import { Vocabulary } from "../../../src/search/analysis/Vocabulary.ts"
import { random } from "../../engines/embedded/support/Random.ts"

const pieces = [
  "the",
  "The",
  "runs",
  "running",
  "policies",
  "team's",
  "don't",
  "U.S.A.",
  "3.14",
  "1,000",
  "a:b",
  "max_size",
  "getUserById",
  "__init__",
  "_",
  "'",
  ".",
  ",",
  ":",
  "_a",
  "a_",
  "x'",
  "'y",
  "v1.2.3",
  "const x = f(y);",
  "é",
  "Café",
  "l’école",
  "naïve",
  "Straße",
  "Häuser",
  "ﬁne",
  "не",
  "ёлки",
  "ΣΑΣ",
  "الكتاب",
  "किताबें",
  "黑豹队的防守",
  "ｶﾀｶﾅ",
  "สวัสดีชาวโลก",
  "\u{1f600}",
  "\u{1d400}bc",
  "a\u00adb",
  "\ud800",
  "word—word",
  "und",
  "der",
  "die",
  "les",
  "x".repeat(254),
  "y".repeat(300),
  "z'".repeat(140),
  "é".repeat(260)
]
const separators = [" ", " ", " ", "\n", "", "-", "/", "(", "\t"]

const texts = (seed: number, count: number): Array<string> => {
  const next = random(seed)
  const pick = (from: ReadonlyArray<string>): string => from[Math.floor(next() * from.length)] ?? ""
  return Array.from(
    { length: count },
    () => Array.from({ length: 1 + Math.floor(next() * 40) }, () => pick(pieces) + pick(separators)).join("")
  )
}

const read = (documents: DocumentTerms, vocabulary: Vocabulary, text: string, hint?: string) => {
  const { analyzer } = documents.read(text, { hint })
  return { analyzer, terms: Array.from(documents.terms.subarray(0, documents.length), (term) => vocabulary.term(term)) }
}

describe("DocumentTerms", () => {
  it("gives the terms of the plain way, whatever it has met before", () => {
    const vocabulary = new Vocabulary()
    const documents = new DocumentTerms(vocabulary)
    for (const text of texts(3, 600)) {
      const { analyzer, terms } = read(documents, vocabulary, text)
      assert.deepStrictEqual(terms, analyze(text, analyzer), JSON.stringify(text))
    }
  })

  it("finds the language of the plain way", () => {
    const vocabulary = new Vocabulary()
    const documents = new DocumentTerms(vocabulary)
    for (const text of texts(4, 600).map((text) => text.slice(0, 600))) {
      // The sample of one is bytes and of the other UTF-16 units, and one is normalized.
      if (/[^\x00-\xff]/.test(text)) continue
      for (const hint of [undefined, "de"]) {
        assert.strictEqual(read(documents, vocabulary, text, hint).analyzer, detect(text, { hint }), JSON.stringify(text))
      }
    }
  })

  it("detects the language of a text as of any other, whatever it has met before", () => {
    const documents = new DocumentTerms(new Vocabulary())
    for (const text of [...texts(5, 400), ...texts(6, 40).map((text) => text.repeat(20))]) {
      const { sample, survey } = documents.survey(text)
      assert.strictEqual(decide(survey, sample, {}).analyzer, detect(text), JSON.stringify(text))
    }
  })

  it("knows texts that tell their language whatever is expected of them", () => {
    const documents = new DocumentTerms(new Vocabulary())
    const sentences = [
      "The keeper of the lantern is not at home, and it will be lit by those who are.",
      "Die Regel heißt „the early bird“ und ist in dem Haus bekannt, wie es sich gehört.",
      "Les frais sont payés dans les dix jours qui suivent la fin du mois.",
      "Расходы на поездки оплачиваются в течение десяти дней.",
      "旅费在月底后十天内支付，前提是收据已交到。",
      "const sum = (rows) => { return rows.length; };\nexport { sum };\nlet x = 1;",
      "Müller, Reisekosten 2024"
    ]
    const mixed = sentences.flatMap((one) => sentences.flatMap((other) => [`${one}\n${other}`, `${one} ${other} ${one} ${one}`]))
    let sure = 0
    for (const text of [...sentences, ...mixed, ...texts(7, 300)]) {
      const { sample, survey, tellsByItself } = documents.scan(text)
      if (!tellsByItself) continue
      sure++
      const alone = decide(survey, sample, {})
      for (const hint of [undefined, "en", "de", "fr", "ru", "simple", "pl", "code", "cjk"]) {
        for (const prior of [undefined, "en", "de", "fr", "ru", "simple", "code", "cjk"] as const) {
          assert.deepStrictEqual(decide(survey, sample, { hint, prior }), alone, `${hint} ${prior} ${JSON.stringify(text)}`)
        }
      }
    }
    assert.isAbove(sure, 10)
    const doubtful = ["Müller, Reisekosten 2024", "Расходы на поездки оплачиваются в течение десяти дней.", "the lantern"]
    assert.deepStrictEqual(doubtful.map((text) => documents.scan(text).tellsByItself), [false, false, false])
  })

  it("forgets when it has met too much, and gives the same after", () => {
    const vocabulary = new Vocabulary()
    const documents = new DocumentTerms(vocabulary)
    const text = "The policies of the team apply to running costs."
    const before = read(documents, vocabulary, text)
    documents.forgetIfFull()
    const kept = vocabulary.size
    assert.isAbove(kept, 0)
    documents.read(Array.from({ length: 200_001 }, (_, i) => `w${i.toString(36)}`).join(" "), { hint: "en" })
    documents.forgetIfFull()
    assert.strictEqual(vocabulary.size, 0)
    assert.deepStrictEqual(read(documents, vocabulary, text), before)
  })
})

describe("Vocabulary", () => {
  const sorted = (vocabulary: Vocabulary): Array<string> => Array.from(vocabulary.sorted(), (term) => vocabulary.term(term))

  for (
    const [what, terms] of [["", ["b", "ab", "a", "ba", "é", "z", "ﬁ"]], [" with surrogates", [
      "ﬁ",
      "\u{1f600}",
      "a",
      "\u{1d400}b",
      "z",
      "豹"
    ]]] as const
  ) {
    it(`keeps terms in the order of their bytes as they come in${what}`, () => {
      const vocabulary = new Vocabulary()
      for (let count = 1; count <= terms.length; count++) {
        for (const term of terms.slice(0, count)) vocabulary.numberOf(term)
        const expected = terms.slice(0, count).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
        assert.deepStrictEqual(sorted(vocabulary), expected)
      }
    })
  }
})
