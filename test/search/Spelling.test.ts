import { assert, describe, it } from "vitest"
import { analyze } from "../../src/search/analysis/Analyzer.ts"
import { editDistance, oneEditAway } from "../../src/search/EditDistance.ts"
import { SpellingIndex } from "../../src/search/Spelling.ts"
import { forEachSegment } from "../../src/text/UnspacedWords.ts"

/** Every term of the text, as frequent as it occurs. */
const vocabularyOf = (text: string, analyzer: "en" | "de" = "en"): Map<string, number> => {
  const vocabulary = new Map<string, number>()
  for (const term of analyze(text, analyzer)) vocabulary.set(term, (vocabulary.get(term) ?? 0) + 1)
  return vocabulary
}

const handbook = new SpellingIndex(vocabularyOf(
  "Employees request vacation from their manager. The vacation policy covers reimbursement of travel expenses, " +
    "flying, meeting rooms and parking. Reimbursement of expenses takes ten days. Wing, king and ring are rooms."
))

const correct = (word: string): string | undefined => handbook.correct(word, ["en"])[0]?.term

describe("SpellingIndex", () => {
  it("corrects a letter lost, added, changed or swapped", () => {
    for (const slip of ["vacaton", "vacattion", "vacazion", "vaction", "vcaation"]) assert.strictEqual(correct(slip), "vacat", slip)
  })

  it("corrects slips in the ending that the stemmer takes off", () => {
    assert.deepStrictEqual(handbook.correct("flyign", ["en"]), [{ term: "fly", documentFrequency: 1, distance: 1, likelihood: 1 }])
    assert.strictEqual(correct("expensses"), "expens")
    assert.strictEqual(correct("polices"), "polici")
  })

  it("corrects two slips in a long word, one in a shorter", () => {
    assert.deepStrictEqual(handbook.correct("riemburesment", ["en"])[0]?.distance, 2)
    assert.strictEqual(correct("rimbursemet"), undefined, "one of them in an ending")
    assert.strictEqual(correct("raaavel"), undefined)
  })

  it("corrects only swapped letters in a word of four", () => {
    assert.strictEqual(correct("wnig"), "wing")
    assert.strictEqual(correct("ding"), undefined)
  })

  it("prefers fewer edits, then what is likeliest: an unchanged first letter and frequent terms", () => {
    const index = new SpellingIndex([["parking", 1], ["barking", 9], ["charge", 2], ["change", 5], ["chance", 3]])
    assert.strictEqual(index.correct("parkin", ["simple"])[0]?.term, "parking")
    assert.strictEqual(index.correct("charje", ["simple"])[0]?.term, "charge")
    const meant = index.correct("chanve", ["simple"])
    assert.deepStrictEqual(meant.map(({ likelihood, term }) => [term, likelihood.toFixed(3)]), [["change", "0.625"], ["chance", "0.375"]])
    // A first letter is seldom wrong, but a term a thousand times as frequent is likelier all the same.
    const rather = (known: number, frequent: number) =>
      new SpellingIndex([["promote", known], ["remote", frequent]]).correct("romote", ["simple"])[0]?.term
    assert.strictEqual(rather(20, 9), "remote")
    assert.strictEqual(rather(700, 9), "promote")
  })

  it("goes by the rest of the question, and says how sure it is", () => {
    const index = new SpellingIndex([["liver", 173], ["liter", 9]])
    assert.strictEqual(index.correct("licer", ["simple"])[0]?.term, "liver")
    const [first, second] = index.correct("licer", ["simple"], (term) => term === "liter" ? 1 : 0.4)
    assert.deepStrictEqual([first?.term, second?.term], ["liter", "liver"])
    assert.isAbove(first?.likelihood ?? 0, second?.likelihood ?? 1)
    assert.approximately((first?.likelihood ?? 0) + (second?.likelihood ?? 0), 1, 1e-9)
    // What is a third as likely or less is not looked for: rare terms weigh much.
    const sure = index.correct("licer", ["simple"], (term) => term === "liter" ? 1 : 0.1)
    assert.deepStrictEqual(sure.map(({ likelihood, term }) => [term, likelihood]), [["liter", 1]])
  })

  it("leaves alone what is short, has digits, is an identifier or is written in ideographs", () => {
    for (const word of ["ki", "kin", "vacation2", "getVacatoin", "vacat_on", "vacat.ion", "休暇申", "x".repeat(40)]) {
      assert.strictEqual(correct(word), undefined, word)
    }
  })

  it("says nothing where nothing is near", () => {
    assert.strictEqual(correct("xylophone"), undefined)
    assert.deepStrictEqual(new SpellingIndex([]).correct("vacation", ["en"]), [])
  })

  it("knows the letters of the corpus", () => {
    const german = new SpellingIndex(vocabularyOf("Die Kündigung und der Überstundenausgleich", "de"))
    assert.strictEqual(german.correct("Kundigumg", ["de"])[0]?.term, analyze("Kündigung", "de")[0])
    const russian = new SpellingIndex([["отпуск", 3]])
    assert.strictEqual(russian.correct("отпуcк".replace("c", "з"), ["ru"])[0]?.term, "отпуск")
  })

  it("keeps the most frequent terms of an immense vocabulary", () => {
    const word = (i: number): string => `w${i.toString(26).replace(/\d/g, (digit) => "qrstuvwxyz"[Number(digit)]!)}ord`
    const immense = function*(): Generator<readonly [string, number]> {
      for (let i = 0; i < 400_000; i++) yield [word(i), 1]
      yield ["vacation", 2]
    }
    const index = new SpellingIndex(immense())
    assert.strictEqual(index.correct("vacaton", ["simple"])[0]?.term, "vacation")
    assert.deepStrictEqual(index.correct(`${word(7)}x`, ["simple"]), [])
  })
})

describe("runs without blanks", () => {
  const passages = [
    "บริษัทจ่ายค่าเดินทางภายในสิบวันหลังกลับจากต่างจังหวัด",
    "โรงพยาบาลที่ใกล้ที่สุดอยู่บนถนนริมแม่น้ำ",
    "หนังสือสำหรับฝึกอบรมซื้อจากงบของแผนก"
  ]
  const vocabulary = new Map(passages.flatMap((text) => analyze(text, "simple")).map((term) => [term, 1]))
  const index = new SpellingIndex(vocabulary)
  const read = (run: string) => {
    const segments: Array<string> = []
    forEachSegment(run, (segment) => void segments.push(segment))
    return index.correctRun(segments, (segment) => vocabulary.has(segment))
  }
  const corrected = (run: string) =>
    read(run).flatMap(({ words }) => words).filter(({ distance }) => distance === 1).map(({ as, term }) => `${as} ${term}`)

  it("are read anew where a slip broke a word, by the terms there are", () => {
    assert.deepStrictEqual(corrected("โรงพยบาลใกล้ที่สุด"), ["พยบาล พยาบาล"])
    assert.deepStrictEqual(corrected("ซื้อหนังสิอฝึกอบรม"), ["หนังสิอ หนังสือ"])
    assert.deepStrictEqual(corrected("จ่ายค่าเดนิทาง"), ["เดนิ เดิน"])
  })

  it("stay as they are where every word is known, and where nothing is near", () => {
    assert.deepStrictEqual(read("โรงพยาบาลใกล้ที่สุด"), [])
    assert.deepStrictEqual(corrected("กระจกหน้าต่าง"), [])
    assert.deepStrictEqual(new SpellingIndex([]).correctRun(["กระจก"], () => false), [])
  })
})

describe("editDistance", () => {
  it("counts inserts, deletes, replacements and swaps, up to the limit", () => {
    assert.strictEqual(editDistance("kitten", "sitting", 3), 3)
    assert.strictEqual(editDistance("kitten", "sitting", 2), 3)
    assert.strictEqual(editDistance("abcd", "acbd", 2), 1)
    assert.strictEqual(editDistance("ca", "abc", 3), 3)
    assert.strictEqual(editDistance("", "ab", 2), 2)
    assert.strictEqual(editDistance("same", "same", 0), 0)
  })

  it("agrees with the strings one edit away", () => {
    const edits = oneEditAway("word", "abrw")
    assert.isTrue([...edits].every((edit) => editDistance("word", edit, 2) === 1))
    for (const edit of ["ord", "wrod", "bword", "wordb", "wora"]) assert.isTrue(edits.has(edit), edit)
    assert.isFalse(edits.has("word"))
  })
})
