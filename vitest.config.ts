import { availableParallelism } from "node:os"
import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"
import { startBundledWorkers } from "./test/support/BundledWorkers.ts"

// Every test file has a process of its own: compiled code that they share is kept between them.
process.env["NODE_COMPILE_CACHE"] ??= fileURLToPath(new URL("node_modules/.cache/compiled", import.meta.url))

/**
 * The tests of a group share processes, one for each worker, which saves the loading of all that they import: files keep
 * nothing for one another in them, and put back what they set there. A process ends with its group, so that it stays small.
 */
const groups = {
  /** Code that only computes, and the rules of the repository itself: nothing is started, and nothing has to be built. */
  fast: [
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
  ],
  commands: ["bench", "cli", "durability", "examples", "library", "ui"],
  connectors: ["connectors", "garden", "generation", "jobs", "kit", "mcp"],
  engines: ["engines"],
  server: ["server"],
  vectors: ["vectors"]
}

/** Files of those folders that start processes, or read long enough for a process of their own: they are not fast. */
const slow = ["models/LocalModels", "state/Lock", "text/parse/Fuzz", "text/parse/Recognise"].map((name) => `test/${name}.test.ts`)

const filesOf = (folders: ReadonlyArray<string>) => folders.map((folder) => `test/${folder}/**/*.test.ts`)

export default defineConfig({
  plugins: [startBundledWorkers],
  resolve: { conditions: ["sluice-source"] },
  ssr: { resolve: { conditions: ["sluice-source"] } },
  test: {
    globalSetup: ["test/support/TemporaryFiles.ts", "test/support/BuildWhenNeeded.ts"],
    setupFiles: ["test/support/SameChoices.ts"],
    // Far more than any takes: on a machine that is busy with something else it is a bound against hanging, and no race.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    pool: "forks",
    // Many tests wait for processes that they started: other workers have the processors meanwhile.
    maxWorkers: availableParallelism() + 2,
    isolate: false,
    projects: [
      ...Object.entries(groups).map(([name, folders]) => ({
        extends: true as const,
        test: { name, include: filesOf(folders), exclude: slow }
      })),
      { extends: true, test: { name: "slow", include: slow } },
      { extends: true, test: { name: "others", include: ["test/**/*.test.ts"], exclude: filesOf(Object.values(groups).flat()) } }
    ]
  }
})
