#!/usr/bin/env node
// Nothing else may be loaded before this check: what an old Node fails on is a syntax error in a dependency.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
if (major > 22 || (major === 22 && minor >= 19)) {
  const [{ enableCompileCache }, { readdirSync, readFileSync, statSync }] = await Promise.all([import("node:module"), import("node:fs")])
  const { directory } = enableCompileCache()
  // Threads have it from the environment alone.
  if (directory !== undefined) process.env["NODE_COMPILE_CACHE"] ??= directory

  /** Whether code of the user's is loaded with a file: a module, or a file that names modules under `use`. */
  const loadsCode = (file: string): boolean => {
    const stats = statSync(file, { throwIfNoEntry: false })
    if (stats?.isFile() !== true || stats.size > 1024 * 1024) return false
    return /\.[cm]?[jt]s$/.test(file) || (/\.(?:ya?ml|json)$/.test(file) && /\buse["']?\s*:/.test(readFileSync(file, "utf8")))
  }
  /** Whether it is a pipeline, so that none is looked for. */
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

  // Such code imports effect, and the program must then run on the same copy: `main.js` beside this folder does, and is
  // slower to start. From source there is one copy anyway.
  const shared = new URL("../main.js", import.meta.url)
  const given = process.argv.slice(2).map((argument) => argument.replace(/^--?[\w-]+=/, ""))
  // What reads no pipeline that it is not given starts as fast beside one of those.
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
