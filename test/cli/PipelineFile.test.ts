import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { command } from "../support/Command.ts"
import { events } from "../support/Finished.ts"
import { sluice } from "../support/Sluice.ts"
import { tempFolder, write } from "../support/TempFolder.ts"
import { project } from "./Project.ts"

const run = (cwd: string, ...args: ReadonlyArray<string>) => Effect.promise(() => command(args, { cwd }))

/** The same by the built program, in a process of its own. */
const built = (cwd: string, ...args: ReadonlyArray<string>) => Effect.promise(() => sluice(args, { cwd }))

describe("init, validate, schema", () => {
  it.live("writes a pipeline that is valid, and never over another by accident", () =>
    Effect.gen(function*() {
      const cwd = yield* tempFolder
      write(cwd, { "docs/a.md": "# A\n" })
      const written = yield* built(cwd, "init", "docs")
      assert.strictEqual(written.code, 0, written.stderr)
      const valid = yield* built(cwd, "validate")
      assert.deepStrictEqual([valid.code, valid.stderr], [0, ""])
      assert.match(valid.stdout, /^pipeline\.yaml is valid: pipeline docs on the embedded engine, 1 source, 2 stages$/m)
      const again = yield* built(cwd, "init", "docs", "--json")
      assert.strictEqual(again.code, 4)
      assert.deepInclude(events(again)[0], { type: "error", message: "pipeline.yaml is there already" })
      assert.strictEqual((yield* built(cwd, "init", "docs", "--force")).code, 0)
      assert.match((yield* built(cwd, "init", "elsewhere")).stderr, /error: elsewhere is not there\nfix: /)
    }).pipe(Effect.scoped))

  it.live("leaves out the file itself, and what a program has installed, of a folder that it is in", () =>
    Effect.gen(function*() {
      const cwd = yield* tempFolder
      write(cwd, { "guide.md": "# Guide\n", "node_modules/dep/README.md": "# A dependency\n" })
      assert.strictEqual((yield* run(cwd, "init")).code, 0)
      const planned = events(yield* run(cwd, "plan", "--json"))
      assert.deepStrictEqual(planned.flatMap(({ outcome, path }) => outcome === "added" ? [path] : []), ["guide.md"])
    }).pipe(Effect.scoped))

  it.live("reports every problem of a pipeline file at once, with place and fix", () =>
    Effect.gen(function*() {
      const cwd = yield* project({ "bad.yaml": "name: 1\ncorpus: { displayName: x }\nsourcs: {}\nchunking: { size: none }\n" })
      const text = yield* run(cwd, "validate", "bad.yaml")
      assert.deepStrictEqual([text.code, text.stdout], [4, ""])
      for (
        const place of [
          /^bad\.yaml:1:7 {2}name$/m,
          /^bad\.yaml:3:1 {2}sourcs$/m,
          /^bad\.yaml:4:19 {2}chunking\.size$/m,
          /did you mean sources\?/
        ]
      ) {
        assert.match(text.stderr, place)
      }
      const json = yield* run(cwd, "validate", "bad.yaml", "--json")
      assert.strictEqual(json.code, 4)
      const [document, ...more] = events(json)
      assert.deepStrictEqual(more, [])
      assert.deepInclude(document, { version: 1, type: "error", error: "PipelineInvalid" })
      const issues = document?.["issues"] as ReadonlyArray<Record<string, unknown>>
      assert.includeDeepMembers(issues.map(({ column, line, path }) => ({ line, column, path })), [
        { line: 1, column: 7, path: "name" },
        { line: 3, column: 1, path: "sourcs" },
        { line: 4, column: 19, path: "chunking.size" }
      ])
    }).pipe(Effect.scoped))

  it.live("says what is wrong with a file it cannot read, and refuses what the engine lacks", () =>
    Effect.gen(function*() {
      const cwd = yield* project()
      const missing = yield* run(cwd, "run", "nope.yaml")
      assert.strictEqual(missing.code, 4)
      assert.match(missing.stderr, /nope\.yaml\n {2}the file cannot be found or read\n {2}fix: /)
      const folder = yield* run(cwd, "run", "docs")
      assert.strictEqual(folder.code, 4)
      assert.match(
        folder.stderr,
        /docs\n {2}is a folder, and not a pipeline file\n {2}fix: write one for its documents with sluice init docs\n/
      )
      const vertex = yield* run(cwd, "validate", "--engine", "vertex")
      assert.strictEqual(vertex.code, 4)
      assert.match(vertex.stderr, /the vertex engine needs a project/)
      const begun = yield* tempFolder
      write(begun, { "docs/a.md": "A document." })
      yield* run(begun, "init", "docs")
      const own = yield* run(begun, "validate", "--engine", "vertex")
      assert.match(own.stderr, /engines\.vertex\.project\n[^>]*> +\d+ \| engine: embedded\n/)
      write(cwd, {
        "store.yaml":
          "name: w\ncorpus: { displayName: W, vectorDb: { featureStore: {} } }\nsources: { d: { local: { path: docs } } }\nstages: [{ retrieve: { hybrid: {} } }]\n"
      })
      const store = yield* run(cwd, "validate", "store.yaml")
      assert.strictEqual(store.code, 4)
      assert.match(store.stderr, /the embedded engine has no hybrid search over Feature Store \(port Retrieval\)/)
    }).pipe(Effect.scoped))

  it.live("prints the schema as one JSON document", () =>
    Effect.gen(function*() {
      const cwd = yield* tempFolder
      const { code, stderr, stdout } = yield* run(cwd, "schema")
      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.containsAllKeys(JSON.parse(stdout).properties, ["name", "corpus", "sources", "stages"])
    }).pipe(Effect.scoped))

  it.live("lets doctor find everything that is wrong", () =>
    Effect.gen(function*() {
      const cwd = yield* project()
      const well = yield* run(cwd, "doctor")
      assert.strictEqual(well.code, 0, well.stdout)
      assert.match(well.stdout, /^ok +source docs +local can be listed$/m)
      const ill = yield* run(cwd, "doctor", join("docs", "leave.md"), "--json")
      assert.strictEqual(ill.code, 1)
      const [document] = events(ill)
      assert.deepInclude(document, { version: 1, type: "doctor", ok: false })
      const failed = ((document?.["checks"] ?? []) as ReadonlyArray<Record<string, unknown>>).filter(({ ok }) => ok === false)
      assert.deepStrictEqual(failed.map(({ check }) => check), ["pipeline"])
    }).pipe(Effect.scoped))
})
