#!/usr/bin/env node
// Nothing else may be loaded before this check: an old Node fails on a dependency with a syntax error.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
if (major > 22 || (major === 22 && minor >= 19)) {
  const [{ enableCompileCache }, { readdirSync, readFileSync, statSync }] = await Promise.all([import("node:module"), import("node:fs")])
  const { directory } = enableCompileCache()
  // Worker threads only learn of the compile cache from the environment.
  if (directory !== undefined) process.env["NODE_COMPILE_CACHE"] ??= directory

  /** Whether a file loads the user's code: it is a module, or names modules under `use`. */
  const loadsCode = (file: string): boolean => {
    const stats = statSync(file, { throwIfNoEntry: false })
    if (stats?.isFile() !== true || stats.size > 1024 * 1024) return false
    return /\.[cm]?[jt]s$/.test(file) || (/\.(?:ya?ml|json)$/.test(file) && /\buse["']?\s*:/.test(readFileSync(file, "utf8")))
  }
  /** Whether the file is a pipeline, so that no other is searched for. */
  const isPipeline = (file: string): boolean =>
    /\.(?:ya?ml|json)$/.test(file) && statSync(file, { throwIfNoEntry: false })?.isFile() === true &&
    /\bsources["']?\s*:/.test(readFileSync(file, "utf8"))
  const namesIn = (folder: string): ReadonlyArray<string> => {
    try {
      return readdirSync(folder)
    } catch {
      return []
    }
  }

  // Code of the user's imports effect, and the program must then run on the same copy: `main.js` beside this folder does,
  // and starts more slowly. From source there is one copy anyway.
  const shared = new URL("../main.js", import.meta.url)
  const given = process.argv.slice(2).map((argument) => argument.replace(/^--?[\w-]+=/, ""))
  // Commands that read no pipeline besides those given start fast even in a folder that has some.
  const here = /^(?:|-h|--help|--version|--completions|help|version|init|parse)$/.test(given[0] ?? "") || given.some(isPipeline) ? [] : [
    ...namesIn(".").filter((name) => /^(?:.*\.)?pipeline\.\w+$/.test(name)),
    ...namesIn("pipelines").map((name) => `pipelines/${name}`)
  ]
  const files = [...given, ...here]
  await (statSync(shared, { throwIfNoEntry: false }) !== undefined && files.some(loadsCode) ? import(shared.href) : import("./main.ts"))
} else {
  process.stderr.write(`sluice needs Node 22.19 or later; this is ${process.versions.node}\n`)
  process.exitCode = 1
}
