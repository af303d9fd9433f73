/** `npm start` bundles where this fails: where what `npm run bundle` makes is missing, or older than what it is made of. */
import { existsSync, globSync, statSync } from "node:fs"
import { resolve } from "node:path"

const root = resolve(import.meta.dirname, "..")

/** What a build is made of. Folders are among it: theirs is the time when a file was added or removed. */
const inputs = ["src/**", "connectors/**", "scripts/{bundle,types}.ts", "package.json", "package-lock.json", "tsconfig*.json"]

/** By the command that makes them. */
export const made = {
  bundle: ["dist/cli/bin.js", "dist/ui/page.js"],
  declarations: ["dist/types/src/index.d.ts"]
}

/** Milliseconds since 1970. */
const changed = (file: string): number => statSync(resolve(root, file)).mtimeMs

/** Whether these files are there, and no older than anything that a build is made of. */
export const areCurrent = (files: ReadonlyArray<string>): boolean => {
  if (!files.every((file) => existsSync(resolve(root, file)))) return false
  const oldest = Math.min(...files.map(changed))
  return globSync(inputs, { cwd: root }).every((file) => changed(file) <= oldest)
}

if (import.meta.main && !areCurrent(made.bundle)) process.exitCode = 1
