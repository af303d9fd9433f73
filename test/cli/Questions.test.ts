import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { draftsOf } from "../../src/pipeline/eval/Questions.ts"
import { events, sluice } from "../support/Sluice.ts"
import { write } from "../support/TempFolder.ts"
import { project } from "./Project.ts"

describe("drafts of a passage", () => {
  it("are its definitions, and its headings where they ask or name what stands under them", () => {
    const questions = (text: string, ...headings: ReadonlyArray<string>) => draftsOf({ text, headings }).map(({ question }) => question)
    assert.deepStrictEqual(questions("A rain gauge is an instrument that measures how much rain fell. It is a tube."), [
      "What is a rain gauge?"
    ])
    assert.deepStrictEqual(questions("Barometers are devices that measure the pressure of the air."), ["What are Barometers?"])
    assert.deepStrictEqual(questions("RAG stands for retrieval augmented generation in this handbook."), ["What does RAG stand for?"])
    assert.deepStrictEqual(questions("Ein Pegel ist ein Gerät, das den Stand des Wassers misst."), ["Was ist ein Pegel?"])
    assert.deepStrictEqual(questions("Open the lid and pour the water out.", "How is it emptied?"), ["How is it emptied?"])
    assert.deepStrictEqual(questions("Five unused days carry over into the next year.", "Leave", "Carry over of leave"), [
      "Carry over of leave?"
    ])
    // Of nothing that leans on what was said before, of nothing that is too short, and of no fragment.
    for (
      const text of [
        "It is a tube of glass that is open above.",
        "This is the reason for all that came.",
        "A dog is a pet.",
        "A list is a thing that goes",
        "roups is a word that was cut in the middle.",
        "Its flagship products are the consoles that everybody has.",
        "Frequently criticized are the ease of use and the price."
      ]
    ) {
      assert.deepStrictEqual(questions(text), [])
    }
  })
})

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
      const run = (...args: ReadonlyArray<string>) => Effect.promise(() => sluice(args, { cwd }))
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
      const none = yield* run("questions", "--from", "nowhere")
      assert.strictEqual(none.code, 1)
      assert.include(none.stderr, "a file from nowhere was not found")
      // Another answer than the one it was drafted from: the drafts are of the corpus as it is.
      write(join(cwd, "docs"), { "gauges.md": "# Instruments\n\nNothing is measured here any more.\n" })
      yield* run("run")
      assert.notInclude((yield* run("questions")).stdout, "rain gauge")
    }).pipe(Effect.scoped), 120_000)
})
