import { describe, expect, it } from "vitest"
import { invalid, issues, minimalYaml, parsed, places } from "./Support.ts"

describe("positions", () => {
  it("are those of the key, the value, or the nearest thing that is there", () => {
    const text = `name: hand book
corpus:
  displayname: Handbook
sources:
  docs:
    local:
      path: ""
  chat:
    slack: { channels: [{ id: general }] }
stages:
  - retrieve:
      topK: many
  - generate
`
    expect(places(text)).toEqual([
      "1:7 name",
      "2:1 corpus.displayName",
      "3:3 corpus.displayname",
      "7:13 sources.docs.local.path",
      "9:5 sources.chat.slack.token",
      "9:31 sources.chat.slack.channels[0].id",
      "12:13 stages[0].retrieve.topK",
      "13:5 stages[1]"
    ])
  })

  it("count characters in front of which anything may stand", () => {
    expect(places("# ключ 日本\n" + minimalYaml + "\"chunking\": { strategy: 'über' }\n")).toEqual(["5:25 chunking.strategy"])
    expect(places(minimalYaml.replaceAll("\n", "\r\n") + "chunking: { size: 0, overlap: 0 }\r\n")).toEqual([
      "4:19 chunking.size",
      "4:31 chunking.overlap"
    ])
  })

  it("are the same for JSON", () => {
    const text = `{
  "$schema": "./pipeline.schema.json",
  "name": "handbook",
  "corpus": { "displayName": "Handbook" },
  "sources": {
\t"docs": { "local": { "path": "./docs", "hiden": true } }
  }
}`
    expect(places(text)).toEqual(["6:41 sources.docs.local.hiden"])
    expect(parsed(text.replace(`, "hiden": true`, "")).pipeline.name).toBe("handbook")
  })

  it("of an alias are where it is used, of what is inside one where it is written", () => {
    const text = `name: &n handbook
corpus: { displayName: *n }
sources: { docs: { local: { path: . } } }
chunking: &c
  size: 0
  overlap: 0
engine: *n
engines: { embedded: { chunking: *c } }
`
    expect(places(text)).toEqual([
      "5:9 chunking.size",
      "5:9 engines.embedded.chunking.size",
      "6:12 chunking.overlap",
      "6:12 engines.embedded.chunking.overlap",
      "7:9 engine"
    ])
  })

  it("come with the lines around them and a caret", () => {
    expect(issues(minimalYaml + "chunking:\n  size: 512\n  strategy: structured\n  overlap: 1\n")[0]?.frame).toBe(
      [
        "  4 | chunking:",
        "  5 |   size: 512",
        "> 6 |   strategy: structured",
        "    |             ^",
        "  7 |   overlap: 1",
        "  8 |"
      ].join("\n")
    )
  })

  it("of a very long line show the part around the caret", () => {
    const text = `{"name":"${"x".repeat(60)}","corpus":{"displayName":"Handbook","description":"${
      "y".repeat(500)
    }"},"sources":{"docs":{"locl":{"path":"."}}}}`
    const [issue] = issues(text)
    expect(issue?.column).toBe(text.indexOf(`"locl"`) + 1)
    const [line, caret] = issue?.frame?.split("\n") ?? []
    expect(line?.length).toBeLessThan(120)
    expect(line?.slice(caret?.indexOf("^"))).toMatch(/^"locl"/)
  })

  it("cannot carry terminal escapes", () => {
    expect(invalid(minimalYaml + "# \u001b[2J\u202e\nbad\u001b[31m: 1\n").message).not.toMatch(/[\u001b\u202e]/)
  })
})

describe("advice", () => {
  it.each([
    ["chunking: { chunkSize: 3 }", "size"],
    ["chunking: { over_lap: 3 }", "overlap"],
    ["chunking: { strategy: structured }", "structure"],
    ["import: { max_delete: 3 }", "maxDelete"],
    ["engine: embeded", "embedded"],
    ["parsing: { Layout: {} }", "layout"],
    ["stage: []", "stages"],
    ["chunk: { size: 3 }", "chunking"]
  ])("%s: did you mean %s?", (line, suggestion) => {
    const found = issues(minimalYaml + line)
    expect(found).toHaveLength(1)
    expect(found[0]?.suggestion).toBe(suggestion)
    expect(invalid(minimalYaml + line).message).toContain(`did you mean ${suggestion}?`)
  })

  it("names the keys there are when none is near", () => {
    expect(issues(minimalYaml + "chunking: { frobnicate: 3 }")[0]?.fix).toBe("the keys here are strategy, size, overlap, chunker")
  })

  it("says where a key belongs", () => {
    expect(issues(minimalYaml + "topK: 3")[0]?.fix).toBe("topK belongs in stages[].retrieve or stages[].diversify")
    expect(issues(minimalYaml + "displayName: H")[0]?.fix).toBe("displayName belongs in corpus")
    expect(issues(minimalYaml + "apiKey: x")[0]?.fix).toMatch(/^the keys here are name, /)
    const withSource = (source: string) => issues(minimalYaml.replace("{ local: { path: ./docs } }", source))[0]?.fix
    expect(withSource("{ path: ./docs }")).toBe("path belongs in local or git")
    const stage = (stage: string) => issues(`${minimalYaml}stages: [{ retrieve: {} }, ${stage}]`)[0]?.fix
    expect(stage("{ generate: { openai: { url: \"http://a/v1\", model: m } } }")).toBe("openai belongs in model")
  })

  it("says that entries have names, where a list or a text stands in their place", () => {
    const fix = "write each entry under a name: NAME: ..."
    expect(issues("name: h\ncorpus: { displayName: H }\nsources:\n  - local: { path: ./docs }\n")[0]).toMatchObject({ line: 4, fix })
    expect(issues("name: h\ncorpus: { displayName: H }\nsources: ./docs\n")[0]?.fix).toBe(fix)
  })

  it("says what is wrong with a filter, and where, without its words", () => {
    const rule = (filter: string) =>
      issues(`${minimalYaml}stages: [{ retrieve: { filter: { metadataFilter: '${filter}' } } }]`).map(({ fix, rule }) => [rule, fix])
    const fix = "write for example year >= 2024 && lang in [\"de\", \"en\"]"
    expect(rule("year == 3 and sk-123")).toEqual([["has something else at character 11 where an operator should come", fix]])
    expect(rule("(lang == \"de\"")).toEqual([["ends where ) should come", fix]])
    expect(rule("year == 3 ; sk-123")).toEqual([["cannot be read at character 11", fix]])
    expect(rule("sk(123)")).toEqual([["calls a function that is neither has nor timestamp", fix]])
  })

  it("finds the bracket of a glob pattern that is not closed, where a pattern with it finds no file", () => {
    const patterns = (...written: ReadonlyArray<string>) =>
      issues(minimalYaml.replace("./docs", `./docs, include: ${JSON.stringify(written)}`)).map(({ path }) => path)
    expect(patterns("**/*.{md", "[a-", "[]a", "*.@(md|txt")).toEqual([0, 1, 2, 3].map((at) => `sources.docs.local.include[${at}]`))
    const whole = ["**/*.{md,{t,r}st}", "[!a]*", "[]}]*", "@(a|b)", "copy (2).md", "a}", "\\{name", "(draft", "[{(]*"]
    parsed(minimalYaml.replace("./docs", `./docs, include: ${JSON.stringify(whole)}`))
  })

  it("does not take a limit that no file could be read with", () => {
    expect(issues(minimalYaml + "import: { limits: { memory: 1MB } }")[0]).toMatchObject({
      path: "import.limits.memory",
      rule: "must be 256MiB or more"
    })
    parsed(minimalYaml + "import: { limits: { memory: 256MiB } }")
  })

  it("tells text from numbers and lists", () => {
    expect(issues(minimalYaml.replace("handbook", "2026"))[0]).toMatchObject({
      rule: "must be text, not a number",
      fix: "put it in quotes"
    })
    // Quotes alone would not make it a duration.
    expect(issues(minimalYaml.replace("./docs", "./docs, poll: 15"))[0]).toMatchObject({
      rule: "must be a duration: a whole number and s, m, h or d",
      fix: "write for example 5m"
    })
    expect(issues(minimalYaml + "chunking: { size: '512' }")[0]).toMatchObject({ fix: "write it without quotes" })
    expect(issues(minimalYaml + "chunking: { size: $SIZE }")[0]).toMatchObject({
      fix: "write an environment variable with braces: ${NAME}"
    })
    expect(issues(minimalYaml + "stages: { retrieve: {} }")[0]).toMatchObject({
      rule: "must be a list, not a mapping",
      fix: "write it as a list: [ ... ]"
    })
    expect(issues(minimalYaml + "chunking:\n")[0]).toMatchObject({
      rule: "must be a mapping of keys to values, not empty",
      line: 4,
      column: 1
    })
  })
})

describe("the message", () => {
  it("reads like this", () => {
    expect(invalid(minimalYaml + "chunking: { size: 100, overlap: 100 }\n").message).toBe(
      `p.yaml is not a valid pipeline: 1 problem

p.yaml:4:33  chunking.overlap
  must be less than size (100)

  2 | corpus: { displayName: Handbook }
  3 | sources: { docs: { local: { path: ./docs } } }
> 4 | chunking: { size: 100, overlap: 100 }
    |                                 ^
  5 |`
    )
  })
})

describe("problems found later", () => {
  it("are placed in the file the same way", () => {
    const { invalid } = parsed(minimalYaml + "stages: [{ retrieve: {} }, { generate: {} }]\n")
    const { issues } = invalid([{ path: ["stages", 1, "generate", "model"], rule: "no such model" }])
    expect(issues[0]).toMatchObject({ line: 4, column: 30, path: "stages[1].generate.model", rule: "no such model" })
  })
})
