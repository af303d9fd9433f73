import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { pathToFileURL } from "node:url"
import { build } from "rolldown"
import type { Plugin } from "vitest/config"
import { root } from "./Root.ts"

const folder = join(root, "node_modules/.cache/threads")

/** What starts a thread, the thread's entry, and the thread and all it imports as one file. */
const sources = [
  {
    starter: "src/engines/embedded/store/Writer.ts",
    entry: "src/engines/embedded/store/writer.worker.ts",
    file: join(folder, "writer.js")
  },
  {
    starter: "src/engines/embedded/store/Writer.ts",
    entry: "src/engines/embedded/store/analysis.worker.ts",
    file: join(folder, "analysis.js")
  },
  {
    starter: "src/engines/embedded/search/SearchThread.ts",
    entry: "src/engines/embedded/search/search.worker.ts",
    file: join(folder, "search.js")
  }
]

/** What they read besides. */
const kernels = ["kernel.wasm", "postings.wasm", "scores.wasm"].map((name) => ({
  source: join(root, "src/engines/embedded/kernel", name),
  file: join(folder, name)
}))

/** The store's threads, as files, and what they read. */
export const threads = [...sources, ...kernels].map(({ file }) => file)

/** In its place whole: another run may be reading it. */
const put = (file: string, content: string | Uint8Array): void => {
  const fresh = `${file}-${process.pid}`
  writeFileSync(fresh, content)
  renameSync(fresh, file)
}

/** Makes {@link threads} of the source. */
export const bundleThreads = async (): Promise<void> => {
  mkdirSync(folder, { recursive: true })
  for (const { file, source } of kernels) put(file, readFileSync(source))
  for (const { entry, file } of sources) {
    const { output: [{ code }] } = await build({ input: join(root, entry), platform: "node", write: false, output: { format: "esm" } })
    put(file, code)
  }
}

/**
 * Starts the store's threads from bundles of the source, as the package does. Every engine of a test has threads of its
 * own, and loading 250 modules again for each was the largest part of the suite's processor time.
 */
export const bundledThreads: Plugin = {
  name: "bundled-threads",
  transform(code, id) {
    const started = sources.filter(({ starter }) => id === join(root, starter))
    return started.length === 0 ? undefined : started.reduce((all, { entry, file, starter }) => {
      const named = `"./${basename(entry)}"`
      if (!all.includes(named)) throw new Error(`${starter} does not name ${named}: ${import.meta.filename} is to be told the new name`)
      return all.replace(named, JSON.stringify(pathToFileURL(file).href))
    }, code)
  }
}
