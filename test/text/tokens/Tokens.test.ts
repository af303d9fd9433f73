import { Tiktoken } from "js-tiktoken/lite"
import o200k from "js-tiktoken/ranks/o200k_base"
import { describe, expect, it } from "vitest"
import { countTokens, TokenIndex } from "../../../src/text/Tokens.ts"
import { cpuTime } from "../../support/CpuTime.ts"
import { generator } from "../Generator.ts"

const tiktoken = new Tiktoken(o200k)

const samples = [
  "",
  " ",
  "Plain words, and punctuation: it's the DON'T of HTMLParser's iOS9 code.",
  "if (a[i] !== 0x7f) {\n\treturn   foo_bar(`x${y}`)\r\n}\n\n\n  // done   ",
  "Das Überraschungsfrühstück kostet 1234567,89 € – naïve Straße.",
  "東京は夜の七時。検索拡張生成とは何か?「はい」",
  "한국어 문장과 العربية and हिन्दी भाषा",
  "👩‍👩‍👧‍👦 👍🏽 e\u0301e\u0300 \u{1f1e9}\u{1f1ea} 𝔘𝔫𝔦",
  "<|endoftext|> and <|endofprompt|> are text",
  "constructor __proto__ toString hasOwnProperty",
  "a   b\t\t c \n \n  d\u00a0\u3000e",
  "\ud800 lone \udfff",
  "It's we'll you'RE they'Ve isn'T 'twas o'clock 'quoted' x' 's",
  "snake_case camelCase HTTPServer /usr/bin/ a//b\n/c\n- d\t- e\r\n\r\n  f ",
  "\0\0 \0 \u0001x 12 345678 9\u0663 7é é7 -é \u3000x \n\u3000 ends in blanks   "
]

/** Random text of everything that makes pieces meet: words, spaces, digits, marks, scripts. */
const mixed = (seed: number, length: number): string => {
  const { pick } = generator(seed)
  const alphabet = [
    "a",
    "b",
    "the",
    "ing",
    "Z",
    "QU",
    " ",
    " ",
    "  ",
    "\n",
    "\t",
    "7",
    "42",
    ".",
    "...",
    "'s",
    "'LL",
    "'rE",
    "'",
    "\r\n",
    "\v",
    "\0",
    "\uffff",
    "-_(",
    "/",
    "é",
    "漢",
    "한",
    "👍",
    "\u0301"
  ]
  return Array.from({ length }, () => pick(alphabet)).join("")
}

describe("tokens", () => {
  it("counts what tiktoken counts", () => {
    for (const text of [...samples, ...Array.from({ length: 200 }, (_, i) => mixed(i, 80))]) {
      expect([text, countTokens(text)]).toEqual([text, tiktoken.encode(text, [], []).length])
    }
  })

  it("counts the same where the text is seen in stretches", () => {
    const period = " it's we'll don'T"
    const times = Math.ceil(2 ** 18 / period.length) + 3
    for (let i = 0; i < period.length; i++) {
      const start = "x".repeat(i)
      const [one, two] = [1, 2].map((n) => tiktoken.encode(start + period.repeat(n), [], []).length)
      expect([i, countTokens(start + period.repeat(times))]).toEqual([i, one! + (times - 1) * (two! - one!)])
    }
    const text = mixed(1, 4_000)
    expect(countTokens(text)).toBe(tiktoken.encode(text, [], []).length)
  })

  it("counts pieces of any length that differ in little, and what was counted before", () => {
    const marks = ["!\0", "\0", "a", "aA", "zq", "é", "жы", "漢字"]
    const texts = marks.flatMap((mark) => Array.from({ length: 40 }, (_, i) => mark.repeat(i + 1)))
    for (const text of [...texts, ...texts.reverse(), ...texts.map((text) => ` ${text}`)]) {
      expect([text, countTokens(text)]).toEqual([text, tiktoken.encode(text, [], []).length])
    }
  })

  it("finds where each token starts", () => {
    for (const text of [...samples, ...Array.from({ length: 20 }, (_, i) => mixed(i, 60))].map((t) => t.toWellFormed())) {
      const index = new TokenIndex(text)
      const tokens = tiktoken.encode(text, [], [])
      expect(index.total).toBe(tokens.length)
      expect(index.offsetOf(tokens.length)).toBe(text.length)
      for (let i = 0; i < tokens.length; i++) {
        const before = tiktoken.decode(tokens.slice(0, i))
        // A token that starts inside a character: the text before it decodes to a part of that character.
        if (!text.startsWith(before)) continue
        expect([text, i, index.offsetOf(i)]).toEqual([text, i, before.length])
      }
    }
  })

  it("counts a part as if it stood alone", () => {
    for (let seed = 0; seed < 40; seed++) {
      const text = mixed(seed, seed < 30 ? 200 : 6_000)
      const index = new TokenIndex(text)
      const { below } = generator(seed)
      for (let i = 0; i < 50; i++) {
        const start = below(text.length)
        const end = start + below(text.length - start + 1)
        const part = text.slice(start, end)
        expect([part, index.count(start, end)]).toEqual([part, countTokens(part)])
      }
    }
  })

  it("takes time linear in any text", () => {
    const begin = cpuTime()
    for (const run of ["a", "A", " ", "\n", "-", "漢", "\u0301", "7", "acgttgcaatcg"]) {
      const text = run.repeat(Math.ceil(150_000 / run.length))
      const index = new TokenIndex(text)
      expect(index.count(1, text.length - 1)).toBeGreaterThan(500)
    }
    // Quadratic, each of these takes minutes.
    expect(cpuTime() - begin).toBeLessThan(15_000)
  })
})
