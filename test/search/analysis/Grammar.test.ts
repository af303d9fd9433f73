import { assert, describe, it } from "@effect/vitest"
import type { AnalyzerId } from "../../../src/search/analysis/Detection.ts"
import { grammarOf } from "../../../src/search/analysis/Grammar.ts"

const grammar = (question: string, candidates: ReadonlyArray<AnalyzerId> = ["en", "de", "fr"]) =>
  question.split(/[ ?]+/).filter(grammarOf(question, candidates))

describe("grammarOf", () => {
  it("tells the words that hold a question together, in its language", () => {
    assert.deepStrictEqual(grammar("What does the guide say about line length?"), ["What", "does", "the", "about"])
    assert.deepStrictEqual(grammar("Wann kann die Prüfung für alle beginnen?"), ["Wann", "kann", "die", "für", "alle"])
    assert.deepStrictEqual(grammar("Pourquoi la porte est fermée à midi?"), ["Pourquoi", "la", "est", "à"])
  })

  it("leaves a language's own words alone in another", () => {
    assert.deepStrictEqual(grammar("why does a die need a mould"), ["why", "does", "a", "a"])
  })

  it("takes a question for English where the corpus has nothing in its language", () => {
    assert.deepStrictEqual(grammar("how does main parse", ["code"]), ["how", "does"])
    assert.deepStrictEqual(grammar("what does Lufthansa fly", ["de"]), ["what", "does"])
  })

  it("takes a question whose words show no language for one in that of most of the corpus", () => {
    const mostly = (question: string, main: AnalyzerId) => question.split(" ").filter(grammarOf(question, ["en", "pt"], main))
    assert.deepStrictEqual(mostly("quantas partes do arquivo", "pt"), ["quantas", "do"])
    assert.deepStrictEqual(mostly("quantas partes do arquivo", "en"), ["do"])
    assert.deepStrictEqual(mostly("US", "en"), [])
  })

  it("leaves keywords, acronyms and what texts are about", () => {
    assert.deepStrictEqual(grammar("list sort while loop"), [])
    assert.deepStrictEqual(grammar("What does the WHO tell the US"), ["What", "does", "the", "the"])
    assert.deepStrictEqual(grammar("How do I sign out"), ["How", "do", "I"])
  })

  it("knows them where all is in capitals", () => {
    assert.deepStrictEqual(grammar("WHAT IS KNOWN OF THE WHO"), ["WHAT", "IS", "OF", "THE", "WHO"])
  })
})
