import { describe, expect, it } from "vitest"
import { jsonParts } from "../../../src/text/parse/json/JsonParts.ts"

/** The parts of a value, read again. */
const parts = (text: string, bytes: number): ReadonlyArray<unknown> | undefined =>
  jsonParts(Buffer.from(text), bytes)?.map((part): unknown => JSON.parse(part().toString()))

describe("a long JSON text", () => {
  it("is cut between its records, of which none is lost", () => {
    const records = Array.from({ length: 40 }, (_, id) => ({ id, "a, \"b\"]": "x, {y\\", deep: [[id], { k: [1, 2] }], ende: "größer" }))
    const found = parts(JSON.stringify(records), 300)!
    expect(found.length).toBeGreaterThan(5)
    expect(found.flat()).toEqual(records)
    expect(parts(JSON.stringify(records, null, 2), 300)?.flat()).toEqual(records)
  })

  it("keeps what its records stand in: the keys above them", () => {
    const rows = Array.from({ length: 30 }, (_, id) => `row ${id}`)
    const found = parts(JSON.stringify({ name: "export", data: { rows }, after: 1 }), 60)!
    expect(found[0]).toMatchObject({ name: "export", data: { rows: expect.arrayContaining(["row 0"]) } })
    expect(found.flatMap((part) => (part as { data?: { rows?: Array<string> } }).data?.rows ?? [])).toEqual(rows)
    expect(found.at(-1)).toMatchObject({ after: 1 })
    const byKey = Object.fromEntries(rows.map((row) => [row, row]))
    expect(Object.assign({}, ...parts(JSON.stringify(byKey), 60)!)).toEqual(byKey)
  })

  it("is left whole where it is none, or has nothing to cut", () => {
    for (const text of ["[1,2", "[1,2}", "{\"a\":1}\n{\"a\":2}", "1,2,3", "[\"open", "", `["${"x".repeat(400)}"]`, "null"]) {
      expect(parts(text, 4)).toBe(undefined)
    }
  })
})
