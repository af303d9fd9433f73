import { assert, describe, it } from "vitest"
import { analyze, type AnalyzerId, analyzeQuery, analyzeWord } from "../../../src/search/analysis/Analyzer.ts"

const terms = (text: string, analyzers: ReadonlyArray<AnalyzerId>): Array<string> =>
  analyzeQuery(text, analyzers).map(({ term }) => term).sort()

describe("analyze", () => {
  it("is Lucene's EnglishAnalyzer: possessives, stop words, Porter", () => {
    assert.deepStrictEqual(analyze("The team's policies don't apply to the U.S.A. or to running costs.", "en"), [
      "team",
      "polici",
      "don't",
      "appli",
      "u.s.a",
      "run",
      "cost"
    ])
    assert.deepStrictEqual(analyze("The employee’s cafés visits", "en"), ["employe", "cafe", "visit"])
  })

  it.each<[AnalyzerId, string, string]>([
    ["de", "Häuser", "Haus"],
    ["de", "Mueller", "Müller"],
    ["de", "Straßen", "Strasse"],
    ["fr", "l’école", "écoles"],
    ["fr", "résumé", "resume"],
    ["es", "naciones", "nación"],
    ["it", "dell'amico", "amici"],
    ["pt", "nações", "nação"],
    ["pt", "animais", "animal"],
    ["pt", "papéis", "papel"],
    ["pt", "imagens", "imagem"],
    ["pt", "flores", "flor"],
    ["nl", "boeken", "boek"],
    ["sv", "bilarna", "bilar"],
    ["fi", "taloissa", "talossa"],
    ["tr", "İstanbul'da", "istanbul"],
    ["ro", "maşini", "mașini"],
    ["ru", "ёлки", "елка"],
    ["el", "Σπίτια", "σπίτι"],
    ["ar", "الكتاب", "كتاب"],
    ["hi", "किताबें", "किताब"]
  ])("%s: %s is found by %s", (analyzer, a, b) => {
    assert.deepStrictEqual(analyze(a, analyzer), analyze(b, analyzer))
  })

  it("keeps letters that are letters of their own", () => {
    assert.notDeepEqual(analyze("får", "sv"), analyze("far", "sv"))
    assert.deepStrictEqual(analyze("żółw", "simple"), ["żółw"])
  })

  it("cuts Chinese, Japanese and Korean into pairs, and reads Latin words among them as English", () => {
    assert.deepStrictEqual(analyze("黑豹队的防守 of the Panthers 分", "cjk"), [
      "黑豹",
      "豹队",
      "队的",
      "的防",
      "防守",
      "panther",
      "分"
    ])
    assert.deepStrictEqual(analyze("ＮＦＬ ｶﾀｶﾅ", "cjk"), ["nfl", "カタ", "タカ", "カナ"])
    assert.deepStrictEqual(analyze("防守", "en"), analyze("防守", "cjk"))
  })

  it("cuts Thai by its dictionary", () => {
    assert.deepStrictEqual(analyze("สวัสดีชาวโลก", "simple"), ["สวัสดี", "ชาว", "โลก"])
  })

  it("splits identifiers and keeps them whole", () => {
    assert.deepStrictEqual(analyze("getUserById", "code"), ["getuserbyid", "get", "user", "id"])
    assert.deepStrictEqual(analyze("os.path.join HTTPServer2 max_tokens", "code"), [
      "os.path.join",
      "os",
      "path",
      "join",
      "httpserver2",
      "http",
      "server",
      "max_tokens",
      "max",
      "token"
    ])
  })

  it("splits in prose only what cannot be a word or a name", () => {
    assert.deepStrictEqual(analyze("JavaScript 3.14 GmbH set max_tokens in parseFile", "en"), [
      "javascript",
      "3.14",
      "gmbh",
      "set",
      "max_tokens",
      "max",
      "token",
      "parsefil",
      "pars",
      "file"
    ])
  })

  it("undoes ligatures, soft hyphens and full-width letters", () => {
    assert.deepStrictEqual(analyze("ﬁles co\u00adoperate Ｗｏｒｄ", "en"), ["file", "cooper", "word"])
  })

  it("gives the same terms cold and warm, and takes any text", () => {
    const text = "Stable\ud800 terms 😀 for any\u0000 text, even " + "x".repeat(1_000)
    assert.deepStrictEqual(analyze(text, "en"), analyze(text, "en"))
    assert.isTrue(analyze(text, "en").every((term) => term !== "" && term.length <= 255))
  })
})

describe("scripts", () => {
  it("cuts Thai with SARA AM as its dictionary has it, composed or not", () => {
    assert.deepStrictEqual(analyze("น้ำท่วม", "simple"), ["น้ำ", "ท่วม"])
    assert.deepStrictEqual(analyze("น้ํา", "simple"), ["น้ำ"])
  })

  it("strips Arabic articles and endings, and keeps the word", () => {
    assert.strictEqual(analyzeWord("والكتاب", "ar"), analyzeWord("كتاب", "ar"))
    assert.strictEqual(analyzeWord("المعلمون", "ar"), analyzeWord("معلم", "ar"))
    assert.notStrictEqual(analyzeWord("مكتبة", "ar"), analyzeWord("كاتب", "ar"))
  })
})

describe("analyzeQuery", () => {
  it("gives each term once, with the word it came from and how often it is said", () => {
    assert.deepStrictEqual(analyzeQuery("Running costs and other costs", ["en"]), [
      { term: "run", from: "Running", occurrences: 1, word: 0 },
      { term: "cost", from: "costs", occurrences: 2, word: 1 },
      { term: "other", from: "other", occurrences: 1, word: 2 }
    ])
  })

  it("asks keywords in every language of the corpus", () => {
    assert.deepStrictEqual(terms("Panthers", ["de", "en"]), ["panth", "panther"])
  })

  it("asks a sentence in its own language and in English", () => {
    assert.deepStrictEqual(terms("Wo ist der Cache der Verteidigung?", ["de", "en", "fr"]), ["cach", "verteid", "verteidigung"])
  })

  it("keeps stop words from chunks of other kinds also where no sentence shows a language", () => {
    assert.deepStrictEqual(terms("vitamin a", ["en", "simple"]), ["vitamin"])
  })

  it("drops the stop words of most of the corpus where no language shows, and asks that in any case", () => {
    const asked = (text: string) => analyzeQuery(text, ["en", "pt"], "pt").map(({ term }) => term).sort()
    assert.deepStrictEqual(asked("altera o grupo e o dono"), ["alter", "altera", "don", "dono", "grup", "grupo"])
    const norwegian = (main?: "da") => analyzeQuery("jeg sletter ikke filene som brukes av meg", ["da", "no"], main).map(({ term }) => term)
    assert.include(norwegian("da"), "slet")
    assert.notInclude(norwegian(), "slet")
  })

  it("says which terms are forms of one word", () => {
    const words = (text: string) => Object.fromEntries(analyzeQuery(text, ["en", "simple"]).map(({ term, word }) => [term, word]))
    const forms = words("definitions of definition houses")
    assert.strictEqual(forms["definit"], forms["definition"])
    assert.strictEqual(forms["definit"], forms["definitions"])
    assert.notStrictEqual(forms["definit"], forms["hous"])
    const parts = words("maxSize")
    assert.notStrictEqual(parts["maxsiz"], parts["size"])
  })

  it("keeps a sentence's function words from chunks of other kinds, where they would be rare", () => {
    assert.deepStrictEqual(terms("which of the houses", ["en", "simple", "code"]), ["hous", "houses", "which"])
  })
})

describe("analyzeWord", () => {
  it("gives a word's term, or nothing for a stop word", () => {
    assert.strictEqual(analyzeWord("houses", "en"), "hous")
    assert.strictEqual(analyzeWord("the", "en"), undefined)
  })
})
