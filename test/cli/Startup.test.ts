import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { bin } from "../support/Built.ts"

/** The modules that a built file loads before it does anything. */
const loadedBy = (file: string, seen = new Set<string>()): Set<string> => {
  if (seen.has(file)) return seen
  seen.add(file)
  for (
    const [, path] of readFileSync(file, "utf8").matchAll(
      /(?:^|[;}\n])\s*(?:import|export)\s*(?:[^'"`();]*?from\s*)?["'`](\.[^"'`]+)["'`]/g
    )
  ) {
    loadedBy(join(dirname(file), path ?? ""), seen)
  }
  return seen
}

/** The chunk that `bin.js` imports once it knows the Node it runs on. */
const main = () => join(dirname(bin), /import\(["'`](\.\/main[^"'`]*)["'`]\)/.exec(readFileSync(bin, "utf8"))?.[1] ?? "")

describe("start", () => {
  it("loads no parser, tokenizer, HTTP client, YAML reader or engine before a command needs it", () => {
    const modules = [...loadedBy(main())]
    assert.isAbove(modules.length, 3)
    const code = modules.map((file) => readFileSync(file, "utf8"))
    const bytes = code.reduce((sum, text) => sum + text.length, 0)
    assert.isBelow(bytes, 1_000_000, modules.join("\n"))
    const rest = readdirSync(dirname(bin)).filter((name) => name.endsWith(".js")).map((name) =>
      readFileSync(join(dirname(bin), name), "utf8")
    )
    // Names that stand in what must stay outside: the database, YAML, globs, languages, HTTP.
    for (const word of ["BEGIN IMMEDIATE", "LineCounter", "picomatch", "germanSpelling", "getGlobalDispatcher"]) {
      assert.isTrue(rest.some((text) => text.includes(word)), `${word} is nowhere: name another word`)
      assert.isFalse(code.some((text) => text.includes(word)), word)
    }
  })

  it("says in one line that a Node is too old, before it loads anything", () => {
    const pretend = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.19.0" } })`
    const { status, stderr, stdout } = spawnSync(
      process.execPath,
      ["--import", `data:text/javascript,${encodeURIComponent(pretend)}`, bin, "--version"],
      { encoding: "utf8" }
    )
    assert.deepStrictEqual([status, stdout, stderr], [1, "", "sluice needs Node 22.19 or later; this is 20.19.0\n"])
  })
})
