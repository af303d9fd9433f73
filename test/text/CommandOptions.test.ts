import { assert, describe, it } from "@effect/vitest"
import { explainsOption, hasOption, optionsOf } from "../../src/text/CommandOptions.ts"

describe("options of a question", () => {
  it.each([
    ["what does lift -x do, and --no-home?", ["-x", "--no-home"]],
    ["lift `--cold` (-q)", ["--cold", "-q"]],
    ["a well-known e-mail - or -5 degrees --", []]
  ])("%s", (text, found) => assert.deepStrictEqual(optionsOf(text).map((option) => option.text), found))

  it("stand where they say", () => {
    const text = "lift --cold -q"
    assert.deepStrictEqual(optionsOf(text).map(({ end, start }) => text.slice(start, end)), ["--cold", "-q"])
  })
})

describe("an option in a text", () => {
  it("is written just so", () => {
    assert.isTrue(hasOption("lift [-x|-y]", "-x"))
    assert.isFalse(hasOption("lift -X --no-x -xy a-x", "-x"))
  })

  it.each([
    ["OPTIONS\n  -u, --utc\n      Universal Time", "--utc"],
    ["  -u TIME, --utc=TIME", "--utc"],
    ["-a\t\tall loads\n\t-u\t\tUTC", "-u"],
    ["- -u | --utc: Universal Time", "--utc"],
    ["-# --fast --best", "--fast"]
  ])("is explained: %s", (text, option) => assert.isTrue(explainsOption(text, option)))

  it("is looked for in time that grows with the text", () => {
    assert.isFalse(explainsOption(`${"-aAAAA/-aAAAA, -AAA<A ".repeat(500)}. -u`, "-u"))
    assert.lengthOf(optionsOf("lift -u ".repeat(1000)), 8)
  })

  it.each([
    "SYNOPSIS\n  lift [-u|--utc]",
    "  lift --utc 5",
    "  -v  Say more, as --utc does"
  ])("is not explained: %s", (text) => assert.isFalse(explainsOption(text, "--utc")))
})
