import { assert, describe, it } from "@effect/vitest"
import { analyze, type AnalyzerId, analyzeWord } from "../../../src/search/analysis/Analyzer.ts"
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

/** Words that Lucene's analyzers bring together, and what a writer's keyboard or schooling decides. */
const alike: Readonly<Partial<Record<AnalyzerId, ReadonlyArray<ReadonlyArray<string>>>>> = {
  // An article or "and" in front, endings at the back; alef, yeh and teh marbuta as they are typed; no vowel signs.
  ar: [
    ["كتاب", "الكتاب", "والكتاب", "بالكتاب", "كالكتاب", "فالكتاب", "للكتاب", "كِتَاب", "كتـــاب"],
    ["مهندس", "مهندسون", "المهندسين", "ومهندسات", "مهندسها"],
    ["إدارة", "ادارة", "الإدارة", "الاداره"],
    ["مستشفى", "المستشفي"]
  ],
  // Endings of case, possession, and consonants that change before them.
  cs: [
    ["soubor", "soubory", "souborů", "souborech", "souborem"],
    ["město", "městě", "městech", "města"],
    ["otcův", "otcova"],
    ["stůl", "stoly"],
    ["český", "česká", "čeští"],
    ["dělník", "dělníci"]
  ],
  hi: [["हिन्दी", "हिंदी", "हिंदि"], ["अंग्रेज़ी", "अंगरेजी", "अँग्रेज़ी"], ["किताब", "किताबें", "किताबों"], ["ऑफिस", "ओफिस"]],
  ro: [["instrucţiuni", "instrucțiuni"], ["mâncare", "mîncare", "mancare"], ["şcoala", "școala", "scoala"]],
  tr: [["Türkiye", "Türkiye'de", "TÜRKİYE'NİN", "Türkiye\u2019den"], ["Isparta", "ISPARTA'DA"], ["kitap", "kitabı", "kitapları"]],
  el: [["ΒΙΒΛΙΟΘΗΚΗΣ", "βιβλιοθήκης", "βιβλιοθηκη"], ["ΝΟΜΟΣ", "νόμος", "νόμοι"]],
  // Persian and Urdu, of a Persian and of an Arabic keyboard; Hebrew with its points.
  simple: [["کتاب", "كتاب"], ["ایران", "ايران"], ["שָׁלוֹם", "שלום"]]
}

describe("words that are written in several ways", () => {
  for (const [analyzer, groups] of Object.entries(alike) as ReadonlyArray<[AnalyzerId, ReadonlyArray<ReadonlyArray<string>>]>) {
    for (const words of groups) {
      it(`are one term: ${analyzer}: ${words.join(" ")}`, () => {
        assert.deepStrictEqual(
          new Set(words.map((word) => analyze(word, analyzer).join(" "))).size,
          1,
          words.map((word) => analyze(word, analyzer)).join(" | ")
        )
      })
    }
  }

  it("have the digits of any script", () => {
    assert.deepStrictEqual(analyze("٢٠٢٤ ۲۰۲۴ २०२४ ๒๐๒๔ ２０２４", "simple"), ["2024", "2024", "2024", "2024", "2024"])
    const documents = new DocumentTerms(new Vocabulary())
    documents.read("عام ٢٠٢٤ في 2024", { hint: "ar" })
    assert.strictEqual(documents.terms[1], documents.terms[2])
  })

  it("are two words in Persian where a non-joiner holds them apart", () => {
    assert.deepStrictEqual(analyze("می\u200cرود", "simple"), analyze("می رود", "simple"))
  })

  it("are no stop words of Arabic where they say something", () => {
    for (const word of ["سنة", "زيارة", "صفر", "وزير", "قوة", "اليوم", "ثلاثة"]) assert.isDefined(analyzeWord(word, "ar"), word)
    for (const word of ["من", "في", "التي", "أن"]) assert.isUndefined(analyzeWord(word, "ar"), word)
  })
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
