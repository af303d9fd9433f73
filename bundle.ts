import { existsSync, readFileSync, renameSync, rmSync } from "node:fs"
import { build, type BuildOptions } from "rolldown"

const { dependencies }: { dependencies: Record<string, string> } = JSON.parse(readFileSync("package.json", "utf8"))

/** Native addons and large data files stay packages of their own, loaded when they are first needed. */
const unbundled = ["@llamaindex/liteparse", "@hyzyla/pdfium", "js-tiktoken"]

const external = (names: ReadonlyArray<string>) => names.map((name) => new RegExp(`^${name}(/|$)`))

/** Workers are entries, so that they can be started by file name from beside the code that starts them. */
const workers = {
  textWorker: "src/text/pool/worker.ts",
  storeWriter: "src/engines/embedded/store/writer.worker.ts"
}

const output = (dir: string) => ({ dir, format: "esm", entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js" }) as const

/** Built beside the last build and put in its place whole: a program that runs meanwhile finds one or the other. */
const fresh = `dist-${process.pid}`

const bundles: ReadonlyArray<BuildOptions> = [
  // The library shares effect with the program that imports it.
  {
    input: { index: "src/index.ts", connectors: "connectors/index.ts", promise: "src/Promise.ts", server: "src/compose/Server.ts", ...workers },
    platform: "node",
    external: external(Object.keys(dependencies)),
    output: output(fresh)
  },
  // The command line brings its own, in few files: that is what makes it start fast.
  {
    input: { bin: "src/bin.ts", ...workers },
    platform: "node",
    external: external(unbundled),
    output: { ...output(`${fresh}/cli`), minify: { compress: true, mangle: false } }
  }
]

try {
  for (const bundle of bundles) await build(bundle)
  const last = `${fresh}-last`
  if (existsSync("dist")) renameSync("dist", last)
  renameSync(fresh, "dist")
  rmSync(last, { recursive: true, force: true })
} finally {
  rmSync(fresh, { recursive: true, force: true })
}
