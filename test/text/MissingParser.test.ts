import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { defaultChunking } from "../../src/domain/Chunking.ts"
import { TextPool } from "../../src/text/TextPool.ts"
import { project } from "../cli/Project.ts"
import { sluice } from "../support/Sluice.ts"
import { tempFolder, write } from "../support/TempFolder.ts"

const root = join(import.meta.dirname, "../..")
const manual = readFileSync(join(root, "examples/handbook/safety/safety-manual.pdf"))

/** Loaded first, it makes packages look as though they were not installed. */
const hiding = (packages: ReadonlyArray<string>): string => `
import { registerHooks } from "node:module"
const hidden = ${JSON.stringify(packages)}
registerHooks({
  resolve: (specifier, context, next) => {
    if (hidden.some((name) => specifier.startsWith(name))) throw new Error("Cannot find module " + specifier)
    return next(specifier, context)
  }
})
`

const binary = "@llamaindex/liteparse-"
const wasm = "@hyzyla/pdfium"

/** What becomes of a PDF where packages are missing. */
const read = (packages: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const cwd = yield* tempFolder
    const worker = pathToFileURL(join(root, "src/text/pool/worker.ts")).href
    write(cwd, { "worker.mjs": `${hiding(packages)}\nawait import(${JSON.stringify(worker)})` })
    return yield* TextPool.use(({ prepare }) => prepare({ content: manual, name: "safety-manual.pdf", chunking: defaultChunking })).pipe(
      Effect.result,
      Effect.provide(TextPool.layer({ size: 1, entry: pathToFileURL(join(cwd, "worker.mjs")) }))
    )
  })

describe("a parser's package that is not installed", () => {
  it.live("gives way to the reader without native code", () =>
    Effect.gen(function*() {
      const prepared = Result.getOrThrow(yield* read([binary]))
      assert.match(prepared.chunks.map(({ text }) => text).join(" "), /quarantine/)
    }).pipe(Effect.scoped))

  it.live("is the installation's fault where nothing else reads the format: named, and worth another try", () =>
    Effect.gen(function*() {
      const error = Result.getOrThrow(Result.flip(yield* read([binary, wasm])))
      assert.deepInclude(error, { _tag: "ServiceError", code: "UNAVAILABLE", retryable: true })
      assert.match(error.message, /@hyzyla\/pdfium/)
    }).pipe(Effect.scoped))

  it.live("is known to the doctor", () =>
    Effect.gen(function*() {
      const cwd = yield* project({ "hide.mjs": hiding([binary]) })
      const doctor = (env: Record<string, string>) => Effect.promise(() => sluice(["doctor"], { cwd, env }))
      assert.match((yield* doctor({})).stdout, /^ok +parsers/m)
      const { code, stdout } = yield* doctor({ NODE_OPTIONS: `--import ${pathToFileURL(join(cwd, "hide.mjs")).href}` })
      assert.strictEqual(code, 1)
      assert.match(stdout, /^FAILED +parsers +@llamaindex\/liteparse-/m)
    }).pipe(Effect.scoped))
})
