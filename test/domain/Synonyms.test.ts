import { assert, describe, it } from "@effect/vitest"
import { alternativesIn, withAlternatives } from "../../src/domain/Synonyms.ts"

const synonyms = [["PTO", "paid time off", "time off", "vacation"], ["C++", "cpp"], ["有給", "休暇"], ["two-factor", "2FA"]]

describe("synonyms in a question", () => {
  it.each<[string, ReadonlyArray<string>]>([
    ["How much PTO do I get?", ["paid time off", "time off", "vacation"]],
    ["how much pto", ["paid time off", "time off", "vacation"]],
    ["When are vacations?", ["paid time off", "time off", "PTO"]],
    // The longest of a group.
    ["paid time off in May", ["time off", "vacation", "PTO"]],
    ["paid  time-off", ["time off", "vacation", "PTO"]],
    ["PTO or vacation?", ["paid time off", "time off"]],
    ["Is C++ used?", ["cpp"]],
    ["有給は何日？", ["休暇"]],
    ["two factor login", ["2FA"]]
  ])("%s", (question, others) => assert.deepStrictEqual(alternativesIn(question, synonyms).flatMap((one) => one.others), others))

  it.each(["ptomaine", "a vacationer", "time for it", ""])(
    "are no part of other words: %s",
    (question) => assert.deepStrictEqual(alternativesIn(question, synonyms), [])
  )

  it("come after the question where only a text can be searched", () => {
    assert.strictEqual(withAlternatives("Is C++ used?", synonyms), "Is C++ used? cpp")
    assert.strictEqual(withAlternatives("Is C used?", synonyms), "Is C used?")
    assert.strictEqual(withAlternatives("Is C used?"), "Is C used?")
  })
})
