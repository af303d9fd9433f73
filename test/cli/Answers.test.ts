import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { command } from "../support/Command.ts"
import { events } from "../support/Finished.ts"
import { tempFolder } from "../support/TempFolder.ts"
import { pipelineFile, project } from "./Project.ts"

const run = (cwd: string, args: ReadonlyArray<string>, env: Record<string, string> = {}) =>
  Effect.promise(() => command(args, { cwd, env }))

const filled = (files: Record<string, string> = {}) =>
  Effect.tap(project(files), (cwd) => Effect.map(run(cwd, ["run"]), ({ code, stderr }) => assert.strictEqual(code, 0, stderr)))

describe("ask, retrieve, explain", () => {
  it.live("answers with numbered citations, one question or several", () =>
    Effect.gen(function*() {
      const cwd = yield* filled()
      const one = yield* run(cwd, ["ask", "How many unused days of annual leave carry over?"])
      assert.deepStrictEqual([one.code, one.stderr], [0, ""])
      assert.match(
        one.stdout,
        /^Five unused days .* \[1\]\n\(confidence 0\.\d\d\)\n\n {2}\[1\] leave\.md\n(?: {6}\w.*\n)? {6}"Five unused days [^]*\n {6}file:\/\/\S+leave\.md/m
      )
      const two = yield* run(cwd, ["ask", "What is the hotel limit in Osaka?", "Who won the cup in 1954?", "--json"])
      const [osaka, cup] = events(two)
      assert.deepInclude(osaka, { version: 1, question: "What is the hotel limit in Osaka?", grounded: true })
      assert.deepInclude(cup, { version: 1, grounded: false, citations: [] })
    }).pipe(Effect.scoped))

  it.live("retrieves and explains: terms, corrected words, weights, cosine, fusion", () =>
    Effect.gen(function*() {
      const cwd = yield* filled({ "docs/readme.txt": "What the handbook is about.\n" })
      const [found] = events(yield* run(cwd, ["retrieve", "lithium", "-k", "1", "--json"]))
      assert.deepInclude(found, { version: 1, query: "lithium" })
      assert.lengthOf(found?.["contexts"] as Array<unknown>, 1)
      const text = (yield* run(cwd, ["explain", "what about the lithum cell", "-k", "1"])).stdout
      for (
        const line of [
          /^ {2}term +written +in chunks$/m,
          /^ {2}lithium +lithum, corrected +1$/m,
          /^ {2}about +about, counts 0\.1 +1$/m,
          /^1\. {2}batteries\.txt$/m,
          /^ {4}mixed +1\.000 = 0\.\d+ x words 1\.000 \+ 0\.\d+ x meaning/m,
          /^ {4}words +\d+\.\d+ BM25 = .*lithium \d+\.\d+ \(1x\)/m,
          /^ {4}meaning +-?\d+\.\d+ cosine(?:, -?\d+\.\d+ with what the best are about)?$/m,
          /^ {4}score +1\.000 = \(mixed \+ 0\.3 x 1\.000 of the query's words in a row\) \/ 1\.3$/m
        ]
      ) assert.match(text, line)
      const literal = yield* run(cwd, ["explain", "lithum", "--no-spelling", "--alpha", "0"])
      assert.notMatch(literal.stdout, /corrected/)
    }).pipe(Effect.scoped))

  it.live("says which key of a filter no file has, where nothing passes it", () =>
    Effect.gen(function*() {
      const cwd = yield* filled({
        "pipeline.yaml": `${pipelineFile}metadata:\n  team: { property: team }\n`,
        "docs/pager.md": "---\nteam: ops\n---\n# Pager\n\nThe pager is on the desk of the warden at night.\n"
      })
      const asked = (...args: ReadonlyArray<string>) => run(cwd, [...args, "where is the pager"])
      assert.deepStrictEqual((yield* asked("retrieve", "--where", "team == \"ops\"")).stderr, "")
      const misspelt = yield* asked("retrieve", "--where", "taem == \"ops\" && has(team)")
      assert.deepStrictEqual([misspelt.code, misspelt.stderr], [0, "No file has taem, which --where names; did you mean team?\n"])
      const unknown = yield* asked("ask", "--where", "colour == 3")
      assert.strictEqual(unknown.stderr, "No file has colour, which --where names: they have team.\n")
      // Nobody has that value: the key is right.
      assert.strictEqual((yield* asked("retrieve", "--where", "team == \"law\"")).stderr, "")
    }).pipe(Effect.scoped))

  it.live("fits the width, and cuts nothing in a pipe", () =>
    Effect.gen(function*() {
      const long = `${"a-rather-long-folder-name/".repeat(4)}and-a-file.md`
      const cwd = yield* filled({ [`docs/${long}`]: `# Valves\n\n${"Close the valve before the meter is opened. ".repeat(30)}\n` })
      const commands = [["retrieve", "valve"], ["ask", "When is the valve closed?"], ["explain", "valve"], ["files", "list"], [
        "plan",
        "--all"
      ], ["status", "--files"]]
      for (const args of commands) {
        const { stdout } = yield* run(cwd, args, { COLUMNS: "60" })
        assert.isAbove(stdout.length, 0)
        // A path that heads a context is not cut: it is what a person goes looking for.
        assert.deepStrictEqual(stdout.split("\n").filter((line) => line.length > 60 && !line.includes(long)), [], args.join(" "))
      }
      assert.include((yield* run(cwd, ["files", "list"])).stdout, long)
    }).pipe(Effect.scoped))

  it.live("keeps what others wrote from driving the terminal", () =>
    Effect.gen(function*() {
      const attack = "\u001b]0;owned\u0007\u001b[2J\u009b31m\u202eevil"
      const cwd = yield* filled({
        [`docs/a\u001b[31mred\rname.md`]: `# Pump${attack}\n\nThe pump${attack} needs ${attack}oil.\n`,
        "pipeline.yaml": pipelineFile.replace("displayName: Test", `displayName: "T\\e[31mest"`)
      })
      for (
        const args of [
          ["run"],
          ["plan", "--all"],
          ["status", "--files"],
          ["files", "list"],
          ["corpora", "list"],
          ["retrieve", "pump oil"],
          ["ask", `What does the pump need?${attack}`, "And the oil?"],
          ["explain", `pump${attack}`],
          ["files", "get", "no\u001b[31m"],
          [`${attack}`],
          ["run", `--${attack}`]
        ]
      ) {
        const { stderr, stdout } = yield* run(cwd, args)
        // oxlint-disable-next-line no-control-regex
        assert.notMatch(stdout + stderr, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/, JSON.stringify(args))
      }
    }).pipe(Effect.scoped))

  it.live("says what to do before the first run, and without a stage", () =>
    Effect.gen(function*() {
      const cwd = yield* project()
      const early = yield* run(cwd, ["ask", "anything?"])
      assert.deepStrictEqual([early.code, early.stdout], [1, ""])
      assert.match(early.stderr, /^error: corpus "Test" was not found\nfix: run the pipeline first: sluice run$/m)
      const json = yield* run(cwd, ["retrieve", "x", "--json"])
      assert.deepInclude(events(json)[0], { version: 1, type: "error", error: "ServiceError", code: "NOT_FOUND" })
      const cwd2 = yield* tempFolder
      assert.strictEqual((yield* run(cwd2, ["ask", "x"])).code, 4)
    }).pipe(Effect.scoped))
})
