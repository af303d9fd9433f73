#!/usr/bin/env node
// Nothing else may be loaded before this check: what an old Node fails on is a syntax error in a dependency.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
if (major > 22 || (major === 22 && minor >= 19)) {
  const { enableCompileCache } = await import("node:module")
  enableCompileCache()
  await import("./main.ts")
} else {
  process.stderr.write(`sluice needs Node 22.19 or later; this is ${process.versions.node}\n`)
  process.exitCode = 1
}
