import { Result } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { readJson } from "../../../src/wire/tolerant/LenientJson.ts"
import { cpuTime } from "../../support/CpuTime.ts"

const read = (text: string) => Result.getOrThrow(readJson(text))
const refusal = (text: string) => {
  const result = readJson(text)
  return Result.isFailure(result) ? result.failure : undefined
}

describe("reads", () => {
  it("all JSON as JSON.parse does", () =>
    fc.assert(
      fc.property(fc.json({ maxDepth: 6, stringUnit: "binary" }), (text) => {
        expect(read(text)).toStrictEqual(JSON.parse(text))
        expect(read(JSON.stringify(JSON.parse(text), null, 3))).toStrictEqual(JSON.parse(text))
      }),
      { numRuns: 150 }
    ))

  it.each([
    [`{'rag_file': {'display_name':' D', 'description':'DESC'}}`, { rag_file: { display_name: " D", description: "DESC" } }],
    [`{a: 1, b_c: [1, 2,],}`, { a: 1, b_c: [1, 2] }],
    [`{'a': True, 'b': False, 'c': None}`, { a: true, b: false, c: null }],
    [String.raw`{'it': "it's", "q": 'a "b"', 'e': 'it\'s \x41\u00e9\U0001F600\n'}`, { it: "it's", q: `a "b"`, e: "it's Aé😀\n" }],
    ["\uFEFF {}", {}],
    [`{"a": -0.5e3}`, { a: -500 }],
    [`"a\nb"`, "a\nb"],
    ["[]", []],
    [`{"__proto__": {"x": 1}, "constructor": 2}`, JSON.parse(`{"__proto__": {"x": 1}, "constructor": 2}`)]
  ])("%s", (text, value) => {
    expect(read(text)).toStrictEqual(value)
  })

  it("a key given twice as one: objects merge, lists join, else the last holds", () => {
    expect(read(`{"deploy_config": {"a": 1, "l": [1], "n": {"x": 1}}, "s": 1, "deploy_config": {"b": 2, "l": [2], "n": {"y": 2}}, "s": 2}`))
      .toEqual({
        deploy_config: { a: 1, b: 2, l: [1, 2], n: { x: 1, y: 2 } },
        s: 2
      })
    expect(read(`{"a": {"b": 1}, "a": null}`)).toEqual({ a: null })
  })
})

describe("refuses", () => {
  it.each([
    "",
    "{",
    "[1",
    `{"a"}`,
    `{"a":}`,
    `{"a":1 "b":2}`,
    "[1 2]",
    `"abc`,
    "tru",
    "01",
    "1.",
    "1e999",
    "1x",
    `"\\u12"`,
    `"\\U00110000"`,
    "{} {}",
    "{,}",
    "[,]",
    "/* */ {}",
    "\u0000"
  ])(
    "%j with the service's words and a place",
    (text) => {
      const error = refusal(text)
      expect(error?.code).toBe("INVALID_ARGUMENT")
      expect(error?.message).toMatch(/^Invalid JSON payload received\. .* at line \d+, column \d+\.$/)
    }
  )

  it("without repeating what was in the text", () => {
    expect(JSON.stringify(refusal(`{"key": "hunter2" "x"`))).not.toContain("hunter2")
    expect(refusal(`{\n  "a": 1,\n  b c\n}`)?.message).toContain("line 3, column 5")
  })

  it("what is nested too deep or is too many values", () => {
    expect(refusal("[".repeat(100_000))?.message).toMatch(/too deep/)
    expect(refusal(`${"{\"a\":".repeat(101)}1${"}".repeat(101)}`)?.message).toMatch(/too deep/)
    expect(read("[".repeat(100) + "]".repeat(100))).toBeInstanceOf(Array)
    expect(refusal(`[${"[],".repeat(600_000)}]`)?.message).toMatch(/Too many values/)
    const long = readJson(`"${"a".repeat(100)}"`, { characters: 50, depth: 1, values: 1 })
    expect(Result.isFailure(long) && long.failure.message).toMatch(/too large/)
  })
})

it("never throws, and is quick on long strings", () => {
  fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => void readJson(text)), { numRuns: 2000 })
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom("{", "}", "[", "]", "\"", "'", ":", ",", "a", "1", "\\", " ", "null", "-")),
      (parts) => void readJson(parts.join(""))
    ),
    {
      numRuns: 5000
    }
  )
  const start = cpuTime()
  expect(read(`{"data": "${"A".repeat(20_000_000)}"}`)).toHaveProperty("data.length", 20_000_000)
  expect(refusal(`{"data": "${"\\\\".repeat(500_000)}`)?.code).toBe("INVALID_ARGUMENT")
  expect(cpuTime() - start).toBeLessThan(10_000)
})
