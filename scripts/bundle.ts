import { copyFileSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join, resolve } from "node:path"
import { brotliCompressSync } from "node:zlib"
import { build, type BuildOptions, type OutputChunk, type OutputOptions, type Plugin } from "rolldown"
import { minifySync } from "rolldown/utils"
import { packEncoding } from "../src/text/tokens/Encoding.ts"
import { ofPackages, pruned } from "../src/wire/grpc/Protos.ts"

const { dependencies, optionalDependencies, peerDependencies }: Record<string, Record<string, string>> = JSON.parse(
  readFileSync("package.json", "utf8")
)

/**
 * Packages that are native, or load their own files, are not bundled. All others are: installed whole they would take three
 * times the space.
 */
const unbundled = [...Object.keys(dependencies ?? {}), ...Object.keys(optionalDependencies ?? {})]

const external = (names: ReadonlyArray<string>) => names.map((name) => new RegExp(`^${name}(/|$)`))

/** The command line loads some modules lazily on purpose; the library may load them at once. */
const checks = { ineffectiveDynamicImport: false }

/** Workers are entries, so that the code that starts them finds their files beside it. */
const textWorker = "src/text/pool/worker.ts"
const textGuard = "src/text/pool/guard.worker.ts"
const storeWriter = "src/engines/embedded/store/writer.worker.ts"
const storeAnalysis = "src/engines/embedded/store/analysis.worker.ts"
const storeSearch = "src/engines/embedded/search/search.worker.ts"
const modelWorker = "src/models/local/model.worker.ts"

const output = (dir: string) => ({ dir, format: "esm", entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js" }) as const

/** Names are kept, so that stack traces stay readable. */
const minify = { compress: true, mangle: false } as const

/** The build is made beside the last one and then replaces it as a whole, so that running programs find either the old or the new one. */
const fresh = `dist-${process.pid}`

/**
 * `markdown-it` is compiled for engines without class fields: to calls that check each key before they set it, which take a
 * twentieth of the parsing time. On new objects an assignment does the same, so this plugin replaces the calls.
 */
const plainFields: Plugin = {
  name: "plain-fields",
  transform(code, id) {
    if (!/[\\/]markdown-it\.mjs$/.test(id)) return undefined
    const call = /_defineProperty\(\s*this,\s*(?:\/\*(?:[^*]|\*(?!\/))*\*\/\s*)?"(\w+)",\s*([^;]*?)\s*\);/g
    // Its sources are not shipped, so a source map would be of no use.
    return { code: code.replace(call, (_, field: string, value: string) => `this.${field} = ${value};`), map: { mappings: "" } }
  }
}

/** Roots of the code that is loaded at the same time, and so goes into one file: most of the start-up time is finding and opening files. */
const loadedTogether = {
  pipeline: [
    "src/compose/Host.ts",
    "src/compose/Embedded.ts",
    "src/pipeline/definition/Load.ts",
    "src/pipeline/Open.ts",
    "src/pipeline/RunPipeline.ts",
    "src/state/SqliteLedger.ts"
  ],
  search: ["src/engines/embedded/EmbeddedRetrieval.ts", "src/engines/embedded/search/Searcher.ts", "src/pipeline/AskPipeline.ts"]
}
/** Parsers are separate processes that start as often, so the code that they share with the others is kept apart. */
const parsing = [textWorker, "src/text/pool/PrepareFile.ts"]

type Together = Readonly<Record<string, ReadonlyArray<string>>>
type Chunks = ReadonlyArray<OutputChunk>

/** The modules that are loaded with some roots, by the default split into chunks. With `later`, lazily loaded ones are included. */
const loadedWith = (chunks: Chunks, roots: ReadonlyArray<string>, later = false): ReadonlySet<string> => {
  const files = new Set<string>()
  const load = (chunk: OutputChunk | undefined): void => {
    if (chunk === undefined || files.has(chunk.fileName)) return
    files.add(chunk.fileName)
    for (const name of later ? [...chunk.imports, ...chunk.dynamicImports] : chunk.imports) {
      load(chunks.find(({ fileName }) => fileName === name))
    }
  }
  for (const root of roots) {
    const holder = chunks.find(({ moduleIds }) => moduleIds.includes(resolve(root)))
    if (holder === undefined) throw new Error(`${root} is in no bundle`)
    load(holder)
  }
  return new Set(chunks.filter(({ fileName }) => files.has(fileName)).flatMap(({ moduleIds }) => moduleIds))
}

/**
 * Bundles into one file for each name of `together`, each without the modules of the files before it. It takes two builds: only
 * the first shows which parts of each module are used. `packages`: whether modules of packages are grouped too, which then
 * have source maps and unminified names.
 */
const inFewFiles = async (
  bundle: BuildOptions & { readonly output: OutputOptions },
  together: Together,
  packages: boolean
): Promise<BuildOptions> => {
  const { output } = await build({ ...bundle, checks, write: false, plugins: [plainFields] })
  const chunks = output.filter((chunk) => chunk.type === "chunk")
  const parsed = loadedWith(chunks, parsing)
  // Code that reads a format: a parser loads it without the code that others load with it.
  const reading = loadedWith(chunks, parsing, true)
  const nameOf = new Map([...parsed].map((id) => [id, "parsing"]))
  for (const [name, roots] of Object.entries(together).reverse()) {
    for (const id of loadedWith(chunks, roots)) {
      nameOf.set(id, parsed.has(id) ? `${name}-parsing` : reading.has(id) ? `${name}-reading` : name)
    }
  }
  // Entries stay separate: an entry that awaits a module must not wait for its own file.
  for (const { facadeModuleId, isEntry } of chunks) if (isEntry && facadeModuleId !== null) nameOf.delete(facadeModuleId)
  const isTaken = (id: string) => packages || !id.includes("/node_modules/")
  const groups = [...new Set(nameOf.values())].map((name) => ({ name, test: (id: string) => nameOf.get(id) === name && isTaken(id) }))
  return {
    ...bundle,
    preserveEntrySignatures: "allow-extension",
    output: { ...bundle.output, codeSplitting: { groups, includeDependenciesRecursively: false } }
  }
}

/** The library shares `effect` with the program that imports it. `main` is the command line for users with custom code. */
const library = {
  input: {
    index: "src/index.ts",
    main: "src/main.ts",
    connectors: "connectors/index.ts",
    "connector-kit": "src/ConnectorKit.ts",
    ai: "src/Ai.ts",
    testing: "src/Testing.ts",
    promise: "src/Promise.ts",
    server: "src/compose/Server.ts",
    textWorker,
    modelWorker
  },
  platform: "node",
  external: external([...unbundled, ...Object.keys(peerDependencies ?? {})]),
  output: { ...output(fresh), sourcemap: true, sourcemapExcludeSources: true }
} as const

/** The command line bundles `effect`, in a small number of files, which makes it start fast. */
const commandLine = {
  input: { bin: "src/bin.ts", textWorker, modelWorker },
  platform: "node",
  external: external(unbundled),
  output: { ...output(`${fresh}/cli`), minify }
} as const

const bundles: ReadonlyArray<BuildOptions> = [
  await inFewFiles(library, { start: ["src/index.ts"], ...loadedTogether }, false),
  // Threads share no modules: with the parts of effect that they need bundled, the library's threads start in a third of the time.
  {
    input: { textGuard, storeWriter, storeAnalysis, storeSearch },
    platform: "node",
    external: external(unbundled),
    output: { ...output(fresh), sourcemap: true, sourcemapExcludeSources: true }
  },
  await inFewFiles(commandLine, { start: ["src/main.ts", "src/cli/Session.ts"], ...loadedTogether }, true),
  // The inspector's page: one file, for the browser.
  {
    input: { page: "src/ui/page/main.tsx" },
    platform: "browser",
    tsconfig: "src/ui/page/tsconfig.json",
    output: { ...output(`${fresh}/ui`), minify: true }
  }
]

/** The packages whose code is in some chunks. */
const packagesIn = (chunks: Chunks): ReadonlySet<string> =>
  new Set(chunks.flatMap(({ moduleIds }) => moduleIds.flatMap((id) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1] ?? [])))

/** Minifies a chunk of nothing but package code, and drops its source map: the sources of packages are not shipped. */
const shrink = ({ fileName, moduleIds, sourcemapFileName }: OutputChunk): void => {
  if (sourcemapFileName === null || !moduleIds.every((id) => id.includes("/node_modules/") || id.startsWith("\0"))) return
  rmSync(join(fresh, sourcemapFileName), { force: true })
  const path = join(fresh, fileName)
  const { code, errors } = minifySync(fileName, readFileSync(path, "utf8"), { ...minify, module: true })
  if (errors.length > 0) throw new Error(`${fileName}: ${errors.map(({ message }) => message).join(", ")}`)
  writeFileSync(path, code)
}

/** The notices that the licences of packages require in copies. */
const notices = (names: Iterable<string>): string =>
  [...names].sort().map((name) => {
    const folder = join("node_modules", name)
    const { license, version }: { license?: string; version: string } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
    const text = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file)).map((file) =>
      readFileSync(join(folder, file), "utf8").trim()
    )
    return `${name} ${version} (${license ?? "see its licence"})\n\n${text.join("\n\n")}`
  }).join("\n\n---\n\n")

try {
  const packages = new Set<string>()
  for (const bundle of bundles) {
    const { output: chunks } = await build({ ...bundle, checks, plugins: [plainFields] })
    const code = chunks.filter((chunk) => chunk.type === "chunk")
    for (const name of packagesIn(code)) packages.add(name)
    code.forEach(shrink)
  }
  // The command line uses the threads of the library.
  for (const name of ["textGuard", "storeWriter", "storeAnalysis", "storeSearch"]) {
    writeFileSync(join(fresh, "cli", `${name}.js`), `import "../${name}.js"\n`)
  }
  packages.add("js-tiktoken")
  writeFileSync(join(fresh, "THIRD_PARTY_LICENSES.txt"), notices(packages))
  // Packages that ship their data in several forms: only the form that is read.
  const require = createRequire(import.meta.url)
  writeFileSync(join(fresh, "o200k.bin"), packEncoding(require("js-tiktoken/ranks/o200k_base")))
  copyFileSync(require.resolve("@hyzyla/pdfium/pdfium.wasm"), join(fresh, "pdfium.wasm"))
  for (const kernel of ["kernel.wasm", "postings.wasm", "scores.wasm"]) {
    copyFileSync(join("src/engines/embedded/kernel", kernel), join(fresh, kernel))
  }
  copyFileSync("src/text/tokens/tokens.wasm", join(fresh, "tokens.wasm"))
  for (const name of ["page.css", "icon.svg"]) copyFileSync(join("src/ui/page", name), join(fresh, "ui", name))
  // The part of the protos that gRPC needs; JSON needs none.
  const protos = JSON.stringify(pruned(ofPackages(require.resolve("@google-cloud/aiplatform/build/protos/protos.json"))))
  writeFileSync(join(fresh, "protos.json.br"), brotliCompressSync(protos))
  const last = `${fresh}-last`
  if (existsSync("dist")) renameSync("dist", last)
  renameSync(fresh, "dist")
  rmSync(last, { recursive: true, force: true })
} finally {
  rmSync(fresh, { recursive: true, force: true })
}
