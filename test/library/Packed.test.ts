import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { app, declared, manifestOf, run } from "../support/PackedApp.ts"
import { root } from "../support/Root.ts"

const bytesOf = (folder: string): number =>
  readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return entry.name === "node_modules" ? sum : sum + bytesOf(path)
    return entry.isFile() ? sum + statSync(path).size : sum
  }, 0)

/** Folders of packages and of all they need, found as Node finds them from `from`. */
const closure = (names: ReadonlyArray<string>, from: string, found = new Set<string>()): ReadonlySet<string> => {
  for (const name of names) {
    const folder = folderOf(name, from)
    if (folder === undefined || found.has(folder)) continue
    found.add(folder)
    closure(declared(manifestOf(folder)), folder, found)
  }
  return found
}

const folderOf = (name: string, from: string): string | undefined => {
  for (let at = from; at.startsWith(root); at = dirname(at)) {
    const folder = join(at, "node_modules", name)
    if (existsSync(join(folder, "package.json"))) return folder
  }
  return undefined
}

/** Processor time of importing the package, with `effect` in it, beside that of importing `effect` alone: 0.3 s where that takes 0.15 s. */
const mostRatio = 2

/** Milliseconds of processor time that importing takes, the least of some processes. */
const importing = (cwd: string, name: string): number => {
  const code =
    `const before = process.cpuUsage(); await import("${name}"); const { system, user } = process.cpuUsage(before); console.log((system + user) / 1000)`
  const once = () => Number(execFileSync(process.execPath, ["--input-type=module", "-e", code], { cwd, encoding: "utf8" }))
  return Math.min(...Array.from({ length: 7 }, once))
}

const program = (dataDir: string) => `
import { Console, Effect } from "effect"
import { compose, Embedded, generate, Pipeline, type Report, retrieve, runMain } from "sluice"
import { local } from "sluice/connectors"

const handbook = Pipeline.make("handbook", {
  corpus: { displayName: "Handbook" },
  sources: { docs: local("./docs") },
  stages: compose(retrieve({ topK: 4 }), generate())
})

Effect.gen(function*() {
  const report: Report = yield* handbook.run
  if (report.totals.failed > 0) yield* Console.log(report)
  const { answer } = yield* handbook.ask("How many days of leave carry over?")
  yield* Console.log(answer.text)
}).pipe(
  Effect.provide(Embedded.layer({ dataDir: ${JSON.stringify(dataDir)} })),
  runMain
)
`

const failing = `
import { Effect } from "effect"
import { runMain, ServiceError } from "sluice"

runMain(Effect.fail(new ServiceError({
  code: "RESOURCE_EXHAUSTED",
  message: "the request breaks 1 rule",
  violations: [{ field: "topK", description: "is from 1 to 100" }],
  fix: "ask for fewer"
})))
`

const others = `
import { open } from "sluice/promise"
import { serveEmbedded } from "sluice/server"

console.log(typeof open, typeof serveEmbedded)
`

/** A connector as someone writes it who has the package, and nothing else of ours. */
const memos = `
import { Effect, Stream } from "effect"
import { atMost, defineConnector, integer, type Listed, withDefault } from "sluice/connector-kit"

const texts = ["Five unused days carry over.", "Managers approve travel.", "The VPN needs a key."]

export const memos = defineConnector({
  kind: "memos",
  description: "Memos.",
  fields: { most: withDefault(integer(1, 1000).annotate({ description: "The most memos." }), 100) },
  connect: ({ most }) =>
    Effect.succeed({
      kind: "memos",
      check: Effect.void,
      list: () => Stream.fromIterable<Listed>([
        ...texts.slice(0, most).map((text, at): Listed => ({ _tag: "item", item: { path: \`\${at}.md\`, uri: \`https://memos.example/\${at}\`, displayName: \`\${at}.md\`, revision: text } })),
        { _tag: "complete" }
      ]),
      read: (item, maxBytes) => Stream.make(new TextEncoder().encode(item.revision)).pipe(atMost(maxBytes, item.path))
    })
})
`

const memoPipeline = (settings: string) =>
  `name: memos
corpus: { displayName: Memos }
use: [./memos.ts]
sources:
  memos: { memos: { ${settings} } }
`

describe("the packed library in a strict TypeScript project", () => {
  it.live("holds no sources, compiles, runs, and prints why it failed, with our exit code", () =>
    Effect.gen(function*() {
      const { cwd, packed } = yield* app({
        "good.ts": program(".sluice"),
        "state.ts": program("docs/leave.md"),
        "failing.ts": failing,
        "others.ts": others,
        "memos.ts": memos,
        "own-source.ts": readFileSync(join(root, "examples/own-source.ts"), "utf8")
      })
      const files = packed.files.map(({ path }) => path)
      assert.includeMembers(files, [
        "dist/cli/bin.js",
        "dist/index.js",
        "dist/types/src/index.d.ts",
        "pipelines/pipeline.schema.json",
        "README.md",
        "LICENSE"
      ])
      assert.deepStrictEqual(files.filter((path) => /^(src|test|examples|bench|connectors|scripts)\//.test(path)), [])

      const [compiled, good, state, failed, rest] = yield* Effect.all([
        run(cwd, join(root, "node_modules/.bin/tsc"), ["-p", "."]),
        run(cwd, process.execPath, ["good.ts"]),
        run(cwd, process.execPath, ["state.ts"]),
        run(cwd, process.execPath, ["failing.ts"]),
        run(cwd, process.execPath, ["others.ts"])
      ], { concurrency: 2 })
      assert.deepStrictEqual(compiled, { code: 0, output: "" })
      assert.deepStrictEqual(good, { code: 0, output: "Five unused days of annual leave carry over into the next year. [1]\n" })
      assert.deepStrictEqual(rest, { code: 0, output: "function function\n" })

      assert.strictEqual(state.code, 1)
      assert.match(state.output, /StateError: .*docs\/leave\.md.*\n +fix: \S/)

      assert.strictEqual(failed.code, 6)
      assert.match(failed.output, /ServiceError: the request breaks 1 rule\n +topK: is from 1 to 100\n +fix: ask for fewer\n/)

      const needed = closure(declared(manifestOf(root)), root)
      const megabytes = ([...needed].reduce((sum, folder) => sum + bytesOf(folder), 0) + packed.unpackedSize) / 1e6
      assert.include([...needed], join(root, "node_modules/effect"))
      assert.isAtMost(megabytes, 120, [...needed].map((folder) => `${folder} ${bytesOf(folder)}`).join("\n"))

      const ratio = importing(cwd, "sluice") / importing(cwd, "effect")
      assert.isAtMost(ratio, mostRatio)
    }).pipe(Effect.scoped))

  it.live(
    "its command line takes sources of one's own from a module: checked by line and column, in the schema, planned and counted",
    () =>
      Effect.gen(function*() {
        const { cwd } = yield* app({
          "memos.ts": memos,
          "pipeline.yaml": memoPipeline("most: 0, colour: red"),
          "good.pipeline.yaml": memoPipeline("most: 2")
        })
        const sluice = (...args: ReadonlyArray<string>) =>
          run(cwd, process.execPath, [join(cwd, "node_modules/sluice/dist/cli/bin.js"), ...args])
        const wrong = yield* sluice("plan", "pipeline.yaml")
        assert.strictEqual(wrong.code, 4, wrong.output)
        assert.match(wrong.output, /pipeline\.yaml:5:27 {2}sources\.memos\.memos\.most\n {2}must be a whole number from 1 to 1000/)
        assert.match(wrong.output, /pipeline\.yaml:5:30 {2}sources\.memos\.memos\.colour\n {2}is not a key that belongs here/)
        const printed = yield* sluice("schema", "pipeline.yaml")
        assert.include(printed.output, "The most memos.")
        assert.match((yield* sluice("plan", "good.pipeline.yaml")).output, /^2 to add, 0 to change/m)
        const ran = yield* sluice("run", "good.pipeline.yaml", "--json")
        assert.strictEqual(ran.code, 0, ran.output)
        assert.match(ran.output, /"added":\s*2/)
        assert.match(
          (yield* sluice("ask", "Who approves travel?", "--pipeline", "good.pipeline.yaml")).output,
          /Managers approve travel\. \[1\]/
        )
      }).pipe(Effect.scoped)
  )
})
