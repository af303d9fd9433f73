import { assert, describe, it } from "@effect/vitest"
import { comparedIn } from "../../src/text/Comparison.ts"

describe("things that a question compares", () => {
  it.each<readonly [string, ...ReadonlyArray<string>]>([
    ["What is the difference between a stored and a reflected load?", "stored", "reflected load"],
    ["derrick vs gantry", "derrick", "gantry"],
    ["derrick vs. gantry crane?", "derrick", "gantry crane"],
    ["hook vs clamp vs magnet difference", "hook", "clamp", "magnet"],
    ["Please compare the derrick with the gantry.", "derrick", "gantry"],
    ["How does a derrick differ from a gantry?", "derrick", "gantry"],
    ["how is a token different from an API key?", "token", "API key"],
    ["How do hooks and clamps differ?", "hooks", "clamps"],
    ["What's the difference between A, B and C?", "A", "B", "C"],
    ["Was ist der Unterschied zwischen einer Kündigung und einer Freistellung?", "Kündigung", "Freistellung"],
    ["Quelle est la différence entre un congé et une absence ?", "congé", "absence"],
    ["¿Cuál es la diferencia entre el plan A y el plan B?", "plan A", "plan B"],
    ["Qual è la differenza tra ferie e permessi?", "ferie", "permessi"],
    ["认证和授权有什么区别？", "认证", "授权"],
    ["認証と認可の違いは何ですか", "認証", "認可"]
  ])("%s", (question, ...things) => assert.deepStrictEqual(comparedIn(question), things))

  it.each([
    "How should I compare two dates and times?",
    "How do I compare to None?",
    "What is between the crane and the quay?",
    "Is there a difference?",
    "What is a crane?",
    `What is the difference between ${"a very long name ".repeat(10)} and a hook?`,
    "difference between one, two, three, four and five",
    `a hook vs a clamp ${"and so on ".repeat(30)}`
  ])("are none in: %s", (question) => assert.deepStrictEqual(comparedIn(question), []))

  it("are looked for in no text that is longer than a question", () => {
    const start = performance.now()
    for (const part of ["how do a and ", "difference between a and ", "a vs ", "的不同和", "と"]) comparedIn(part.repeat(20_000))
    assert.isBelow(performance.now() - start, 100)
  })
})
