/**
 * `npm run check`: what a change has to pass before it is shown to anybody, in under a minute on two idle cores. Types,
 * lint, Effect's diagnostics, and the tests that start no process and need no build. Two run at a time; what fails is
 * printed whole.
 */
import { execFile } from "node:child_process"
import { availableParallelism } from "node:os"

/** The longest first. */
const checks: ReadonlyArray<readonly [name: string, command: string, ...args: ReadonlyArray<string>]> = [
  ["tests", "vitest", "run", "--project", "fast", "--maxWorkers=1", "--reporter=dot"],
  ["diagnostics", "effect-tsgo", "diagnostics", "--strict", "--project", "tsconfig.json"],
  ["types", "tsc", "-p", "tsconfig.json"],
  ["page", "tsc", "-p", "src/ui/page/tsconfig.json"],
  ["format", "node", "scripts/format.ts", "--check"],
  ["lint", "oxlint", "--deny-warnings"]
]

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`

/** npm puts the repository's programs first on the path. */
const passes = ([name, command, ...args]: (typeof checks)[number]): Promise<boolean> =>
  new Promise((resolve) => {
    const started = performance.now()
    execFile(command, args, { maxBuffer: 1 << 27 }, (error, stdout, stderr) => {
      console.log(`${error === null ? "ok    " : "failed"} ${name.padEnd(12)} ${seconds(started)}`)
      if (error !== null) console.log(`${stdout}${stderr}` || error.message)
      resolve(error === null)
    })
  })

const started = performance.now()
const open = checks.values()
const results: Array<boolean> = []
await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, async () => {
  for (const check of open) results.push(await passes(check))
}))
console.log(seconds(started))
if (results.includes(false)) process.exitCode = 1
