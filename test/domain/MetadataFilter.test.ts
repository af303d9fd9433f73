import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import type { DataSchemaSpec, MetadataValue } from "../../src/domain/MetadataValue.ts"
import { badMetadataFilter, parseMetadataFilter, passes } from "../../src/domain/MetadataFilter.ts"
import { seedsOf } from "../support/Seeds.ts"

const file: Readonly<Record<string, MetadataValue | string>> = {
  year: { _tag: "integer", value: "2024" },
  big: { _tag: "integer", value: "9007199254740993" },
  price: { _tag: "float", value: 12.5 },
  team: { _tag: "string", value: "ops" },
  quote: { _tag: "string", value: "say \"hi\" (now) || never" },
  due: { _tag: "datetime", value: "2026-03-01T08:30:00+02:00" },
  draft: { _tag: "boolean", value: false },
  live: { _tag: "boolean", value: true },
  tags: { _tag: "list", values: [{ _tag: "string", value: "red" }, { _tag: "string", value: "blue" }] },
  "cost-centre": { _tag: "integer", value: "7" },
  author: "Ana Reyes",
  pages: "12",
  modifiedTime: "2026-01-05T10:00:00Z"
}

const parsed = (expression: string) => Result.getOrThrow(parseMetadataFilter(expression, "filter"))
const holds = (expression: string): boolean => passes(parsed(expression), (key) => file[key])
const refusal = (expression: string): string => {
  const result = parseMetadataFilter(expression, "filter")
  return Result.isFailure(result) ? result.failure.message : "taken"
}

describe("a metadata filter", () => {
  it("holds of a file", () => {
    const expressions = [
      "year == 2024",
      "year = 2024",
      "year >= 2024",
      "year < 2024.5",
      "2023 < year",
      "year != 2023",
      "year == \"2024\"",
      "year in [2023, 2024]",
      "big == 9007199254740993",
      "big != 9007199254740992",
      "price > 12",
      "price <= 1.25e1",
      "team == \"ops\"",
      "team == 'ops'",
      "team = ops",
      "team in [\"dev\", \"ops\"]",
      "team > \"dev\"",
      "quote == \"say \\\"hi\\\" (now) || never\"",
      "quote == 'say \"hi\" (now) || never'",
      "due == timestamp(\"2026-03-01T06:30:00Z\")",
      "due > \"2026-03\"",
      "due < 2026-03-02",
      "timestamp(\"2026\") < due",
      "live",
      "live == true",
      "!draft",
      "NOT draft",
      "draft == false",
      "!(draft || year == 1)",
      "\"red\" in tags",
      "tags == \"blue\"",
      "tags:red",
      "tags in [\"green\", \"blue\"]",
      "tags != \"green\"",
      "!(\"green\" in tags)",
      "cost-centre == 7",
      "author == \"Ana Reyes\"",
      "pages > 9",
      "pages == \"12\"",
      "modifiedTime >= timestamp(\"2026-01-05\")",
      "has(team)",
      "!has(nothing)",
      "nothing != 3",
      "!(nothing == 3)",
      "year == 1 && team == \"x\" || live",
      "live || year == 1 && team == \"x\"",
      "(year == 1 || live) && team == \"ops\"",
      "live AND NOT draft",
      "year == 1 OR live",
      "(year == 1 OR live) AND team = \"ops\""
    ]
    assert.deepStrictEqual(expressions.filter((expression) => !holds(expression)), [])
  })

  it("does not hold of a file", () => {
    const expressions = [
      "year == 2023",
      "year > 2024",
      "year == \"twenty\"",
      "year in []",
      "team == 5",
      "team == \"Ops\"",
      "price == 12",
      "due > 2027",
      "draft",
      "tags == \"green\"",
      "nothing == 3",
      "nothing < 3",
      "nothing",
      "author == ana",
      "pages < 9",
      "big == 9007199254740992",
      "(year == 1 || live) && team == \"x\"",
      "!(live && team == \"ops\")",
      "live == \"yes\"",
      "__proto__ == 1",
      "constructor"
    ]
    assert.deepStrictEqual(expressions.filter(holds), [])
  })

  it("is refused where it cannot be read, with the place", () => {
    const refused: ReadonlyArray<readonly [string, RegExp]> = [
      ["", /ends where a value/],
      ["year ==", /ends where a value/],
      ["year == 1 year == 2", /"year" at character 11 where an operator/],
      ["(year == 1", /ends where \)/],
      ["year === 1", /"=" at character 8/],
      ["year in 2024", /"2024" at character 9 where \[/],
      ["year == 1 &&", /ends where a value/],
      ["team == \"ops", /cannot be read at character 9/],
      ["size(tags) > 1", /calls size/],
      ["due == timestamp(\"soon\")", /no date at character 18/],
      ["a == 1 AND b == 2 OR c == 3", /mixes AND and OR/],
      ["a == 1 OR b == 2 AND c == 3", /mixes AND and OR/],
      ["3 == 4", /"4" at character 6 where a key/],
      [`${"(".repeat(200)}a${")".repeat(200)}`, /more than 100 parentheses/],
      [`a == "${"x".repeat(10_001)}"`, /more than 10000 characters/],
      ["a == 1; drop", /cannot be read at character 7/]
    ]
    for (const [expression, message] of refused) assert.match(refusal(expression), message, expression.slice(0, 40))
  })

  it("is held against the types that the corpus's schemas say", () => {
    const schemas = new Map<string, DataSchemaSpec>([
      ["year", { key: "year", type: "integer" }],
      ["secret", { key: "secret", type: "string", search: "none" }],
      ["tags", { key: "tags", type: "list", element: "datetime" }]
    ])
    const bad = (expression: string) => badMetadataFilter(parsed(expression), schemas, "filter")?.message
    assert.isUndefined(bad("year > 2024.5 && title == \"x\""))
    assert.match(bad("live || !(year in [1, \"two\"])") ?? "", /compares year, whose type is integer, with "two"/)
    assert.match(bad("secret == \"x\"") ?? "", /NO_SEARCH/)
    assert.match(bad("\"soon\" in tags") ?? "", /datetime/)
  })

  it("never fails otherwise, whatever it is given", () => {
    const parts = [
      "a",
      "in",
      "==",
      "!",
      "(",
      ")",
      "[",
      "]",
      ",",
      "\"x\"",
      "1",
      "&&",
      "||",
      "AND",
      "OR",
      "NOT",
      "has",
      "timestamp",
      "true",
      ":",
      "-",
      "."
    ]
    let seed = 7
    const next = (n: number) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n
    for (let i = 0; i < seedsOf("SLUICE_FILTERS", 4_000, 100_000); i++) {
      const expression = Array.from({ length: 1 + next(9) }, () => parts[next(parts.length)]).join(" ")
      const result = parseMetadataFilter(expression, "filter")
      if (Result.isSuccess(result)) passes(result.success, (key) => file[key])
    }
  })
})
