import { assert, describe, it } from "vitest"
import { maxWordLength, scanRuns } from "../../../src/search/analysis/WordBreak.ts"

const runs = (text: string): Array<string> => {
  const found: Array<string> = []
  scanRuns(text, (run, start, end) => found.push(run === "word" ? text.slice(start, end) : `${run}:${text.slice(start, end)}`))
  return found
}

describe("scanRuns", () => {
  it("keeps contractions, dotted words, numbers and identifiers whole", () => {
    assert.deepStrictEqual(runs("Don't mail o’neil@example.com: 1,000.50 or v1.2, max_size!"), [
      "Don't",
      "mail",
      "o’neil",
      "example.com",
      "1,000.50",
      "or",
      "v1.2",
      "max_size"
    ])
  })

  it("joins only like with like", () => {
    assert.deepStrictEqual(runs("end.Next 3.x a,b 'quoted' dogs' U.S.A. _ __x"), [
      "end.Next",
      "3",
      "x",
      "a",
      "b",
      "quoted",
      "dogs",
      "U.S.A",
      "__x"
    ])
  })

  it("keeps marks with their letters", () => {
    assert.deepStrictEqual(runs("cafe\u0301 co\u00adoperate किताबें"), ["cafe\u0301", "co\u00adoperate", "किताबें"])
  })

  it("hands over scripts without spaces as runs", () => {
    assert.deepStrictEqual(runs("防守はNFL 한국어, สวัสดี๑๒ 😀🎉 𠮷野"), [
      "ideographs:防守は",
      "NFL",
      "ideographs:한국어",
      "unspaced:สวัสดี",
      "๑๒",
      "pictograph:😀",
      "pictograph:🎉",
      "ideographs:𠮷野"
    ])
  })

  it("cuts endless words", () => {
    assert.deepStrictEqual(runs("a".repeat(600)).map((word) => word.length), [maxWordLength, maxWordLength, 90])
  })

  it("takes unpaired surrogates and empty text", () => {
    assert.deepStrictEqual(runs(""), [])
    assert.deepStrictEqual(runs("a\ud800 b\udc00"), ["a", "b"])
  })
})
