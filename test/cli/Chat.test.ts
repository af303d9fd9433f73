import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { events } from "../support/Finished.ts"
import { command } from "../support/Command.ts"
import { sluice } from "../support/Sluice.ts"
import { pipelineFile, project } from "./Project.ts"

const run = (cwd: string, args: ReadonlyArray<string>, input?: string) =>
  Effect.promise(() => input === undefined ? command(args, { cwd }) : sluice(args, { cwd, input }))

describe("chat", () => {
  it.live("carries on a conversation, and shows what it searched for", () =>
    Effect.gen(function*() {
      const cwd = yield* project({
        "docs/tokyo.md": "# Hotels\n\nThe hotel limit in Tokyo is 180 euros a night.\n",
        "pipeline.yaml": pipelineFile.replace("- generate: { model: extractive }", "- chat: { turns: 4 }")
      })
      yield* run(cwd, ["run"])
      const talk = "What is the hotel limit in Osaka?\nAnd in Tokyo?\n\n/nonsense\n/new\nAnd in Tokyo?\n/quit\nnever asked\n"
      const { code, stderr, stdout } = yield* run(cwd, ["chat"], talk)
      assert.strictEqual(code, 0, stderr)
      assert.match(stdout, /Osaka is 150 euros a night\. \[1\]\n\(confidence 0\.\d\d\)\n\n {2}\[1\] travel\/hotels\.md\n/)
      assert.match(stdout, /\n\nQ: .*\n.*Tokyo is 180 euros/)
      assert.match(stderr, /searching for: What is the hotel limit in Tokyo\?\)/)
      assert.match(stderr, /\/new starts over/)
      assert.match(stderr, /\(a new conversation\)$/m)
      assert.strictEqual(stderr.match(/searching for/g)?.length, 1, "after /new nothing is carried over")

      const [first, second, ...more] = events(yield* run(cwd, ["chat", "--json"], "What is the hotel limit in Osaka?\nAnd in Tokyo?\n"))
      assert.deepInclude(first, {
        version: 1,
        question: "What is the hotel limit in Osaka?",
        standalone: "What is the hotel limit in Osaka?",
        grounded: true
      })
      assert.deepInclude(second, { question: "And in Tokyo?", standalone: "What is the hotel limit in Tokyo?" })
      assert.lengthOf(more, 0)

      const single = yield* run(cwd, ["ask", "What is the hotel limit in Osaka?"])
      assert.strictEqual(single.code, 0, "a chat stage answers a single question too")
    }).pipe(Effect.scoped))

  it.live("needs a stage that answers", () =>
    Effect.gen(function*() {
      const cwd = yield* project({ "pipeline.yaml": pipelineFile.replace(/ {2}- generate.*\n/, "") })
      const { code, stderr } = yield* run(cwd, ["chat"], "Why?\n")
      assert.strictEqual(code, 1)
      assert.match(stderr, /neither a chat nor a generate stage.*\nfix: add `- chat: \{\}` to stages/)
    }).pipe(Effect.scoped))
})
