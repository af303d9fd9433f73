import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { pipelineFile, project } from "./Project.ts"
import { sluice, start } from "../support/Sluice.ts"

interface Case {
  readonly args: ReadonlyArray<string>
  readonly code: number
  /** A line that it prints. */
  readonly prints: RegExp
  /** All of stdin. Default: there is none. */
  readonly input?: string
  /** It goes on until it is sent SIGTERM, once it has printed that. */
  readonly stays?: true
}

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } }
}

/** One after the other, each with all that it needs made by those before it; what is in one array needs nothing of one another. */
const cases: ReadonlyArray<ReadonlyArray<Case>> = [
  [
    { args: ["version"], code: 0, prints: /^sluice \d/ },
    { args: ["help", "tune"], code: 0, prints: /^ {2}sluice tune / },
    { args: ["init", "docs", "--offline", "--output", "made.yaml"], code: 0, prints: /made\.yaml/ },
    { args: ["validate", "pipeline.yaml"], code: 0, prints: /^pipeline\.yaml is valid: pipeline test/ },
    { args: ["schema"], code: 0, prints: /^ {2}"title": "Sluice pipeline",$/ },
    { args: ["parse", "docs/leave.md"], code: 0, prints: /^leave\.md {2}markdown, / },
    { args: ["batch", "check", "rows.jsonl"], code: 0, prints: /^1 row, no mistakes/ },
    { args: ["run", "pipeline.yaml"], code: 0, prints: /^docs +3 +3$/ }
  ],
  // By itself: it looks for a watch as long as the others take until one starts, which would hear it.
  [{ args: ["release", "pipeline.yaml"], code: 4, prints: /^error: no `sluice watch` of pipeline test/ }],
  [
    { args: ["doctor", "pipeline.yaml"], code: 0, prints: /^ok +node +\d/ },
    { args: ["plan", "pipeline.yaml"], code: 0, prints: /^0 to add, 0 to change, .* 3 unchanged/ },
    { args: ["status", "pipeline.yaml"], code: 0, prints: /^Generation 1 serves: 3 files/ },
    { args: ["diff", "pipeline.yaml"], code: 0, prints: /^3 files as the ledger says$/ },
    { args: ["retry", "pipeline.yaml"], code: 0, prints: /^docs +3 +3$/ },
    { args: ["export", "--pipeline", "pipeline.yaml", "test.bundle"], code: 0, prints: /^test\.bundle: 3 files, / },
    { args: ["ask", "--pipeline", "pipeline.yaml", "How many days of leave carry over?"], code: 0, prints: /^Five unused days .* \[1\]$/ },
    {
      args: ["chat", "--pipeline", "pipeline.yaml"],
      input: "How many days of leave carry over?\n",
      code: 0,
      prints: /^Five unused days .* \[1\]$/
    },
    { args: ["retrieve", "--pipeline", "pipeline.yaml", "annual leave"], code: 0, prints: /^1\. +leave\.md +score / },
    { args: ["explain", "--pipeline", "pipeline.yaml", "annual leave"], code: 0, prints: /^Looked for$/ },
    { args: ["eval", "pipeline.yaml"], code: 0, prints: /^1 test passed; / },
    { args: ["questions", "pipeline.yaml", "--no-model"], code: 1, prints: /^error: no test could be drafted$/ },
    { args: ["tune", "pipeline.yaml", "--alpha", "0,1"], code: 0, prints: /^current +1\.000 / },
    { args: ["batch", "run", "pipeline.yaml", "questions.txt"], code: 0, prints: /^answered 1, not in the corpus 0, failed 0/ },
    { args: ["batch", "submit", "rows.jsonl", "--name", "nightly"], code: 0, prints: /^succeeded +projects\/local\// },
    { args: ["batch", "results", "1"], code: 1, prints: /^error: batch prediction job .* was not found$/ },
    { args: ["corpora", "list"], code: 0, prints: /^\d+ +Test +3 / },
    { args: ["files", "list"], code: 0, prints: /^\d+ +leave\.md +1 / },
    { args: ["models", "list"], code: 0, prints: /^publishers\/google\/models\/gemma/ },
    { args: ["endpoints", "list"], code: 0, prints: /^none$/ },
    { args: ["operations", "list"], code: 0, prints: /^none$/ },
    { args: ["mcp", "pipeline.yaml"], input: `${JSON.stringify(initialize)}\n`, code: 0, prints: /"serverInfo"/ },
    { args: ["serve", "--port", "0"], stays: true, code: 0, prints: /^http:\/\/127\.0\.0\.1:\d+/ },
    { args: ["ui", "--port", "0", "pipeline.yaml"], stays: true, code: 130, prints: /^http:\/\/127\.0\.0\.1:\d+/ },
    { args: ["watch", "pipeline.yaml"], stays: true, code: 130, prints: /^Watching; / }
  ],
  [{ args: ["run", "finer.yaml", "--candidate"], code: 0, prints: /^docs +3 +3$/ }],
  [{ args: ["promote", "finer.yaml"], code: 0, prints: /^generation 2 is live now/ }],
  [{ args: ["rollback", "finer.yaml"], code: 0, prints: /^generation 1 is live now/ }]
]

/** Runs a case to its end, and says what was wrong. */
const failureOf = async ({ args, code, input, prints, stays }: Case, cwd: string): Promise<string | undefined> => {
  const { child, finished } = start(args, { cwd, ...(input === undefined ? {} : { input }) })
  const late = setTimeout(() => child.kill("SIGKILL"), 180_000)
  if (stays) {
    let printed = ""
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (text: string) => {
        if (printed.split("\n").some((line) => prints.test(line))) return
        printed += text
        if (printed.split("\n").some((line) => prints.test(line))) child.kill("SIGTERM")
      })
    }
  }
  const ended = await finished
  clearTimeout(late)
  const lines = `${ended.stdout}\n${ended.stderr}`.split("\n")
  return ended.code === code && lines.some((line) => prints.test(line)) ? undefined : JSON.stringify({ args, ...ended }, undefined, 1)
}

describe("every command of the built command line", () => {
  it.live("loads what it needs in a process of its own, does what it is for, and ends with its code", () =>
    Effect.gen(function*() {
      const tests = "tests: [{ question: How many unused days of annual leave carry over?, files: [leave.md] }]\n"
      const body = { model: "m", messages: [{ role: "user", content: "Say something" }] }
      const cwd = yield* project({
        "pipeline.yaml": `${pipelineFile}${tests}`,
        "finer.yaml": pipelineFile.replace("size: 60", "size: 20"),
        "rows.jsonl": JSON.stringify({ custom_id: "a", method: "POST", url: "/v1/chat/completions", body }),
        "questions.txt": "How many unused days of annual leave carry over?\n"
      })
      const { stdout } = yield* Effect.promise(() => sluice(["--help"], { cwd }))
      const named = [...stdout.slice(stdout.indexOf("\nStart\n"), stdout.indexOf("\nFlags\n")).matchAll(/^ {2}([a-z]+) {2,}\S/gm)]
      assert.sameMembers([...new Set(cases.flat().map(({ args }) => args[0]))], named.map(([, name]) => name))
      const failures: Array<string> = []
      for (const together of cases) {
        const found = yield* Effect.forEach(together, (each) => Effect.promise(() => failureOf(each, cwd)), { concurrency: 2 })
        failures.push(...found.filter((failure) => failure !== undefined))
      }
      assert.deepStrictEqual(failures, [])
    }).pipe(Effect.scoped))
})
