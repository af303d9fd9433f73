import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { Effect } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { bin } from "../support/Built.ts"
import { project } from "./Project.ts"

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

/** The code of every chunk of the command line. */
const built = () =>
  readdirSync(dirname(bin)).filter((name) => name.endsWith(".js")).map((name) => readFileSync(join(dirname(bin), name), "utf8"))

/** The chunk that `bin.js` imports once it knows the Node it runs on. */
const main = () => join(dirname(bin), /import\(["'`](\.\/main[^"'`]*)["'`]\)/.exec(readFileSync(bin, "utf8"))?.[1] ?? "")

/** What a thread of a run loads, a line each on stderr: its own number, and the file; and that it started a process. */
const tellLoaded = `
import { subscribe } from "node:diagnostics_channel"
import { registerHooks } from "node:module"
subscribe("child_process", () => process.stderr.write("started a process\\n"))
import { threadId } from "node:worker_threads"
registerHooks({ load(url, context, next) {
  if (url.startsWith("file:")) process.stderr.write("loaded " + threadId + " " + url + "\\n")
  return next(url, context)
} })`

/** A run of the command line, and the built files that it loaded by the way. */
const runTelling = (cwd: string, ...args: ReadonlyArray<string>) => {
  const { status, stderr, stdout } = spawnSync(
    process.execPath,
    ["--import", `data:text/javascript,${encodeURIComponent(tellLoaded)}`, bin, ...args],
    { cwd, encoding: "utf8" }
  )
  const loaded = [...stderr.matchAll(/^loaded (\d+) file:\/\/(.*)$/gm)].map(([, thread, file]) => ({ thread, file: file! }))
  return { status, stdout, stderr, loaded }
}

describe("start", () => {
  it("loads no parser, tokenizer, HTTP client, YAML reader or engine before a command needs it", () => {
    const modules = [...loadedBy(main())]
    assert.isAbove(modules.length, 3)
    const code = modules.map((file) => readFileSync(file, "utf8"))
    const bytes = code.reduce((sum, text) => sum + text.length, 0)
    assert.isBelow(bytes, 1_000_000, modules.join("\n"))
    const rest = built()
    // Names that stand in what must stay outside: the database, YAML, globs, languages, HTTP.
    for (const word of ["BEGIN IMMEDIATE", "LineCounter", "picomatch", "germanSpelling", "getGlobalDispatcher"]) {
      assert.isTrue(rest.some((text) => text.includes(word)), `${word} is nowhere: name another word`)
      assert.isFalse(code.some((text) => text.includes(word)), word)
    }
  })

  it("parsers load what reads a format, and neither the command line nor the schemas of Effect", () => {
    const parser = loadedBy(join(dirname(bin), "textWorker.js"))
    // What is added meanwhile is visited too.
    for (const file of parser) {
      for (const [, path = ""] of readFileSync(file, "utf8").matchAll(/import\(["'`](\.[^"'`]+)["'`]\)/g)) {
        loadedBy(join(dirname(file), path), parser)
      }
    }
    assert.isTrue([...parser].some((file) => /[\\/]Pdf-/.test(file)), "the readers of formats are elsewhere")
    const word = "~effect/Schema"
    assert.isTrue(built().some((text) => text.includes(word)), `${word} is nowhere: name another word`)
    for (const file of parser) {
      assert.isFalse(readFileSync(file, "utf8").includes(word), file)
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

  it.live("loads nothing to search, analyze, answer or parse with where nothing changed, and starts no thread or process", () =>
    Effect.gen(function*() {
      const cwd = yield* project()
      const first = runTelling(cwd, "run", "--json")
      assert.strictEqual(first.status, 0, first.stderr)
      assert.isTrue(first.loaded.some(({ thread }) => thread !== "0"), "the writer's thread was not seen: look for it otherwise")
      // It takes a while to start, as the writer does: both at once where there are files to be parsed for sure.
      assert.match(first.stderr, /started a process\n[^]*loaded [1-9]/, "the parser's process is not the first to be started")
      // What is younger than the moments that a file system tells apart is looked at once more.
      yield* Effect.sleep("2 seconds")
      runTelling(cwd, "run")
      const { loaded, status, stderr, stdout } = runTelling(cwd, "run", "--json")
      assert.strictEqual(status, 0, stderr)
      const last = JSON.parse(stdout.trimEnd().split("\n").at(-1)!)
      assert.deepInclude(last.report.totals, { listed: 3, unchanged: 3 })
      assert.deepStrictEqual(loaded.filter(({ thread }) => thread !== "0"), [])
      assert.notInclude(stderr, "started a process")
      const code = loaded.map(({ file }) => readFileSync(file, "utf8"))
      // Finding and opening a file takes longer than what is in it.
      assert.isBelow(loaded.length, 50, loaded.map(({ file }) => file).join("\n"))
      assert.isBelow(code.reduce((sum, text) => sum + text.length, 0), 1_550_000, loaded.map(({ file }) => file).join("\n"))
      // Names that stand in the analysis, the search, the models, the HTTP client, and other commands.
      for (
        const word of ["germanSpelling", "CorpusIndex", "ExtractiveGenerator.answer", "getGlobalDispatcher", "sluice tune"]
      ) {
        assert.isTrue(built().some((text) => text.includes(word)), `${word} is nowhere: name another word`)
        assert.isFalse(code.some((text) => text.includes(word)), word)
      }
    }))
})
