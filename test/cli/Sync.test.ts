import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { mkdirSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"
import { addsUp, Report } from "../../src/domain/Report.ts"
import { command } from "../support/Command.ts"
import { events, type Finished } from "../support/Finished.ts"
import { sluice } from "../support/Sluice.ts"
import { write } from "../support/TempFolder.ts"
import { pipelineFile, project } from "./Project.ts"

const run = (cwd: string, ...args: ReadonlyArray<string>) => Effect.promise(() => command(args, { cwd }))

/** The same by the built program, in a process of its own. */
const built = (cwd: string, ...args: ReadonlyArray<string>) => Effect.promise(() => sluice(args, { cwd }))

const reportOf = (finished: Finished): Report => {
  const last = events(finished).at(-1)
  assert.deepInclude(last, { version: 1, type: "report" }, finished.stderr)
  return Schema.decodeUnknownSync(Report)(last?.["report"])
}

describe("plan, run, status, retry", () => {
  it.live("plans what a run then does, and says by its exit code whether there is anything", () =>
    Effect.gen(function*() {
      const cwd = yield* project()
      const planned = yield* built(cwd, "plan", "--detailed-exitcode", "--json")
      assert.strictEqual(planned.code, 2, planned.stderr)
      const items = events(planned)
      const plan = items.at(-1)
      assert.deepInclude(plan, { version: 1, type: "plan" })
      assert.sameMembers(items.slice(0, -1).map(({ outcome, path }) => `${outcome} ${path}`), [
        "added batteries.txt",
        "added leave.md",
        "added travel/hotels.md"
      ])

      const first = yield* built(cwd, "run", "--json")
      assert.deepStrictEqual([first.code, first.stderr], [0, ""])
      const report = reportOf(first)
      assert.strictEqual(report.totals.added, 3)
      assert.isTrue(addsUp(report.totals))
      assert.strictEqual(report.chunks, plan?.["chunks"])
      assert.strictEqual(report.embeddedTokens, plan?.["tokens"])

      const unchanged = yield* built(cwd, "plan", "--detailed-exitcode")
      assert.strictEqual(unchanged.code, 0)
      assert.match(unchanged.stdout, /^0 to add, 0 to change, 0 to move, 0 to delete, 3 unchanged, 0 skipped$/m)
      assert.notMatch(unchanged.stdout, /leave\.md/)
      assert.match((yield* built(cwd, "plan", "--all")).stdout, /^unchanged +docs: leave\.md$/m)
      const second = yield* built(cwd, "run")
      assert.strictEqual(second.code, 0)
      assert.match(second.stdout, /^Done in .*: 0 chunks written, 0 chunks embedded \(0 tokens\)$/m)
    }).pipe(Effect.scoped))

  it.live("shows each kind of change by name", () =>
    Effect.gen(function*() {
      const cwd = yield* project()
      yield* run(cwd, "run")
      const docs = join(cwd, "docs")
      write(docs, { "leave.md": "# Leave\n\nSix unused days carry over.\n", "new.md": "# New\n", "blob.bin": new Uint8Array([0, 1, 2, 3]) })
      renameSync(join(docs, "travel/hotels.md"), join(docs, "hotels.md"))
      rmSync(join(docs, "batteries.txt"))
      const { code, stdout } = yield* run(cwd, "plan", "--detailed-exitcode", "--all")
      assert.strictEqual(code, 2)
      for (
        const line of [
          /^skip +docs: blob\.bin +unsupported/m,
          /^change +docs: leave\.md +1 +\d+ +content: its content has changed$/m,
          /^add +docs: new\.md +1 +\d+$/m,
          /^move +docs: hotels\.md +from travel\/hotels\.md$/m,
          /^delete +docs: batteries\.txt$/m,
          /^1 to add, 1 to change, 1 to move, 1 to delete, 0 unchanged, 1 skipped$/m
        ]
      ) assert.match(stdout, line)
      assert.strictEqual((yield* run(cwd, "run")).code, 0)
      assert.strictEqual((yield* run(cwd, "plan", "--detailed-exitcode")).code, 0)
    }).pipe(Effect.scoped))

  it.live("says what embedding over a network will cost at the configured rate", () =>
    Effect.gen(function*() {
      const remote = pipelineFile.replace(
        "corpus: { displayName: Test }",
        `corpus: { displayName: Test, embedding: { openai: { url: "http://127.0.0.1:9/v1", model: m, dimensions: 4 } } }
import: { maxEmbeddingRequestsPerMinute: 2 }`
      )
      const cwd = yield* project({ "pipeline.yaml": remote })
      const { code, stdout, stderr } = yield* run(cwd, "plan")
      assert.strictEqual(code, 0, stderr)
      assert.match(stdout, /^3 chunks, \d+ tokens; 3 to embed \(\d+ tokens\) in 1 request, about 30 s at the configured rates$/m)
    }).pipe(Effect.scoped))

  it.live("exits 3 when files failed, names them, and tries them again when asked", () =>
    Effect.gen(function*() {
      const cwd = yield* project({ "docs/broken.pdf": "%PDF-1.7\nnothing of a PDF follows\n" })
      const first = yield* run(cwd, "run")
      assert.strictEqual(first.code, 3, first.stderr)
      assert.match(first.stdout, /^failed.*:\n(?: {2}.*\n)*? {2}broken\.pdf {2}corrupt: /m)
      const second = yield* run(cwd, "run", "--json")
      assert.strictEqual(second.code, 3)
      assert.strictEqual(reportOf(second).totals.quarantined, 1)
      const status = yield* run(cwd, "status")
      assert.strictEqual(status.code, 0)
      assert.match(status.stdout, /^quarantined +docs: broken\.pdf +corrupt: /m)
      assert.match(status.stderr, /try it again: sluice retry --failed pipeline\.yaml/)
      const retried = reportOf(yield* run(cwd, "retry", "--failed", "--json"))
      assert.deepInclude(retried.totals, { failed: 1, quarantined: 0, unchanged: 3 })
    }).pipe(Effect.scoped))

  it.live("holds many deletes until they are released", () =>
    Effect.gen(function*() {
      const many = Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`docs/many/${i}.md`, `# Page ${i}\n`]))
      const cwd = yield* project(many)
      yield* run(cwd, "run")
      rmSync(join(cwd, "docs/many"), { recursive: true })
      const held = yield* run(cwd, "run")
      assert.strictEqual(held.code, 2)
      assert.match(held.stdout, /--yes/)
      assert.match(held.stdout, /many\/0\.md/)
      assert.strictEqual((yield* run(cwd, "plan", "--detailed-exitcode")).code, 2)
      const planned = yield* run(cwd, "plan")
      assert.strictEqual(planned.code, 0, planned.stderr)
      assert.match(planned.stdout, /^held +docs: many\/0\.md +needs --yes$/m)
      assert.strictEqual(reportOf(yield* run(cwd, "run", "--yes", "--json")).totals.deleted, 25)
    }).pipe(Effect.scoped))

  it.live("says that a source is empty, and with --strict does nothing", () =>
    Effect.gen(function*() {
      const cwd = yield* project({})
      rmSync(join(cwd, "docs"), { recursive: true })
      mkdirSync(join(cwd, "docs"))
      const ran = yield* run(cwd, "run")
      assert.strictEqual(ran.code, 0)
      assert.match(ran.stdout, /^warning: docs: it is empty/m)
      for (const command of ["run", "plan", "watch"]) {
        const strict = yield* run(cwd, command, "--strict")
        assert.strictEqual(strict.code, 1)
        assert.match(strict.stderr, /sources\.docs: it is empty/)
      }
    }).pipe(Effect.scoped))

  it.live("exits 6 at the budget, and the next run goes on", () =>
    Effect.gen(function*() {
      const cwd = yield* project({ "pipeline.yaml": `${pipelineFile}import: { budget: { embeddedTokens: 1 }, concurrency: 1 }\n` })
      const stopped = yield* run(cwd, "run", "--json")
      assert.strictEqual(stopped.code, 6)
      assert.isAbove(reportOf(stopped).totals.pending, 0)
      write(cwd, { "pipeline.yaml": pipelineFile })
      const report = reportOf(yield* run(cwd, "run", "--json"))
      assert.strictEqual(report.totals.pending, 0)
      assert.strictEqual((yield* run(cwd, "plan", "--detailed-exitcode")).code, 0)
    }).pipe(Effect.scoped))

  it.live("knows its runs and files, and says so before the first", () =>
    Effect.gen(function*() {
      const cwd = yield* project()
      assert.match((yield* run(cwd, "status")).stdout, /^test has not run yet: sluice run pipeline\.yaml$/m)
      yield* run(cwd, "run")
      const [head, ...entries] = events(yield* run(cwd, "status", "--files", "--json"))
      assert.deepInclude(head, { version: 1, type: "status", pipeline: "test", counts: { done: 3 } })
      assert.deepStrictEqual(entries.map(({ path, state, type }) => [type, path, state]), [
        ["entry", "batteries.txt", "done"],
        ["entry", "leave.md", "done"],
        ["entry", "travel/hotels.md", "done"]
      ])
    }).pipe(Effect.scoped))
})
