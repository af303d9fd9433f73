import { globSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { basename, dirname, join, relative } from "node:path"
import { pathToFileURL } from "node:url"
import { build } from "rolldown"
import type { Plugin } from "vitest/config"
import { packEncoding } from "../../src/text/tokens/Encoding.ts"
import { root } from "./Root.ts"

const folder = join(root, "node_modules/.cache/workers")
const writer = "src/engines/embedded/store/Writer.ts"
const { resolve } = createRequire(import.meta.url)

/** Each worker: the module that starts it, its entry, and the name of its bundle in the package. */
const workers = [
  { starter: writer, entry: "src/engines/embedded/store/writer.worker.ts", name: "storeWriter" },
  { starter: writer, entry: "src/engines/embedded/store/analysis.worker.ts", name: "storeAnalysis" },
  { starter: "src/engines/embedded/search/SearchThread.ts", entry: "src/engines/embedded/search/search.worker.ts", name: "storeSearch" },
  { starter: "src/text/TextPool.ts", entry: "src/text/pool/worker.ts", name: "textWorker" },
  // A bundle finds the guard beside itself.
  { starter: undefined, entry: "src/text/pool/guard.worker.ts", name: "textGuard" }
]

const fileOf = (name: string): string => join(folder, `${name}.js`)

/** Files that the workers read besides. */
const assets = [
  ...globSync("src/**/*.wasm", { cwd: root }).map((name) => join(root, name)),
  resolve("@hyzyla/pdfium/pdfium.wasm")
]
const vocabulary = join(folder, "o200k.bin")

/** Files whose existence and age show whether the bundles are current. */
export const bundledWorkers = [
  ...workers.map(({ name }) => fileOf(name)),
  ...assets.map((asset) => join(folder, basename(asset))),
  vocabulary
]

/** Writes a file atomically: another run may be reading it. */
const put = (file: string, content: string | Uint8Array): void => {
  const fresh = `${file}-${process.pid}`
  writeFileSync(fresh, content)
  renameSync(fresh, file)
}

/** Milliseconds for which another run may still load the parts of an earlier bundle. */
const keptFor = 24 * 60 * 60 * 1_000

/** Makes {@link bundledWorkers} from the source. */
export const bundleWorkers = async (): Promise<void> => {
  mkdirSync(folder, { recursive: true })
  for (const name of readdirSync(folder)) {
    const file = join(folder, name)
    if (Date.now() - statSync(file).mtimeMs > keptFor) rmSync(file, { force: true })
  }
  for (const asset of assets) put(join(folder, basename(asset)), readFileSync(asset))
  put(vocabulary, packEncoding(createRequire(import.meta.url)("js-tiktoken/ranks/o200k_base")))
  for (const { entry, name } of workers) {
    const { output } = await build({
      input: { [name]: join(root, entry) },
      platform: "node",
      // Packages that are optional, or load their own files.
      external: [/^(?:@llamaindex|libarchive-wasm|lz4-wasm-nodejs|pst-extractor|tesseract\.js)(?:\/|$)/],
      checks: { ineffectiveDynamicImport: false },
      write: false,
      output: { format: "esm", entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js" }
    })
    // Parts are written before the files that load them.
    for (const part of output.toReversed()) put(join(folder, part.fileName), part.type === "chunk" ? part.code : part.source)
  }
}

/**
 * Starts the store's threads and the parsers' processes from bundles of the source, as the package does. Every engine in a test
 * starts its own workers, and loading some 250 modules for each took the largest part of the suite's processor time.
 */
export const startBundledWorkers: Plugin = {
  name: "bundled-workers",
  transform(code, id) {
    const started = workers.filter(({ starter }) => starter !== undefined && id === join(root, starter))
    return started.length === 0 ? undefined : started.reduce((all, { entry, name, starter = "" }) => {
      const named = `"./${relative(dirname(starter), entry)}"`
      if (!all.includes(named)) throw new Error(`${starter} does not name ${named}: ${import.meta.filename} is to be told the new name`)
      return all.replace(named, JSON.stringify(pathToFileURL(fileOf(name)).href))
    }, code)
  }
}
