import { describe, expect, it } from "vitest"
import { invalid, issues, minimalYaml, parsed, places } from "./Support.ts"

describe("what YAML may do", () => {
  it("anchors, aliases and merge keys", () => {
    const text = `name: handbook
corpus: { displayName: Handbook }
sources:
  a: &base
    local: &local { path: ./a, include: ["*.md"], hidden: true }
  b: { local: { <<: *local, path: ./b } }
  c: *base
  d: { local: { <<: [{ path: ./d }, *local] } }
`
    const { sources } = parsed(text).pipeline
    expect(sources["b"]).toMatchObject({ path: "./b", include: ["*.md"], hidden: true })
    expect(sources["c"]).toEqual(sources["a"])
    expect(sources["d"]).toMatchObject({ path: "./d", hidden: true })
  })

  it("keeps keys that JavaScript treats specially as plain keys", () => {
    expect(places(minimalYaml + "__proto__: { name: evil }\n")).toEqual(["4:1 __proto__"])
    expect(places(minimalYaml.replace("docs:", "constructor:") + "toString: 1\n")).toEqual(["4:1 toString"])
  })
})

describe("what is refused, with its place", () => {
  it.each([
    ["a duplicate key", minimalYaml + "name: b\n", "4:1 name", "the key is given twice"],
    [
      "a duplicate key deep in a flow map",
      minimalYaml + "chunking: { size: 1, overlap: 0, size: 2 }\n",
      "4:34 chunking.size",
      "the key is given twice"
    ],
    ["a tab as indentation", "corpus:\n\tdisplayName: x\n", "2:1", "a tab cannot indent"],
    ["a second document", minimalYaml + "---\nname: b\n", "4:1", "there is more than one document in the file"],
    ["an open quote", "name: \"x\ncorpus: {}\n", "1:7", "this quote is not closed"],
    ["an open quote within a line", "corpus: { displayName: 'H }\nname: x\n", "1:24", "this quote is not closed"],
    [
      "a key that is indented further than the one above",
      "corpus:\n displayName: H\n   description: x\n",
      "2:15",
      "the next line is indented further, and so goes on with this value"
    ],
    ["an open bracket", "name: [a, b\n", "2:1", "the indentation does not fit, or a bracket above is not closed"],
    ["bad indentation", "corpus:\n  a: 1\n b: 2\n", "3:1", "the indentation does not fit, or a bracket above is not closed"],
    ["a nested mapping on one line", "name: a: b\n", "1:7", "a nested mapping cannot begin on this line"],
    ["an unknown alias", minimalYaml + "engine: *nowhere\n", "4:9 engine", "refers to an anchor that is not defined before it"],
    ["an alias to what contains it", minimalYaml + "chunking: &c { size: *c }\n", "4:22 chunking.size", "refers to itself"],
    ["a tag", minimalYaml.replace("handbook", "!env handbook"), "1:7", "tags (!name) are not used in pipeline files"],
    ["a mapping as a key", minimalYaml + "? { a: 1 }\n: 2\n", "4:3", "keys must be plain text"],
    ["a merge of what is not a mapping", minimalYaml + "<<: 3\n", "4:5", "<< takes a mapping, or a list of mappings, defined before it"],
    [
      "a merge of the mapping it is in",
      minimalYaml + "chunking: &c\n  <<: *c\n",
      "5:7 chunking",
      "<< takes a mapping, or a list of mappings, defined before it"
    ]
  ])("%s", (_, text, place, rule) => {
    expect(issues(text)[0]?.rule).toBe(rule)
    expect(places(text)[0]).toBe(place)
  })

  it("an empty file", () => {
    expect(issues("")[0]).toMatchObject({ line: 1, column: 1, rule: "must be a mapping of keys to values, not empty" })
  })

  it("one mistake in the structure is one problem, not twenty", () => {
    expect(issues("name: x\ncorpus: { displayName: x, token: |\n  abc\n}\nchunking: { size: 10, overlap: 10 }\n")).toHaveLength(1)
  })
})

describe("bounds", () => {
  it("a billion laughs", () => {
    const levels = Array.from({ length: 12 }, (_, n) => `l${n + 1}: &l${n + 1} [${Array(10).fill(n === 0 ? "lol" : `*l${n}`).join(", ")}]`)
    const { message } = invalid(`${levels.join("\n")}\n`)
    expect(message).toContain("is too large or too deep once aliases are followed")
  })

  it("merge keys that multiply", () => {
    const levels = Array.from(
      { length: 16 },
      (_, n) => `l${n + 1}: &l${n + 1} { <<: [${Array(8).fill(n === 0 ? "{ a: 1 }" : `*l${n}`).join(", ")}] }`
    )
    expect(invalid(`${levels.join("\n")}\n`).issues.length).toBeLessThanOrEqual(100)
  })

  it.each([["[", 50_000], ["{a: ", 10_000], ["- ", 50_000]])("nesting of %s", (open, depth) => {
    expect(invalid(open.repeat(depth)).issues.length).toBeGreaterThan(0)
  })

  it("a hundred problems are enough", () => {
    const text = minimalYaml + Array.from({ length: 1000 }, (_, n) => `k${n}: 1`).join("\n")
    expect(invalid(text).issues).toHaveLength(100)
  })
})
