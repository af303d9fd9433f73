import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { events, sluice } from "../support/Sluice.ts"
import { write } from "../support/TempFolder.ts"
import { pipelineFile, project } from "./Project.ts"

const tests = `
tests:
  - question: How many unused days of annual leave carry over?
    files: [{ path: leave.md, rank: 1 }]
    answer: { contains: [five] }
    cites: [leave.md]
  - id: osaka
    question: What is the hotel limit in Osaka?
    files: [travel/hotels.md]
    answer: { matches: "1[0-9]0 euros" }
  - question: Who won the cup in 1954?
    refused: true
`

describe("eval", () => {
  it.live("passes, and after an edit names the test it broke, the document that did it, and what is noise", () =>
    Effect.gen(function*() {
      const cwd = yield* project({ "pipeline.yaml": `${pipelineFile}${tests}` })
      const run = (...args: ReadonlyArray<string>) => Effect.promise(() => sluice(args, { cwd }))
      assert.strictEqual((yield* run("run")).code, 0)
      const none = yield* run("eval", "--against", "last")
      assert.strictEqual(none.code, 4)
      assert.match(none.stderr, /no result was saved yet\n *fix: .*--save/)
      const first = yield* run("eval", "--save")
      assert.deepStrictEqual([first.code, first.stderr], [0, ""])
      assert.match(first.stdout, /^answer right +1\.000 +1\.000 to 1\.000 +2$/m)
      assert.match(first.stdout, /^3 tests passed; /m)
      assert.lengthOf(readdirSync(join(cwd, ".sluice/evaluations/test")), 1)

      write(join(cwd, "docs"), { "travel/hotels.md": "# Hotels\n\nThe hotel limit in Osaka is 210 euros a night.\n" })
      assert.strictEqual((yield* run("run")).code, 0)
      const second = yield* run("eval", "--against", "last", "--junit", "report.xml", "--markdown", "report.md")
      assert.strictEqual(second.code, 1)
      assert.match(second.stdout, /^osaka +answer: \/1\[0-9\]0 euros\/ +The hotel limit in Osaka is 210 euros/m)
      assert.match(second.stdout, /^broken +osaka +travel\/hotels\.md$/m)
      assert.match(second.stdout, /^answer right +1\.000 +0\.500 .* noise$/m)
      assert.match(second.stderr, /dropped by more than 0\.02: answerRight/)
      assert.match(readFileSync(join(cwd, "report.xml"), "utf8"), /<testcase classname="test" name="osaka" time="[\d.]+">\n {6}<failure /)
      assert.include(readFileSync(join(cwd, "report.md"), "utf8"), "| broken | osaka | travel/hotels.md |")

      write(cwd, {
        "more.jsonl":
          "{\"question\": \"How long does a damaged lithium cell stay?\", \"contexts\": [\"fourteen days\"]}\n{\"question\": \"x\", \"file\": []}\n"
      })
      const wrong = yield* run("eval", "--tests", "more.jsonl")
      assert.strictEqual(wrong.code, 4)
      assert.match(wrong.stderr, /more\.jsonl:2:\d+ {2}\[1\]\.file\n/)
      write(cwd, { "more.jsonl": "{\"question\": \"How long does a damaged lithium cell stay?\", \"contexts\": [\"fourteen days\"]}\n" })
      const [result] = events(yield* run("eval", "--tests", "more.jsonl", "--json"))
      assert.deepInclude(result, { version: 1, type: "evaluation", pipeline: "test", passed: 1, failed: 0 })
    }).pipe(Effect.scoped), 60_000)
})
