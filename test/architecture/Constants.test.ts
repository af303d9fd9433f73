import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { constants } from "../../src/models/extractive/Answer.ts"
import { defaultAlpha } from "../../src/search/Fusion.ts"
import { ranking } from "../../src/search/Ranking.ts"
import { root } from "../support/Root.ts"

const page = (path: string): string => readFileSync(join(root, path), "utf8")

/** Values by constant of a page's tables: the one in bold, or the one that was taken since: `untyped` (.2 since). */
const valuesOn = (path: string): Readonly<Record<string, number>> =>
  Object.fromEntries(
    [...page(path).matchAll(/^\| `(\w+)`(?: \((\S+) since\))? \|.*$/gm)].flatMap(([row, name = "", since]) => {
      const value = since ?? /\*\*([\d.]+)/.exec(row)?.[1]
      return value === undefined ? [] : [[name, Number(value)]]
    })
  )

/** Of the constants in use, those that a page has a value of. */
const inUse = (all: object, names: ReadonlyArray<string>): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)))

describe("constants", () => {
  it("of search are those of its page, every one", () => {
    const { alpha, ...stated } = valuesOn("docs/search.md")
    assert.deepStrictEqual(stated, { ...ranking })
    assert.strictEqual(alpha, defaultAlpha.words)
  })

  it("of answers are those of its page", () => {
    const stated = valuesOn("docs/answers.md")
    assert.isAbove(Object.keys(stated).length, 10)
    assert.deepStrictEqual(stated, inUse(constants, Object.keys(stated)))
    const threshold = /Below ([\d.]+) the answer is/.exec(page("docs/answers.md"))?.[1]
    assert.strictEqual(Number(threshold), constants.minConfidence)
  })

  it("of rules beside the weights have the factors that the page states", () => {
    const factors = [...page("docs/answers.md").matchAll(/^\| `(\w+)` \|.*\| ([\d.]+) \|$/gm)].map((
      [, name = "", factor]
    ) => [name, Number(factor)])
    assert.strictEqual(factors.length, 4)
    assert.deepStrictEqual(Object.fromEntries(factors), inUse(constants, factors.map(([name]) => String(name))))
  })
})
