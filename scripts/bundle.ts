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

/** What is native, or loads files of its own, stays a package. All else is bundled: installed whole it would be three times the size. */
const unbundled = [...Object.keys(dependencies ?? {}), ...Object.keys(optionalDependencies ?? {})]

const external = (names: ReadonlyArray<string>) => names.map((name) => new RegExp(`^${name}(/|$)`))

/** What the command line loads late on purpose, the library may load at once. */
const checks = { ineffectiveDynamicImport: false }

/** Workers are entries, so that they can be started by file name from beside the code that starts them. */
const textWorker = "src/text/pool/worker.ts"
const textGuard = "src/text/pool/guard.worker.ts"
const storeWriter = "src/engines/embedded/store/writer.worker.ts"
const storeAnalysis = "src/engines/embedded/store/analysis.worker.ts"
const storeSearch = "src/engines/embedded/search/search.worker.ts"
const modelWorker = "src/models/local/model.worker.ts"

const output = (dir: string) => ({ dir, format: "esm", entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js" }) as const

/** Names stay: stacks of errors are read. */
const minify = { compress: true, mangle: false } as const

/** Built beside the last build and put in its place whole: a program that runs meanwhile finds one or the other. */
const fresh = `dist-${process.pid}`

/**
 * `markdown-it` is compiled for engines without class fields, to calls that look at each key before they set it: a
 * twentieth of the time of parsing. On objects that have just been made an assignment does the same.
 */
const plainFields: Plugin = {
  name: "plain-fields",
  transform(code, id) {
    if (!/[\\/]markdown-it\.mjs$/.test(id)) return undefined
    const call = /_defineProperty\(\s*this,\s*(?:\/\*(?:[^*]|\*(?!\/))*\*\/\s*)?"(\w+)",\s*([^;]*?)\s*\);/g
    // Its sources are not shipped: a map has nothing to lead to.
    return { code: code.replace(call, (_, field: string, value: string) => `this.${field} = ${value};`), map: { mappings: "" } }
  }
}

/** Code that is loaded at one time, by where it begins: most of a start is finding and opening files. */
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
/** Parsers are processes of their own, which start as often: what they have in common with the others is apart. */
const parsing = [textWorker, "src/text/pool/PrepareFile.ts"]

type Together = Readonly<Record<string, ReadonlyArray<string>>>
type Chunks = ReadonlyArray<OutputChunk>

/** The modules that come with some, or may come later too, by how they would be split if nothing were said of it. */
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
 * The same in a file for each name of `together`, without what those before it have. Two builds: only the first tells what is
 * used of each module. `packages`: those of packages as well, which are then with the maps and names of sources.
 */
const inFewFiles = async (
  bundle: BuildOptions & { readonly output: OutputOptions },
  together: Together,
  packages: boolean
): Promise<BuildOptions> => {
  const { output } = await build({ ...bundle, checks, write: false, plugins: [plainFields] })
  const chunks = output.filter((chunk) => chunk.type === "chunk")
  const parsed = loadedWith(chunks, parsing)
  // What reads some format: a parser loads it without all that others load with it.
  const reading = loadedWith(chunks, parsing, true)
  const nameOf = new Map([...parsed].map((id) => [id, "parsing"]))
  for (const [name, roots] of Object.entries(together).reverse()) {
    for (const id of loadedWith(chunks, roots)) {
      nameOf.set(id, parsed.has(id) ? `${name}-parsing` : reading.has(id) ? `${name}-reading` : name)
    }
  }
  // Entries stay by themselves: one that awaits what it loads must not wait for its own file.
  for (const { facadeModuleId, isEntry } of chunks) if (isEntry && facadeModuleId !== null) nameOf.delete(facadeModuleId)
  const isTaken = (id: string) => packages || !id.includes("/node_modules/")
  const groups = [...new Set(nameOf.values())].map((name) => ({ name, test: (id: string) => nameOf.get(id) === name && isTaken(id) }))
  return {
    ...bundle,
    preserveEntrySignatures: "allow-extension",
    output: { ...bundle.output, codeSplitting: { groups, includeDependenciesRecursively: false } }
  }
}

/** The library shares effect with the program that imports it; `main` is the command line for who brings code of their own. */
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

/** The command line brings its own, in few files: that is what makes it start fast. */
const commandLine = {
  input: { bin: "src/bin.ts", textWorker, modelWorker },
  platform: "node",
  external: external(unbundled),
  output: { ...output(`${fresh}/cli`), minify }
} as const

const bundles: ReadonlyArray<BuildOptions> = [
  await inFewFiles(library, { start: ["src/index.ts"], ...loadedTogether }, false),
  // Threads share nothing: with the little of effect that they need inside, the library's threads start in a third of the time.
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

/** The packages whose code is in these chunks. */
const packagesIn = (chunks: Chunks): ReadonlySet<string> =>
  new Set(chunks.flatMap(({ moduleIds }) => moduleIds.flatMap((id) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1] ?? [])))

/** A map leads to sources, and those of packages are not beside it: a chunk of nothing else goes without, and is minified. */
const shrink = ({ fileName, moduleIds, sourcemapFileName }: OutputChunk): void => {
  if (sourcemapFileName === null || !moduleIds.every((id) => id.includes("/node_modules/") || id.startsWith("\0"))) return
  rmSync(join(fresh, sourcemapFileName), { force: true })
  const path = join(fresh, fileName)
  const { code, errors } = minifySync(fileName, readFileSync(path, "utf8"), { ...minify, module: true })
  if (errors.length > 0) throw new Error(`${fileName}: ${errors.map(({ message }) => message).join(", ")}`)
  writeFileSync(path, code)
}

/** What their licences ask to be kept with a copy. */
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
  // The threads of the command line are those of the library.
  for (const name of ["textGuard", "storeWriter", "storeAnalysis", "storeSearch"]) {
    writeFileSync(join(fresh, "cli", `${name}.js`), `import "../${name}.js"\n`)
  }
  packages.add("js-tiktoken")
  writeFileSync(join(fresh, "THIRD_PARTY_LICENSES.txt"), notices(packages))
  // Of packages that bring the same data in many forms, the one that is read.
  const require = createRequire(import.meta.url)
  writeFileSync(join(fresh, "o200k.bin"), packEncoding(require("js-tiktoken/ranks/o200k_base")))
  copyFileSync(require.resolve("@hyzyla/pdfium/pdfium.wasm"), join(fresh, "pdfium.wasm"))
  for (const kernel of ["kernel.wasm", "postings.wasm", "scores.wasm"]) {
    copyFileSync(join("src/engines/embedded/kernel", kernel), join(fresh, kernel))
  }
  copyFileSync("src/text/tokens/tokens.wasm", join(fresh, "tokens.wasm"))
  for (const name of ["page.css", "icon.svg"]) copyFileSync(join("src/ui/page", name), join(fresh, "ui", name))
  // What gRPC needs of the protos, which JSON does without.
  const protos = JSON.stringify(pruned(ofPackages(require.resolve("@google-cloud/aiplatform/build/protos/protos.json"))))
  writeFileSync(join(fresh, "protos.json.br"), brotliCompressSync(protos))
  const last = `${fresh}-last`
  if (existsSync("dist")) renameSync("dist", last)
  renameSync(fresh, "dist")
  rmSync(last, { recursive: true, force: true })
} finally {
  rmSync(fresh, { recursive: true, force: true })
}
