/** Fails where the bundles are missing or older than their sources; `npm start` then runs `npm run bundle`. */
import { existsSync, globSync, statSync } from "node:fs"
import { resolve } from "node:path"

const root = resolve(import.meta.dirname, "..")

/** Inputs of a build. Folders are included: their time changes when a file is added or removed. */
const inputs = ["src/**", "connectors/**", "scripts/{bundle,types}.ts", "package.json", "package-lock.json", "tsconfig*.json"]

/** Outputs of a build, by the command that makes them. */
export const made = {
  bundle: ["dist/cli/bin.js", "dist/ui/page.js"],
  declarations: ["dist/types/src/index.d.ts"]
}

/** Time of the last change of a file, in milliseconds since 1970. */
const changed = (file: string): number => statSync(resolve(root, file)).mtimeMs

/** Whether some files exist, and none is older than any input of a build. */
export const areCurrent = (files: ReadonlyArray<string>): boolean => {
  if (!files.every((file) => existsSync(resolve(root, file)))) return false
  const oldest = Math.min(...files.map(changed))
  return globSync(inputs, { cwd: root }).every((file) => changed(file) <= oldest)
}

if (import.meta.main && !areCurrent(made.bundle)) process.exitCode = 1
