/**
 * `npm run check`: the checks that a change has to pass before review: types with Effect's diagnostics, lint, format, and the
 * tests that need no build. Two checks run at a time; the output of a failed one is printed whole. Arguments name the checks to
 * run.
 */
import { execFile, execFileSync } from "node:child_process"
import { availableParallelism } from "node:os"

/** Effect's build of the compiler reports its diagnostics together with type errors, in one pass over the code. */
const compiler = execFileSync("effect-tsgo", ["get-exe-path"], { encoding: "utf8" }).trim()

type Check = readonly [name: string, command: string, ...args: ReadonlyArray<string>]

/** Half of the fast tests. They take longer than all other checks, so they are split between the two that run at a time. */
const half = (of: 1 | 2): Check => ["tests", "vitest", "run", "--project", "fast", `--shard=${of}/2`, "--maxWorkers=1", "--reporter=dot"]

/** The checks, longest first. */
const checks: ReadonlyArray<Check> = [
  half(1),
  half(2),
  ["types", compiler, "-p", "tsconfig.json", "--incremental", "--tsBuildInfoFile", "node_modules/.cache/check.tsbuildinfo"],
  ["page", "tsc", "-p", "src/ui/page/tsconfig.json"],
  ["format", "node", "scripts/format.ts", "--check"],
  ["lint", "oxlint", "--deny-warnings"]
]

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`

/** Runs a check. npm puts the repository's programs first on the path. */
const passes = ([name, command, ...args]: Check): Promise<boolean> =>
  new Promise((resolve) => {
    const started = performance.now()
    execFile(command, args, { maxBuffer: 1 << 27 }, (error, stdout, stderr) => {
      console.log(`${error === null ? "ok    " : "failed"} ${name.padEnd(12)} ${seconds(started)}`)
      if (error !== null) console.log(`${stdout}${stderr}` || error.message)
      resolve(error === null)
    })
  })

const named = process.argv.slice(2)
const unknown = named.filter((name) => !checks.some(([known]) => known === name))
if (unknown.length > 0) {
  throw new Error(`unknown check ${unknown.join(", ")}; the checks are ${[...new Set(checks.map(([name]) => name))].join(", ")}`)
}
const started = performance.now()
const open = checks.filter(([name]) => named.length === 0 || named.includes(name)).values()
const results: Array<boolean> = []
await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, async () => {
  for (const check of open) results.push(await passes(check))
}))
console.log(seconds(started))
if (results.includes(false)) process.exitCode = 1
