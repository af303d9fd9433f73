import { assert, describe, it } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { bin } from "../support/Built.ts"
import { eventually } from "../support/Eventually.ts"
import { command } from "../support/Command.ts"
import { events } from "../support/Finished.ts"
import { start } from "../support/Sluice.ts"
import { write } from "../support/TempFolder.ts"
import { pipelineFile, project } from "./Project.ts"

/** Two sections that one large chunk holds, and small ones do not. */
const both =
  "# Keys\n\nThe spare keys hang in the porter's lodge behind the mirror.\n\n# Bikes\n\nBikes stand in the inner yard and are locked to the rail there.\n"
const small = pipelineFile.replace("size: 60", "size: 20")
const tests = `
tests:
  - question: Where do the spare keys hang?
    files: [{ path: both.md, rank: 1 }]
    contexts: [porter's lodge]
`

const set = (cwd: string, file: string) => write(cwd, { "pipeline.yaml": `${file}${tests}` })

const embeddings = (cwd: string): number => {
  const db = new DatabaseSync(join(cwd, ".sluice/sluice.db"), { readOnly: true, timeout: 60_000 })
  try {
    return Number(db.prepare("SELECT count(*) AS n FROM embeddings").get()?.["n"])
  } finally {
    db.close()
  }
}

const prepared = Effect.map(project({ "docs/both.md": both }), (cwd) => {
  set(cwd, small)
  const run = (...args: ReadonlyArray<string>) => Effect.promise(() => command(args, { cwd }))
  const report = (...args: ReadonlyArray<string>) =>
    Effect.map(run("run", "--json", ...args), (finished) => {
      assert.strictEqual(finished.code, 0, finished.stderr)
      // oxlint-disable-next-line typescript/no-explicit-any -- looked into by the assertions
      return events(finished).at(-1)?.["report"] as any
    })
  return { cwd, run, report }
})

describe("a candidate", () => {
  it.live(
    "is built by the edited file, told from the one that serves, compared with it, promoted, and gone back from",
    () =>
      Effect.gen(function*() {
        const { cwd, report, run } = yield* prepared
        let embedded = (yield* report()).embedded
        set(cwd, pipelineFile)
        embedded += (yield* report("--candidate")).embedded
        // Texts that both have are embedded once.
        assert.strictEqual(embedded, embeddings(cwd))
        const { stdout } = yield* run("plan", "--summary")
        assert.match(
          stdout.replace(/\n */g, " "),
          /keeps its settings.*Generation 1 serves: 4 files.*Generation 2 is the candidate: 4 files.*complete; chunking\.size 20 -> 60.*4 unchanged/
        )
        const listed = yield* run("files", "list", "--candidate", "--json")
        assert.lengthOf(events(listed), 4)

        const status = yield* run("status")
        assert.match(status.stdout, /^Last run of the candidate: [^]*^docs +4 +4$[^]*^Last run: /m)
        // oxlint-disable-next-line typescript/no-explicit-any -- looked into by the assertions
        const { candidateRun, lastRun } = events(yield* run("status", "--json"))[0] as any
        assert.isAbove(candidateRun.started, lastRun.started)

        const compared = yield* run("eval", "--candidate", "--markdown", "report.md", "--junit", "report.xml")
        assert.strictEqual(compared.code, 0, compared.stdout)
        assert.match(compared.stdout, /^measure +live +candidate +difference/m)
        assert.match(compared.stdout, /nothing speaks for the candidate over the live corpus/)
        assert.include(readFileSync(join(cwd, "report.md"), "utf8"), "| measure | live | candidate | difference | verdict |")
        assert.include(readFileSync(join(cwd, "report.xml"), "utf8"), "<testsuites tests=\"1\"")
        const refused = yield* run("eval", "--candidate", "--save")
        assert.strictEqual(refused.code, 4)
        assert.include(refused.stderr, "--save is for results of the live corpus")

        assert.include((yield* run("promote")).stdout, "generation 2 is live now, instead of generation 1")
        assert.deepInclude(events(yield* run("status", "--json"))[0], { lastRun: candidateRun })
        assert.include((yield* run("rollback")).stdout, "generation 1 is live now, instead of generation 2")
        assert.include((yield* run("rollback", "--candidate")).stdout, "generation 2, the candidate, is deleted")
      }).pipe(Effect.scoped)
  )

  it.live("owns the file's settings until it is discarded; then they apply to the live corpus", () =>
    Effect.gen(function*() {
      const { cwd, report, run } = yield* prepared
      yield* report()
      set(cwd, pipelineFile)
      yield* report("--candidate")
      const kept = yield* run("run")
      assert.match(kept.stdout, /unchanged\ndocs +4 +4\n/)
      assert.match(kept.stderr, /the live corpus keeps its own settings: chunking\.size 20, not 60$/m)
      assert.strictEqual((yield* run("rollback", "--candidate")).code, 0)
      assert.deepInclude((yield* report()).totals, { changed: 4 })
    }).pipe(Effect.scoped))

  it.live("is counted by its files' metadata, beside the corpus that serves", () =>
    Effect.gen(function*() {
      const { cwd, report, run } = yield* prepared
      write(join(cwd, "docs"), { "teams/ops/bikes.md": "# Bikes\n\nThe bikes stand in the yard.\n" })
      const described = (file: string) => write(cwd, { "pipeline.yaml": `${file}metadata: { team: { path: "teams/{team}/**" } }\n` })
      described(small)
      yield* report()
      described(pipelineFile)
      write(join(cwd, "docs"), { "teams/ops/keys.md": "# Keys\n\nThe keys hang in the lodge.\n" })
      yield* report("--candidate")
      const files = (...args: ReadonlyArray<string>) =>
        Effect.map(run("files", "facets", "team", "--json", ...args), (finished) => {
          assert.strictEqual(finished.code, 0, finished.stderr)
          // oxlint-disable-next-line typescript/no-explicit-any -- looked into by the assertions
          return (events(finished)[0] as any).facets[0].values
        })
      assert.deepStrictEqual(yield* files(), [{ value: "ops", files: 1 }])
      assert.deepStrictEqual(yield* files("--candidate"), [{ value: "ops", files: 2 }])
    }).pipe(Effect.scoped))

  it.live("takes over under those who read and watch, without a restart", () =>
    Effect.gen(function*() {
      const { cwd, report, run } = yield* prepared
      yield* report()
      write(cwd, { "next.yaml": `${pipelineFile}${tests}` })
      assert.deepInclude((yield* report("next.yaml", "--candidate")).totals, { added: 4 })
      const client = yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const client = new Client({ name: "test", version: "1" })
          await client.connect(new StdioClientTransport({ command: process.execPath, args: [bin, "mcp", "pipeline.yaml"], cwd }))
          await client.listTools()
          return client
        }),
        (client) => Effect.promise(() => client.close())
      )
      const passage = async () => {
        const { structuredContent } = await client.callTool({
          name: "search",
          arguments: { query: "where do the spare keys hang?", limit: 1 }
        })
        return (structuredContent as { passages: ReadonlyArray<{ text: string }> }).passages[0]?.text ?? ""
      }
      const watching = start(["watch", "pipeline.yaml", "--json"], { cwd })
      yield* Effect.addFinalizer(() => Effect.sync(() => watching.child.kill("SIGKILL")))
      let told = ""
      watching.child.stdout?.on("data", (text: string) => void (told += text))
      yield* eventually("the watch rests", Effect.sync(() => told.includes("\"type\":\"quiet\"")))
      assert.notInclude(yield* Effect.promise(passage), "Bikes stand")
      assert.strictEqual((yield* run("promote", "next.yaml")).code, 0)
      assert.include(yield* Effect.promise(passage), "Bikes stand")
      // The watch knows the old settings, and goes on with the new corpus by those that it was built by.
      write(join(cwd, "docs"), { "late.md": "# Late\n\nThe late shift ends at ten.\n" })
      yield* eventually("the late file", Effect.sync(() => /"type":"batch"[^\n]*"added":1/.test(told)))
      assert.notInclude(told, "\"outcome\":\"changed\"")
      const { contexts } = events(yield* run("retrieve", "when does the late shift end?", "--json"))[0] as {
        contexts: ReadonlyArray<{ text: string }>
      }
      assert.include(contexts[0]?.text, "ends at ten")
    }).pipe(Effect.scoped))
})
