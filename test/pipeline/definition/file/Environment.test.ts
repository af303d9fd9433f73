import { describe, expect, it } from "vitest"
import { substitute } from "../../../../src/pipeline/definition/Environment.ts"
import { issues, minimalYaml, parsed, places } from "./Support.ts"

describe("substitute", () => {
  const env = { A: "a", EMPTY: "", REF: "${A}" }
  it.each([
    ["${A}", "a"],
    ["x-${A}-${A}", "x-a-a"],
    ["${MISSING:-other}", "other"],
    ["${EMPTY:-other}", "other"],
    ["${EMPTY}", ""],
    ["${MISSING:-}", ""],
    ["${A:-other}", "a"],
    ["${A:?needed}", "a"],
    ["${REF}", "${A}"],
    ["$${A}", "${A}"],
    ["$A and $5", "$A and $5"]
  ])("%s becomes %s", (text, expected) => {
    expect(substitute(text, env)).toMatchObject({ text: expected, problems: [] })
  })

  it.each([
    ["${MISSING}", "the environment variable MISSING is not set"],
    ["${MISSING:?ask the platform team}", "the environment variable MISSING is not set: ask the platform team"],
    ["${EMPTY:?}", "the environment variable EMPTY is not set"],
    ["${toString}", "the environment variable toString is not set"],
    ["${}", "${ does not begin a reference to an environment variable"],
    ["${A-b}", "${ does not begin a reference to an environment variable"],
    ["${A", "${ does not begin a reference to an environment variable"]
  ])("%s is refused", (text, rule) => {
    expect(substitute(text, env).problems.map((problem) => problem.rule)).toEqual([rule])
  })
})

describe("in a file", () => {
  it("works in block and flow style, quoted or not", () => {
    const text = `name: \${NAME}
engine: { vertex: { project: \${PROJECT}, location: "\${LOCATION:-us-central1}" } }
corpus: { displayName: '\${NAME:-a, b} of \${PROJECT}', description: $\${PROJECT} }
sources: { docs: { local: { path: \${DIR:-./docs, here: [x]} } } }
`
    const { pipeline } = parsed(text, { NAME: "handbook", PROJECT: "acme" })
    expect(pipeline.engine).toEqual({ _tag: "vertex", project: "acme", location: "us-central1" })
    expect(pipeline.corpus).toMatchObject({ displayName: "handbook of acme", description: "${PROJECT}" })
    expect(pipeline.sources["docs"]).toMatchObject({ path: "./docs, here: [x]" })
  })

  it("cannot change the structure", () => {
    const evil = "x\"}, evil: {a: b}\nname: other\n# "
    const { pipeline } = parsed(minimalYaml.replace("./docs", "${DIR}"), { DIR: evil })
    expect(pipeline.name).toBe("handbook")
    expect(pipeline.sources["docs"]).toMatchObject({ path: evil })
    expect(parsed(minimalYaml.replace("Handbook", "${A}"), { A: "*alias" }).pipeline.corpus.displayName).toBe("*alias")
  })

  it("does not name keys", () => {
    expect(places(minimalYaml + "${KEY}: 1\n", { KEY: "engine" })).toEqual(["4:1 [\"${KEY}\"]"])
  })

  it("stands for a number or a boolean where one belongs", () => {
    const text = `${minimalYaml.replace("./docs", "./docs, hidden: ${HIDDEN}")}chunking: { size: \${SIZE}, overlap: "\${OVERLAP}" }
stages: [{ retrieve: { hybrid: { alpha: \${ALPHA} } } }]
import: { maxDelete: \${DELETES}, budget: { embeddedTokens: \${TOKENS} } }
`
    const { pipeline } = parsed(text, { SIZE: "512", OVERLAP: "64", HIDDEN: "true", ALPHA: "0.25", DELETES: "7", TOKENS: "2M" })
    expect(pipeline.chunking).toEqual({ strategy: "fixed", size: 512, overlap: 64 })
    expect(pipeline.sources["docs"]).toMatchObject({ hidden: true })
    expect(pipeline.stages[0]).toMatchObject({ hybrid: { alpha: 0.25 } })
    expect(pipeline.import).toMatchObject({ maxDelete: { count: 7 }, budget: { embeddedTokens: 2_000_000 } })
  })

  it("stays text where text belongs, and where it is no number", () => {
    expect(parsed(minimalYaml.replace("handbook", "${NAME}"), { NAME: "2026" }).pipeline.name).toBe("2026")
    expect(places(minimalYaml + "chunking: { size: ${SIZE} }\n", { SIZE: "large" })).toEqual(["4:19 chunking.size"])
    expect(places(minimalYaml + "chunking: { size: 1${SIZE} }\n", { SIZE: "0" })).toEqual(["4:19 chunking.size"])
  })

  it("names an unset variable and its place, beside every other problem and without its consequences", () => {
    const text = minimalYaml.replace("Handbook", "${TITLE}") + "chunking: { size: ${SIZE}, overlap: none }\n"
    expect(issues(text).map(({ column, fix, line, path, rule }) => [line, column, path, rule, fix])).toEqual([
      [2, 24, "corpus.displayName", "the environment variable TITLE is not set", "set TITLE, or give a default: ${TITLE:-...}"],
      [4, 19, "chunking.size", "the environment variable SIZE is not set", "set SIZE, or give a default: ${SIZE:-...}"],
      [4, 37, "chunking.overlap", "must be a number, not text", undefined]
    ])
  })
})
