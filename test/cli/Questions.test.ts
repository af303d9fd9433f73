import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { contextsOfPrompt } from "../../src/models/Prompts.ts"
import { fakeOpenAi, sendChat, sendJson } from "../fakes/Openai.ts"
import { command } from "../support/Command.ts"
import { events } from "../support/Finished.ts"
import { sluice } from "../support/Sluice.ts"
import { write } from "../support/TempFolder.ts"
import { pipelineFile, project } from "./Project.ts"

const documents = {
  "gauges.md":
    "# Instruments\n\nA rain gauge is an instrument that collects rain in a graduated tube.\n\n## How is the tube emptied?\n\nThe tube is emptied every morning at nine by the warden.\n",
  "birds.md": "# Birds of the yard\n\nThe swift is a bird that sleeps on the wing. ${HOME} is not a nest.\n",
  "twin-a.md": "# Ledger\n\nA ledger is a book in which every payment is written.\n",
  "twin-b.md": "# Ledger\n\nA ledger is a beam that carries the boards of a scaffold.\n"
}

describe("sluice questions", () => {
  it.live("drafts tests that the corpus passes, the same ones every time, and says what it did not take", () =>
    Effect.gen(function*() {
      const cwd = yield* project(Object.fromEntries(Object.entries(documents).map(([name, text]) => [`docs/${name}`, text])))
      const run = (...args: ReadonlyArray<string>) => Effect.promise(() => command(args, { cwd }))
      assert.strictEqual((yield* run("run")).code, 0)
      const drafted = yield* run("questions", "--out", "questions.jsonl")
      assert.strictEqual(drafted.code, 0, drafted.stderr)
      const first = readFileSync(join(cwd, "questions.jsonl"), "utf8")
      assert.include(first, "What is a rain gauge?")
      assert.include(first, "What is the swift?")
      const found = events(yield* run("questions", "--json"))[0] as {
        tests: ReadonlyArray<{ question: string }>
        drafts: number
        rejected: Record<string, number>
      }
      assert.strictEqual(found.tests.map((test) => JSON.stringify(test)).join("\n"), first.trimEnd().replaceAll("$${", "${"))
      // Two files say what a ledger is: it is asked once at most.
      assert.isAtMost(found.tests.filter(({ question }) => question === "What is a ledger?").length, 1)
      assert.strictEqual(Object.values(found.rejected).reduce((sum, count) => sum + count, found.tests.length), found.drafts)
      assert.isAbove(found.rejected["ambiguous"] ?? 0, 0)
      assert.match(drafted.stderr, /^\d+ tests of 7 files; \d+ of \d+ drafts rejected: \d+ ambiguous/)
      assert.strictEqual((yield* run("eval", "--tests", "questions.jsonl")).code, 0)
      assert.strictEqual((yield* run("questions", "--from", "docs", "--count", "2", "--out", "two.yaml")).code, 0)
      const two = yield* run("eval", "--tests", "two.yaml", "--json")
      assert.deepInclude(JSON.parse(two.stdout), { passed: 2, failed: 0 })
      // A file that nothing can be drafted from.
      write(join(cwd, "docs"), { "few/short.md": "# Short\n\nYes.\n" })
      yield* run("run")
      const empty = yield* run("questions", "--from", "few", "--out", "few.jsonl")
      assert.strictEqual(empty.code, 1)
      assert.match(empty.stderr, /^0 tests of 1 file;.*\nerror: no test could be drafted, and few\.jsonl is not written\nfix: /)
      assert.isFalse(existsSync(join(cwd, "few.jsonl")))
      const none = yield* run("questions", "--from", "nowhere")
      assert.strictEqual(none.code, 1)
      assert.include(none.stderr, "a file from nowhere was not found")
      // Another answer than the one it was drafted from: the drafts are of the corpus as it is.
      write(join(cwd, "docs"), { "gauges.md": "# Instruments\n\nNothing is measured here any more.\n" })
      yield* run("run")
      assert.notInclude((yield* run("questions")).stdout, "rain gauge")
    }).pipe(Effect.scoped))

  it.live(
    "lets the pipeline's model draft, and drops what it invents, what it does not answer itself, and what it fails at",
    () =>
      Effect.gen(function*() {
        const { baseUrl, mostOpen, received } = yield* fakeOpenAi(({ body: { messages } }, response) => {
          const [system = "", user = ""] = messages.map(({ content }) => content)
          if (system.startsWith("You write questions")) {
            if (user.includes("swift")) return sendJson(response, 400, { error: { message: "too hot" } })
            if (!user.includes("rain gauge")) return sendChat(response, ["NONE"])
            return sendChat(response, [
              "Q: What collects the rain of the yard?\nA: A rain gauge is an instrument that collects rain in a graduated tube.\n",
              "Q: What does a rain gauge cost?\nA: A rain gauge costs forty euros."
            ])
          }
          const prompt = contextsOfPrompt({ system, turns: [{ role: "user", parts: [{ type: "text", text: user }] }] })
          const at = prompt?.contexts.findIndex(({ text }) => text.includes("A rain gauge is")) ?? -1
          sendChat(response, [at === -1 ? "NO ANSWER" : `A rain gauge does [${at + 1} "collects rain in a graduated tube"].`])
        })
        const cwd = yield* project({
          ...Object.fromEntries(Object.entries(documents).map(([name, text]) => [`docs/${name}`, text])),
          "pipeline.yaml": pipelineFile.replace("model: extractive", `model: { openai: { url: "${baseUrl}", model: writer-1 } }`)
        })
        const run = (...args: ReadonlyArray<string>) => Effect.promise(() => command(args, { cwd }))
        yield* run("run")
        const drafted = yield* run("questions", "--json")
        assert.strictEqual(drafted.code, 0, drafted.stderr)
        const [found] = events(drafted)
        assert.deepStrictEqual(found?.["tests"], [{
          question: "What collects the rain of the yard?",
          files: ["gauges.md"],
          contexts: ["A rain gauge is an instrument that collects rain in a graduated tube."],
          cites: ["gauges.md"]
        }])
        const passages = received.filter(({ body }) => body.messages[0]?.content.startsWith("You write questions")).length
        assert.deepInclude(found?.["drafting"], { model: "writer-1", passages, failed: 1 })
        assert.deepInclude(found?.["rejected"], { invented: 1, failed: 0 })
        assert.match(
          drafted.stderr,
          /^1 test of 7 files; 1 of 2 drafts rejected: 1 invented\nwriter-1 drafted from \d+ passages, and failed for 1 of them; \d+ tokens in, \d+ out/m
        )
        assert.isAtMost(mostOpen(), 4)
        const before = received.length
        const ruled = yield* run("questions", "--no-model", "--json")
        assert.notProperty(events(ruled)[0], "drafting")
        assert.isTrue(received.slice(before).every(({ body }) => !body.messages[0]?.content.startsWith("You write questions")))
      }).pipe(Effect.scoped)
  )

  it.live("ends where the model fails again and again", () =>
    Effect.gen(function*() {
      const { baseUrl, received } = yield* fakeOpenAi((_, response) => sendJson(response, 400, { error: { message: "no such model" } }))
      const cwd = yield* project({
        ...Object.fromEntries(
          Array.from({ length: 20 }, (_, n) => [`docs/${n}.md`, `# Rule ${n}\n\nRule number ${n} holds on every day of the year.\n`])
        ),
        "pipeline.yaml": pipelineFile.replace("model: extractive", `model: { openai: { url: "${baseUrl}", model: writer-1 } }`)
      })
      const run = (...args: ReadonlyArray<string>) => Effect.promise(() => sluice(args, { cwd }))
      yield* run("run")
      const { code, stderr } = yield* run("questions")
      assert.strictEqual(code, 1)
      assert.match(stderr, /five failures in a row: .*no such model/)
      assert.isAtMost(received.length, 9, "five, and those under way beside them")
    }).pipe(Effect.scoped))
})
