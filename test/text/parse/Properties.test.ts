import { assert, describe, it } from "@effect/vitest"
import type { Properties } from "../../../src/domain/MetadataRules.ts"
import { parse } from "../../../src/text/parse/Parse.ts"
import { defaultLimits } from "../../../src/text/Prepared.ts"

const read = async (name: string, text: string) => {
  const { properties, remarks } = await parse({ bytes: new TextEncoder().encode(text), name, limits: defaultLimits, properties: true })
  return { properties, remarks }
}

const said = async (name: string, text: string): Promise<Properties | undefined> => (await read(name, text)).properties

describe("what a document says of itself", () => {
  it("is its front matter in YAML, as it is written", async () => {
    const text = `---
title: "On call: who"
Year: 2025
version: 1.10
draft: no
empty:
due: 2026-03-01 08:30:00
tags: [pager, "night, shift", 7]
aliases:
  - one
  - two
owner: &who
  name: Ann
  team: ops
by: *who
summary: >
  folded
  text
---
# Text
`
    assert.deepStrictEqual(await said("a.md", text), {
      title: "On call: who",
      year: "2025",
      version: "1.10",
      draft: "no",
      due: "2026-03-01 08:30:00",
      tags: ["pager", "night, shift", "7"],
      aliases: ["one", "two"],
      "owner.name": "Ann",
      "owner.team": "ops",
      "by.name": "Ann",
      "by.team": "ops",
      summary: "folded text"
    })
  })

  it("is its front matter in TOML", async () => {
    const text =
      "+++\ntitle = \"Leave\"\ndate = 2026-03-01\nat = 2026-03-01T08:30:00Z\ntags = [\"a\", \"b\"]\n[extra]\nteam = \"hr\"\n+++\nText\n"
    assert.deepStrictEqual(await said("a.md", text), {
      title: "Leave",
      date: "2026-03-01",
      at: "2026-03-01T08:30:00.000Z",
      tags: ["a", "b"],
      "extra.team": "hr"
    })
  })

  it("is what meta elements say, a list where one is there twice", async () => {
    const text = `<html><head><title>T</title><meta charset="utf-8"><meta name="DC.Status" content=" draft ">
<meta property="article:tag" content="a"><meta property="article:tag" content="b"><meta name="empty" content=""></head><body><p>Text</p></body></html>`
    assert.deepStrictEqual(await said("a.html", text), { "dc.status": "draft", "article:tag": ["a", "b"] })
  })

  it("is told to be broken where it cannot be read", async () => {
    const yaml = await read("a.md", "---\ntitle: fine\nbad: [a, b\n---\n# Text\n")
    assert.deepStrictEqual(yaml.remarks, [{ kind: "properties", text: "its front matter is not YAML" }])
    const toml = await read("a.md", "+++\ntitle = \"x\"\nbad = [\n+++\n# Text\n")
    assert.deepStrictEqual(toml.remarks, [{ kind: "properties", text: "its front matter is not TOML" }])
  })

  it("is bounded, whatever aliases stand for", async () => {
    const levels = Array.from({ length: 12 }, (_, i) => `l${i + 1}: &l${i + 1} [${Array.from({ length: 9 }, () => `*l${i}`).join(", ")}]`)
    const bomb = await read("a.md", `---\ntitle: x\nl0: &l0 [x]\n${levels.join("\n")}\n---\n# Text\n`)
    assert.isBelow(JSON.stringify(bomb.properties).length, 100_000)
    const maps = Array.from(
      { length: 12 },
      (_, i) => `m${i + 1}: &m${i + 1} {${Array.from({ length: 9 }, (_, j) => `k${j}: *m${i}`).join(", ")}}`
    )
    const nested = await read("a.md", `---\ntitle: x\nm0: &m0 {x: y}\n${maps.join("\n")}\n---\n# Text\n`)
    assert.isBelow(JSON.stringify(nested.properties).length, 100_000)
    assert.isNotEmpty(nested.remarks ?? [])
  })

  it("is not looked for where nobody asks", async () => {
    const document = await parse({ bytes: new TextEncoder().encode("---\ntitle: x\n---\n# Text\n"), name: "a.md", limits: defaultLimits })
    assert.isUndefined(document.properties)
  })
})
