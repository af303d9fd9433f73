import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { fakeVertex } from "../fakes/Vertex.ts"
import { command } from "../support/Command.ts"
import { events } from "../support/Finished.ts"
import { pipelineFile, project } from "./Project.ts"

const run = (cwd: string, ...args: ReadonlyArray<string>) => Effect.promise(() => command(args, { cwd }))

describe.concurrent("plan", () => {
  it.live("says that what a source would add is unknown where only the service lists it", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* fakeVertex
      const engine = `engine: { vertex: { project: p1, location: us-central1, baseUrl: "${baseUrl}" } }`
      const drive = "drive: { googleDrive: { folders: [abc], listing: service } }"
      const cwd = yield* project({
        "only.pipeline.yaml": `name: only\n${engine}\ncorpus: { displayName: Only }\nsources: { ${drive} }\n`,
        "both.pipeline.yaml":
          `name: both\n${engine}\ncorpus: { displayName: Both }\nsources: { docs: { local: { path: ./docs } }, ${drive} }\n`
      })
      const only = yield* run(cwd, "plan", "only.pipeline.yaml", "--detailed-exitcode")
      assert.strictEqual(only.code, 2, only.stderr)
      const words = only.stdout.replaceAll(/\s+/g, " ")
      assert.include(words, "unknown to add for drive, which only the service lists; 0 to change")
      assert.notMatch(words, /\b0 to add/)
      const both = yield* run(cwd, "plan", "both.pipeline.yaml", "--summary")
      assert.include(both.stdout.replaceAll(/\s+/g, " "), "unknown to add for drive, which only the service lists; 3 to add")
      assert.deepInclude(events(yield* run(cwd, "plan", "both.pipeline.yaml", "--json")).at(-1), { type: "plan", unknown: ["drive"] })
    }).pipe(Effect.scoped))

  it.live("names the metadata rules that each file breaks, as the report of the run does", () =>
    Effect.gen(function*() {
      const cwd = yield* project({
        "pipeline.yaml":
          `${pipelineFile}metadata: { year: { property: year, type: integer }, status: { property: status, required: true } }\n`,
        "docs/leave.md": "---\nstatus: final\nyear: soon\n---\n# Leave\n\nFive days carry over.\n"
      })
      const planned = yield* run(cwd, "plan")
      assert.match(planned.stdout, /^add +docs: leave\.md +1 +\d+ +year: "soon" is not an integer$/m)
      assert.match(planned.stdout, /^add +docs: batteries\.txt +1 +\d+ +status: is required, and there is none/m)
      const { stdout } = yield* run(cwd, "run")
      assert.match(stdout, /^with metadata that breaks a rule 3 .*:\n(?: {2}.*\n)* {2}leave\.md {2}year: "soon" is not an integer$/m)
    }).pipe(Effect.scoped))

  it.live("tells many files by folder, and with --summary none", () =>
    Effect.gen(function*() {
      const many = Object.fromEntries(
        Array.from({ length: 510 }, (_, n) => [`docs/${n % 2 === 0 ? "even" : "odd"}/${n}.txt`, `Page ${n}.\n`])
      )
      const cwd = yield* project(many)
      const rolled = yield* run(cwd, "plan")
      assert.strictEqual(rolled.code, 0, rolled.stderr)
      assert.match(rolled.stdout, /^add +docs: even\/ .* 255 files$/m)
      assert.match(rolled.stdout, /^add +docs: \.\/ .* 2 files$/m)
      assert.notInclude(rolled.stdout, "odd/1.txt")
      assert.include(rolled.stderr, "513 files, shown by folder; --all lists each")
      const summary = yield* run(cwd, "plan", "--summary")
      assert.notMatch(summary.stdout, /^add /m)
      assert.match(summary.stdout, /^513 to add, 0 to change/m)
      const json = events(yield* run(cwd, "plan", "--summary", "--json"))
      assert.deepStrictEqual(json.map(({ type }) => type), ["plan"])
      assert.include((yield* run(cwd, "plan", "--all")).stdout, "odd/1.txt")
    }).pipe(Effect.scoped))
})

describe("a pipeline file that names another embedder", () => {
  it.live("is answered from the corpus as it is, which the offline embedder filled, until that is rebuilt", () =>
    Effect.gen(function*() {
      // Nothing listens there.
      const embedding = `embedding: { openai: { url: "http://127.0.0.1:9/v1", model: m, dimensions: 8 } }`
      const cwd = yield* project({ "edited.pipeline.yaml": pipelineFile.replace("displayName: Test", `displayName: Test, ${embedding}`) })
      yield* run(cwd, "run", "pipeline.yaml")
      const asked = yield* run(cwd, "ask", "--pipeline", "edited.pipeline.yaml", "How many days of annual leave carry over?")
      assert.strictEqual(asked.code, 0, asked.stderr)
      assert.include(asked.stdout, "Five unused days")
    }).pipe(Effect.scoped))
})
