import { assert, it } from "@effect/vitest"
import { defined, definedThroughout } from "../../src/domain/Defined.ts"

it("what is undefined is left out, and what is not stays as it is, whatever its name", () => {
  const given: Record<string, unknown> = { b: 0, a: undefined, c: null, d: "" }
  assert.deepStrictEqual(Object.entries(defined(given)), [["b", 0], ["c", null], ["d", ""]])
  const named: object = JSON.parse(`{ "__proto__": { "isAdmin": true }, "x": 1 }`)
  const left = defined(named)
  assert.deepStrictEqual(Object.keys(left), ["__proto__", "x"])
  assert.notProperty(left, "isAdmin")
})

it("what is undefined is left out of plain objects however deep, and nothing of a class is touched", () => {
  const url = new URL("https://example.com")
  const given = { a: { b: undefined, c: [{ d: undefined, e: 1 }] }, f: undefined, url, n: null }
  assert.deepStrictEqual(definedThroughout(given), { a: { c: [{ e: 1 }] }, url, n: null })
  assert.strictEqual((definedThroughout(given) as typeof given).url, url)
})
