import { assert, describe, it } from "@effect/vitest"
import { execFileSync, spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"

const root = resolve(import.meta.dirname, "../..")
const bin = join(root, "dist/cli/bin.js")

/** The modules that a built file loads before it does anything. */
const loadedBy = (file: string, seen = new Set<string>()): Set<string> => {
  if (seen.has(file)) return seen
  seen.add(file)
  for (const [, path] of readFileSync(file, "utf8").matchAll(/(?:^|[;}\n])\s*(?:import|export)\s*(?:[^'"`();]*?from\s*)?["'`](\.[^"'`]+)["'`]/g)) {
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
    const rest = readdirSync(dirname(bin)).filter((name) => name.endsWith(".js")).map((name) => readFileSync(join(dirname(bin), name), "utf8"))
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

describe("the package", () => {
  it("holds what it needs and no sources, tests or data", () => {
    const [packed] = JSON.parse(execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }))
    const files: ReadonlyArray<string> = packed.files.map(({ path }: { path: string }) => path)
    assert.includeMembers([...files], ["dist/cli/bin.js", "dist/index.js", "dist/connectors.js", "dist/types/src/index.d.ts", "dist/types/connectors/index.d.ts", "package.json", "pipelines/pipeline.schema.json", "LICENSE"])
    assert.deepStrictEqual(files.filter((path) => /^(src|test|examples|bench|connectors)\//.test(path)), [])
  })

  it("gives a program types that compile under strict nodenext, and code that runs", () => {
    const folder = mkdtempSync(join(tmpdir(), "sluice-"))
    try {
      mkdirSync(join(folder, "node_modules"))
      for (const name of ["effect", "@types", "typescript"]) symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name))
      symlinkSync(root, join(folder, "node_modules/sluice"))
      writeFileSync(join(folder, "package.json"), `{ "type": "module" }`)
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({
        compilerOptions: { module: "nodenext", target: "es2024", strict: true, noEmit: true, types: ["node"], skipLibCheck: false },
        include: ["program.ts"]
      }))
      writeFileSync(join(folder, "program.ts"), `
import { Effect } from "effect"
import { compose, Embedded, generate, Pipeline, type Report, retrieve } from "sluice"
import { local } from "sluice/connectors"

const pipeline = Pipeline.make("p", {
  corpus: { displayName: "P" }, sources: { docs: local("docs") }, stages: compose(retrieve({ topK: 4 }), generate())
})
const program = Effect.gen(function*() {
  const report: Report = yield* pipeline.run
  const { answer } = yield* pipeline.ask("How many days carry over?")
  return { added: report.totals.added, text: answer.text }
}).pipe(Effect.provide(Embedded.layer({ dataDir: "data" })))
console.log(JSON.stringify(await Effect.runPromise(program)))
`)
      mkdirSync(join(folder, "docs"))
      writeFileSync(join(folder, "docs/leave.md"), "# Leave\n\nFive unused days carry over into the next year.\n")
      assert.isAbove(readdirSync(join(root, "dist/types")).length, 0)
      execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", folder], { encoding: "utf8" })
      const ran = spawnSync(process.execPath, ["program.ts"], { cwd: folder, encoding: "utf8" })
      assert.strictEqual(ran.status, 0, ran.stderr)
      const { added, text } = JSON.parse(ran.stdout)
      assert.strictEqual(added, 1)
      assert.match(text, /^Five unused days/)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
