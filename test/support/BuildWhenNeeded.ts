import { execFileSync } from "node:child_process"
import { existsSync, globSync, readFileSync, statSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import type { TestProject } from "vitest/node"
import { bin, dist } from "./Built.ts"
import { bundleThreads, threads } from "./BundledThreads.ts"
import { root } from "./Root.ts"

const built = join(import.meta.dirname, "Built.ts")

/** What a build is made of. Folders are among it: theirs is the time when a file was added or removed. */
const inputs = ["src/**", "connectors/**", "scripts/{bundle,types}.ts", "package.json", "package-lock.json", "tsconfig*.json"]

/** What the bundler and the compiler write: the compiler's is missing where only the bundler ran. */
const outputs = [bin, join(dist, "types/src/index.d.ts"), join(dist, "ui/page.js")]

/** Milliseconds since 1970. */
const changed = (file: string): number => statSync(file).mtimeMs

const areCurrent = (made: ReadonlyArray<string>): boolean => {
  if (!made.every((file) => existsSync(file))) return false
  const oldest = Math.min(...made.map(changed))
  return globSync(inputs, { cwd: root }).every((file) => changed(join(root, file)) <= oldest)
}

/** Whether a test, or a module beside the tests that it imports, imports `Built.ts`. */
const needsBuild = (file: string, seen: Set<string>): boolean => {
  if (file === built) return true
  if (seen.has(file) || !file.startsWith(join(root, "test/")) || !existsSync(file)) return false
  seen.add(file)
  return [...readFileSync(file, "utf8").matchAll(/from "(\.{1,2}\/[^"]+\.ts)"/g)].some(([, path = ""]) =>
    needsBuild(resolve(dirname(file), path), seen)
  )
}

/** Vitest's global setup: what is made of the source is made once where it is missing or older: the store's threads, and the build where a test was selected that runs it. */
export const setup = async ({ vitest }: TestProject): Promise<void> => {
  if (!areCurrent(threads)) await bundleThreads()
  const seen = new Set<string>()
  if (!vitest.state.getPaths().some((file) => needsBuild(file, seen)) || areCurrent(outputs)) return
  console.log("building what these tests run: dist is missing or older than the source")
  execFileSync("npm", ["run", "--silent", "build"], { cwd: root, stdio: ["ignore", "inherit", "inherit"] })
}
