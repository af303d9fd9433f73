import { assert, describe, it } from "@effect/vitest"
import { headingKey, headingKeys, isHeadingKey, questionKeys } from "../../../src/search/analysis/HeadingKeys.ts"

describe("heading keys", () => {
  it("are the same for a heading and for questions that are it", () => {
    const same: ReadonlyArray<readonly [heading: string, ...questions: ReadonlyArray<string>]> = [
      ["Exporter", "What is an exporter?", "exporters", "the Exporter"],
      ["When does it not fit?", "when does it not fit"],
      ["Multi-target exporters", "multi target exporter"],
      ["`scrape_interval`", "what is scrape_interval"],
      ["Räume", "Was sind Raume?", "Erkläre Räume", "Was bedeutet Räume?"],
      ["Rückgabe der Schlüssel", "Wie ist die Rückgabe der Schlüssel?"],
      ["Alerting", "Explain alerting", "What does alerting mean?", "How does alerting work?", "give me an overview of alerting"],
      ["索引", "索引", "索引是什么？", "什么是索引?"],
      ["インデックス", "インデックスとは何ですか？", "インデックスとは"]
    ]
    for (const [heading, ...questions] of same) {
      const key = headingKey(heading)
      assert.isTrue(key !== undefined && isHeadingKey(key), heading)
      for (const question of questions) assert.include(questionKeys(question), key, question)
    }
    assert.includeMembers<unknown>([...questionKeys("What is the difference between hooks and clamps?")], ["Hook", "Clamp"].map(headingKey))
    assert.deepStrictEqual<unknown>(questionKeys("How it works"), ["How it works"].map(headingKey))
    assert.notStrictEqual(headingKey("scrape interval"), headingKey("interval scrape"))
    for (const none of ["", "What is it?", "one two three four five six seven"]) {
      assert.deepStrictEqual([headingKey(none), questionKeys(none)], [undefined, []])
    }
  })

  it("of a chunk are those of lines that stand alone, and of the heading above it", () => {
    const text = [
      "Glossary",
      "Alert\\nAn alert is raised",
      "Exporter",
      "An exporter is a program.",
      "| a | b |",
      "Note:",
      "x".repeat(81),
      "Target"
    ].join("\n\n").replace("\\n", "\n")
    assert.deepStrictEqual<unknown>(
      headingKeys(text, ["Handbook", "Words used"]),
      ["Words used", "Glossary", "Exporter", "Target"].map(headingKey)
    )
    assert.deepStrictEqual<unknown>(
      headingKeys("Load moment indicator (LMI)\n\nMooring (with two lines)\n\nOur values – who we are\n\nHooks, clamps & belts", []),
      [
        "Load moment indicator (LMI)",
        "Load moment indicator",
        "LMI",
        "Mooring (with two lines)",
        "Mooring",
        "Our values",
        "Hooks, clamps & belts",
        "hooks",
        "clamps",
        "belts"
      ].map(headingKey)
    )
    assert.deepStrictEqual(headingKeys("", []), [])
    assert.lengthOf(headingKeys(Array.from({ length: 100 }, (_, at) => `Part ${at}`).join("\n\n"), []), 32)
  })
})
