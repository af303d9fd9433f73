import { assert, it } from "@effect/vitest"
import { defined } from "../../src/domain/Defined.ts"

it("what is undefined is left out, and what is not stays as it is, whatever its name", () => {
  const given: Record<string, unknown> = { b: 0, a: undefined, c: null, d: "" }
  assert.deepStrictEqual(Object.entries(defined(given)), [["b", 0], ["c", null], ["d", ""]])
  const named: object = JSON.parse(`{ "__proto__": { "isAdmin": true }, "x": 1 }`)
  const left = defined(named)
  assert.deepStrictEqual(Object.keys(left), ["__proto__", "x"])
  assert.notProperty(left, "isAdmin")
})
