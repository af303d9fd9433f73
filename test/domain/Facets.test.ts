import { assert, describe, it } from "@effect/vitest"
import { FacetCounts } from "../../src/domain/Facets.ts"

describe("facets", () => {
  it("count files by their values, most first, and those without", () => {
    const counts = new FacetCounts({ keys: ["team", "tags", "lang"] })
    counts.add({ userMetadata: { team: "ops", tags: ["a", "b", "a"] }, metadata: { lang: "de", team: "never" } })
    counts.add({ userMetadata: { team: "hr", tags: ["b"] } })
    counts.add({ userMetadata: { team: "ops" } })
    counts.add({})
    assert.deepStrictEqual(counts.facets, [
      { key: "team", values: [{ value: "ops", files: 2 }, { value: "hr", files: 1 }], without: 1 },
      { key: "tags", values: [{ value: "b", files: 2 }, { value: "a", files: 1 }], without: 2 },
      { key: "lang", values: [{ value: "de", files: 1 }], without: 3 }
    ])
  })

  it("name every key that was written, where none is asked for", () => {
    const counts = new FacetCounts()
    counts.add({ userMetadata: { year: 2024 }, metadata: { title: "x" } })
    counts.add({ userMetadata: { year: 2025, draft: true } })
    assert.deepStrictEqual(counts.facets.map(({ key, values }) => [key, values.map(({ value }) => value)]), [
      ["year", [2024, 2025]],
      ["draft", [true]]
    ])
  })

  it("are bounded, and count what is not told", () => {
    const counts = new FacetCounts({ keys: ["id"] })
    for (let id = 0; id < 20_050; id++) counts.add({ userMetadata: { id } })
    counts.add({ userMetadata: { id: 7 } })
    const [facet] = counts.facets
    assert.deepStrictEqual(facet?.values[0], { value: 7, files: 2 })
    assert.deepStrictEqual([facet?.values.length, facet?.others], [100, { values: 19_950, files: 19_950 }])
  })
})
