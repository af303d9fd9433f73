import { execFileSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import type { TestProject } from "vitest/node"
import { areCurrent, made } from "../../scripts/current.ts"
import { bundledWorkers, bundleWorkers } from "./BundledWorkers.ts"
import { root } from "./Root.ts"

const built = join(import.meta.dirname, "Built.ts")
const packed = join(import.meta.dirname, "PackedApp.ts")

/** Whether a test, or a test module that it imports, imports `module` for more than its types. */
const imports = (module: string, file: string, seen: Set<string>): boolean => {
  if (file === module) return true
  if (seen.has(file) || !file.startsWith(join(root, "test/")) || !existsSync(file)) return false
  seen.add(file)
  return [...readFileSync(file, "utf8").matchAll(/^(?:import|export) (?!type )[^;"]*"(\.{1,2}\/[^"]+\.ts)"/gm)].some(([, path = ""]) =>
    imports(module, resolve(dirname(file), path), seen)
  )
}

/** Whether any of the selected tests imports a module. What none of them imports does not have to be built. */
const isImported = (module: string, tests: ReadonlyArray<string>): boolean => {
  const seen = new Set<string>()
  return tests.some((file) => imports(module, file, seen))
}

const make = (script: string): void => {
  console.log(`npm run ${script}: these tests run on dist, which is missing or older than the source`)
  execFileSync("npm", ["run", "--silent", script], { cwd: root, stdio: ["ignore", "inherit", "inherit"] })
}

/**
 * Vitest's global setup: builds once what is missing or older than the source: the workers, the bundles if a selected test runs
 * them, and the declarations if one packs the package.
 */
export const setup = async ({ vitest }: TestProject): Promise<void> => {
  if (!areCurrent(bundledWorkers)) await bundleWorkers()
  const tests = vitest.state.getPaths()
  if (isImported(built, tests) && !areCurrent(made.bundle)) make("bundle")
  if (isImported(packed, tests) && !areCurrent(made.declarations)) make("declarations")
}
