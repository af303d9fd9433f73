import { assert, describe, it } from "@effect/vitest"
import { describe as describeFile, type MetadataRule, type MetadataRules, patternOf } from "../../src/domain/MetadataRules.ts"
import type { Properties } from "../../src/domain/Properties.ts"

const rule = (given: Partial<MetadataRule>): MetadataRule => ({ type: "string", required: false, strict: false, ...given })

const made = (rules: MetadataRules, path: string, properties: Properties | undefined) => {
  const { broken, values } = describeFile(rules, path, properties)
  return {
    values: Object.fromEntries(
      values.map(({ key, value }) => [key, value._tag === "list" ? value.values.map((one) => one.value) : value.value])
    ),
    broken
  }
}

const inPath = (pattern: string, path: string): string | undefined => patternOf(pattern, "team")?.exec(path)?.[1]

describe("metadata rules", () => {
  it("find a value in a path", () => {
    assert.strictEqual(inPath("teams/{team}/**", "teams/ops/on/call.md"), "ops")
    assert.strictEqual(inPath("teams/{team}/**", "teams/ops.md"), undefined)
    assert.strictEqual(inPath("**/{team}.md", "a/b/ops.md"), "ops")
    assert.strictEqual(inPath("**/{team}.md", "ops.md"), "ops")
    assert.strictEqual(inPath("**/{team}-*.md", "x/ops-on-call.md"), "ops")
    assert.strictEqual(inPath("{team}.(x)/?.md", "ops.(x)/a.md"), "ops")
    for (const bad of ["teams/*", "{team}/{team}", "{other}/**", "{team}/{year}"]) assert.strictEqual(patternOf(bad, "team"), undefined)
  })

  it("type what documents say", () => {
    const rules = {
      year: rule({ property: ["year"], type: "integer" }),
      due: rule({ property: ["due"], type: "datetime" }),
      draft: rule({ property: ["draft"], type: "boolean" }),
      tags: rule({ property: ["tags", "keywords"], type: "list", element: "string" }),
      counts: rule({ property: ["counts"], type: "list", element: "integer" })
    }
    assert.deepStrictEqual(
      made(rules, "a.md", {
        year: " 2025",
        due: "2026-03-01 08:30:00 +01:00",
        draft: "True",
        tags: [],
        keywords: "a, b; c",
        counts: ["1", "2"]
      }),
      {
        values: { year: "2025", due: "2026-03-01T08:30:00+01:00", draft: true, tags: ["a", "b", "c"], counts: ["1", "2"] },
        broken: []
      }
    )
  })

  it("say which rule a file breaks, and leave its value out", () => {
    const rules = {
      year: rule({ property: ["year"], type: "integer" }),
      status: rule({ property: ["status"], values: ["draft", "final"] }),
      owner: rule({ property: ["owner", "author"], required: true }),
      one: rule({ property: ["tags"] }),
      long: rule({ property: ["long"] }),
      fine: rule({ property: ["status"] })
    }
    assert.deepStrictEqual(made(rules, "a.md", { year: "soon", status: "wip", tags: ["a", "b"], long: "x".repeat(1001) }), {
      values: { fine: "wip" },
      broken: [
        "year: \"soon\" is not an integer",
        "status: \"wip\" is none of draft, final",
        "owner: is required, and there is none (property owner, author)",
        "one: has 2 values where a string is wanted",
        "long: has more than 1000 characters"
      ]
    })
  })

  it("leave what a document says alone where it is not known", () => {
    const rules = { team: rule({ path: "{team}/**" }), year: rule({ property: ["year"], required: true, strict: true }) }
    assert.deepStrictEqual(describeFile(rules, "ops/a.md", undefined), {
      whole: false,
      keys: ["team"],
      values: [{ key: "team", value: { _tag: "string", value: "ops" } }],
      broken: [],
      fails: false
    })
    assert.isTrue(describeFile(rules, "ops/a.md", {}).fails)
  })
})
