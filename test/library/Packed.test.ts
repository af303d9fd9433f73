import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile, execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs"
import { dirname, join } from "node:path"
import { dist } from "../support/Built.ts"
import { root } from "../support/Root.ts"
import { tempFolder, write } from "../support/TempFolder.ts"

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

const manifestOf = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))

/** What the programs below import besides the package, and bring themselves: its peer, and Effect's Node services. */
const beside = ["effect", "@effect/platform-node"]

interface Packed {
  readonly filename: string
  readonly unpackedSize: number
  readonly files: ReadonlyArray<{ readonly path: string }>
}

interface Finished {
  readonly code: number
  readonly output: string
}

const run = (cwd: string, command: string, args: ReadonlyArray<string>) =>
  Effect.callback<Finished>((resume) => {
    const child = execFile(command, args, { cwd }, (_, stdout, stderr) =>
      resume(Effect.succeed({ code: child.exitCode ?? -1, output: `${stdout}${stderr}` })))
    return Effect.sync(() => child.kill())
  })

/** The package as npm would publish it. `dist` is built already. */
const pack = (folder: string): Packed =>
  JSON.parse(execFileSync("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], {
    cwd: dirname(dist),
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"]
  }))[0]

/**
 * A strict TypeScript project in which the packed package is installed: unpacked, with what it declares and what an app
 * brings linked beside it. Nothing else of this repository can be resolved from it.
 */
const app = (files: Readonly<Record<string, string>>) =>
  Effect.gen(function*() {
    const cwd = yield* tempFolder
    write(cwd, {
      "package.json": JSON.stringify({ type: "module" }),
      "tsconfig.json": JSON.stringify({
        compilerOptions: {
          strict: true, skipLibCheck: false, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true,
          module: "nodenext", target: "es2023", types: ["node"], noEmit: true
        },
        include: ["*.ts"]
      }),
      "docs/leave.md": "# Leave\n\nFive unused days of annual leave carry over into the next year.\n",
      ...files
    })
    const packed = pack(cwd)
    const installed = join(cwd, "node_modules/sluice")
    mkdirSync(installed, { recursive: true })
    execFileSync("tar", ["-xzf", join(cwd, packed.filename), "-C", installed, "--strip-components=1"])
    for (const name of new Set([...beside, ...declared(manifestOf(installed)), "@types/node"])) link(name, join(cwd, "node_modules"))
    return { cwd, packed }
  })

const link = (name: string, modules: string): void => {
  const target = join(root, "node_modules", name)
  if (!existsSync(target)) return
  mkdirSync(dirname(join(modules, name)), { recursive: true })
  symlinkSync(target, join(modules, name), "dir")
}

/** What npm installs with a package, peers that are not optional included. Optional ones for other platforms are not there. */
const declared = ({ dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta }: Manifest): ReadonlyArray<string> => {
  const peers = Object.keys(peerDependencies ?? {}).filter((name) => peerDependenciesMeta?.[name]?.optional !== true)
  return [...new Set([...Object.keys(dependencies ?? {}), ...Object.keys(optionalDependencies ?? {}), ...peers])]
}

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
  const code = `const before = process.cpuUsage(); await import("${name}"); const { system, user } = process.cpuUsage(before); console.log((system + user) / 1000)`
  const once = () => Number(execFileSync(process.execPath, ["--input-type=module", "-e", code], { cwd, encoding: "utf8" }))
  return Math.min(...Array.from({ length: 3 }, once))
}

const program = (dataDir: string) => `
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect } from "effect"
import { compose, Embedded, generate, Pipeline, type Report, retrieve } from "sluice"
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
  NodeRuntime.runMain
)
`

const failing = `
import { NodeRuntime } from "@effect/platform-node"
import { Effect } from "effect"
import { ServiceError } from "sluice"

NodeRuntime.runMain(Effect.fail(new ServiceError({
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

describe("the packed library in a strict TypeScript project", () => {
  it.live("holds no sources, compiles, runs, and prints why it failed, with our exit code", () =>
    Effect.gen(function*() {
      const { cwd, packed } = yield* app({ "good.ts": program(".sluice"), "state.ts": program("docs/leave.md"), "failing.ts": failing, "others.ts": others })
      const files = packed.files.map(({ path }) => path)
      assert.includeMembers(files, ["dist/cli/bin.js", "dist/index.js", "dist/types/src/index.d.ts", "pipelines/pipeline.schema.json", "README.md", "LICENSE"])
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
    }).pipe(Effect.scoped), 90_000)
})
