import { describe, expect, it } from "vitest"
import { Result } from "effect"
import { parsePipeline } from "../../../../src/pipeline/definition/Parse.ts"
import { printPipeline } from "../../../../src/pipeline/definition/Print.ts"
import { issues, minimalYaml, parsed, places } from "./Support.ts"

const withRules = (rules: string): string => `${minimalYaml}metadata:\n${rules}`

describe("metadata rules of a pipeline file", () => {
  it("are read, and written again as they were", () => {
    const text = withRules(`  team: { path: "teams/{team}/**" }
  status: { property: [Status, DC.status], values: [draft, final], required: true, strict: true }
  years: { property: years, type: list, element: integer, values: [2024, 2025] }
`)
    const { pipeline } = parsed(text)
    expect(pipeline.metadata).toEqual({
      team: { path: "teams/{team}/**", type: "string", required: false, strict: false },
      status: { property: ["status", "dc.status"], type: "string", values: ["draft", "final"], required: true, strict: true },
      years: { property: ["years"], type: "list", element: "integer", values: ["2024", "2025"], required: false, strict: false }
    })
    const again = parsePipeline(printPipeline(pipeline), "again.yaml", {})
    expect(Result.isSuccess(again) ? again.success.pipeline : again).toEqual(pipeline)
  })

  it("are not there where none are written", () => {
    expect("metadata" in parsed(minimalYaml).pipeline).toBe(false)
  })

  it("are reported with their places, all of them", () => {
    expect(issues(withRules("  Team: { property: team }\n"))[0]).toMatchObject({
      path: "metadata.Team",
      line: 5,
      rule: expect.stringContaining("1 to 58 of the letters a-z")
    })
    const text = withRules(`  year: { property: year, type: integr }
  both: { property: both, path: "{both}/**" }
  none: {}
  other: { path: "{team}/**" }
  tags: { path: "{tags}/**", type: list }
  scalar: { property: scalar, element: string }
  values: { property: values, type: integer, values: [1, x] }
`)
    const from = minimalYaml.split("\n").length
    expect(places(text).map((place) => place.replace(/^(\d+)/, (line) => String(Number(line) - from)))).toEqual([
      "1:33 metadata.year.type",
      "2:9 metadata.both",
      "3:9 metadata.none",
      "4:18 metadata.other.path",
      "5:9 metadata.tags",
      "6:11 metadata.scalar",
      "7:58 metadata.values.values[1]"
    ])
  })
})
