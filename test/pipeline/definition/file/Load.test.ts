import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { NodeServices } from "@effect/platform-node"
import { Effect, Runtime } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { ExitCode } from "../../../../src/domain/Errors.ts"
import { type LoadedPipeline, loadPipeline } from "../../../../src/pipeline/definition/Load.ts"
import type { PipelineInvalid } from "../../../../src/pipeline/definition/PipelineInvalid.ts"
import { minimal } from "../schema/Support.ts"
import { minimalYaml } from "./Support.ts"

let folder = ""
const write = (name: string, text: string): string => {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-load-"))
})
afterAll(() => rmSync(folder, { recursive: true }))

const load = (file: string, env = {}): Promise<LoadedPipeline> =>
  Effect.runPromise(loadPipeline(file, env).pipe(Effect.provide(NodeServices.layer)))
const refused = (file: string): Promise<PipelineInvalid> =>
  Effect.runPromise(Effect.flip(loadPipeline(file, {})).pipe(Effect.provide(NodeServices.layer)))

const source = new URL("../../../../src/pipeline/definition/DefinePipeline.ts", import.meta.url).href

describe("loadPipeline", () => {
  it("reads YAML and JSON, and finds local folders beside the file", async () => {
    const yaml = await load(write("a.yaml", minimalYaml))
    const json = await load(write("a.json", JSON.stringify(minimal)))
    expect(yaml.file).toBe(join(folder, "a.yaml"))
    expect(yaml.pipeline.sources["docs"]).toMatchObject({ path: join(folder, "docs") })
    expect(json.pipeline).toEqual(yaml.pipeline)
    expect(json.hash).toBe(yaml.hash)
  })

  it("hashes what is written, wherever the file lies", async () => {
    mkdirSync(join(folder, "deeper"))
    const here = await load(write("b.yaml", minimalYaml))
    const there = await load(write("deeper/b.yaml", minimalYaml))
    expect(there.hash).toBe(here.hash)
    expect(there.pipeline.sources["docs"]).toMatchObject({ path: join(folder, "deeper", "docs") })
  })

  it.each([
    [
      "a defined pipeline",
      `import { definePipeline } from ${JSON.stringify(source)}\nexport default definePipeline(${JSON.stringify(minimal)})`
    ],
    ["a plain value", `export default ${JSON.stringify(minimal)}`],
    ["an export called pipeline", `export const pipeline = ${JSON.stringify(minimal)}`]
  ])("reads a TypeScript module with %s", async (name, text) => {
    const yaml = await load(write("c.yaml", minimalYaml))
    const module = await load(write(`${name.replaceAll(" ", "-")}.ts`, text))
    expect(module.pipeline).toEqual(yaml.pipeline)
    expect(module.hash).toBe(yaml.hash)
  })

  it("places the problems of a module by their path", async () => {
    const bad = { ...minimal, chunking: { size: 10, overlap: 10 } }
    const plain = await refused(write("bad-plain.ts", `export default ${JSON.stringify(bad)}`))
    const defined = await refused(
      write(
        "bad-defined.ts",
        `import { definePipeline } from ${JSON.stringify(source)}\nexport default definePipeline(${JSON.stringify(bad)})`
      )
    )
    expect(plain.issues).toEqual([{ file: join(folder, "bad-plain.ts"), path: "chunking.overlap", rule: "must be less than size (10)" }])
    expect(defined.issues.map(({ file, path }) => [file, path])).toEqual([[join(folder, "bad-defined.ts"), "chunking.overlap"]])
  })

  it.each([
    ["missing.yaml", undefined, "the file cannot be found or read"],
    ["folder.yaml", null, "is a folder, and not a pipeline file"],
    ["large.yaml", `# ${"x".repeat(300_000)}\n`, "is larger than 256 KiB, too large for a pipeline"],
    ["empty.ts", "export const other = 1", "exports no pipeline"],
    ["throws.ts", "throw new Error(\"xoxb-CANARY\")", "the module cannot be loaded"],
    ["imports.ts", "import \"no-such-package\"\nexport default {}", "imports no-such-package, which cannot be found"],
    ["missing.ts", undefined, "the file cannot be found or read"]
  ])("refuses %s", async (name, text, rule) => {
    if (text === null) mkdirSync(join(folder, name))
    else if (text !== undefined) write(name, text)
    const error = await refused(join(folder, name))
    expect(error.issues[0]?.rule).toBe(rule)
    expect(JSON.stringify(error) + error.message).not.toContain("CANARY")
  })

  it("fails with the exit code of an invalid pipeline", async () => {
    const error = await refused(write("bad.yaml", "name: [\n"))
    expect(error[Runtime.errorExitCode]).toBe(ExitCode.invalid)
    expect(error.message).toContain("bad.yaml:2:1")
  })

  it("takes variables from the environment it is given", async () => {
    const file = write("env.yaml", minimalYaml.replace("Handbook", "${TITLE}"))
    expect((await load(file, { TITLE: "Guide" })).pipeline.corpus.displayName).toBe("Guide")
    expect((await refused(file)).issues[0]?.rule).toBe("the environment variable TITLE is not set")
  })
})
