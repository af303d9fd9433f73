import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { entries, exportsOf } from "../../scripts/api.ts"
import { root } from "../support/Root.ts"

/** Its words, without tags and examples. */
const prose = (docs: string): string => docs.split(/^@/m)[0]?.trim() ?? ""

describe("the package's entries", () => {
  it("are those that package.json names", () => {
    const { exports }: { exports: Record<string, Record<string, string>> } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
    assert.deepStrictEqual(
      Object.entries(exports).map(([path, { "sluice-source": source }]) => [`sluice${path.slice(1)}`, source]).toSorted(),
      Object.entries(entries).map(([name, file]) => [name, `./${file}`]).toSorted()
    )
  })

  for (const [entry, file] of Object.entries(entries)) {
    it(`${entry} exports nothing without a sentence on it`, () => {
      const exported = exportsOf(join(root, file))
      assert.isNotEmpty(exported)
      const without = exported.filter(({ declarations }) => !declarations.some(({ docs }) => /\S+ \S+ \S+[\s\S]*[.:)`]$/.test(prose(docs))))
      assert.deepStrictEqual(without.map((one) => `${one.name} in ${relative(root, one.file)}`), [])
    })
  }
})
