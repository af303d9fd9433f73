import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"
import { bundledThreads } from "./test/support/BundledThreads.ts"

// Every test file has a process of its own: compiled code that they share is kept between them.
process.env["NODE_COMPILE_CACHE"] ??= fileURLToPath(new URL("node_modules/.cache/compiled", import.meta.url))

/**
 * Tests of code that only computes, with the rules of the repository itself: they start nothing and keep nothing, and share
 * processes, which saves the loading of all that they import. Every other file has a process of its own.
 */
const computing = [
  "architecture",
  "domain",
  "models",
  "net",
  "pipeline/definition",
  "rules",
  "search",
  "secrets",
  "state",
  "text/chunk",
  "text/parse",
  "text/tokens",
  "wire"
].map((folder) => `test/${folder}/**/*.test.ts`)

export default defineConfig({
  plugins: [bundledThreads],
  resolve: { conditions: ["sluice-source"] },
  ssr: { resolve: { conditions: ["sluice-source"] } },
  test: {
    globalSetup: "test/support/BuildWhenNeeded.ts",
    // Far more than any takes: on a machine that is busy with something else it is a bound against hanging, and no race.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: "forks",
    // Vitest leaves a processor to itself; on two that would be half.
    maxWorkers: "100%",
    projects: [
      { extends: true, test: { name: "fast", isolate: false, include: computing } },
      { extends: true, test: { name: "whole", include: ["test/**/*.test.ts"], exclude: computing } }
    ]
  }
})
