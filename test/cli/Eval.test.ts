import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { fakeOpenAi, sendChat, sendEmbeddings } from "../fakes/Openai.ts"
import { command } from "../support/Command.ts"
import { events } from "../support/Finished.ts"
import { sluice } from "../support/Sluice.ts"
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
      // As a build does each time, the first time too.
      const first = yield* run("eval", "--save", "--against", "last")
      assert.deepStrictEqual([first.code, first.stderr], [
        0,
        "no result was saved yet: this is the first one, and there is nothing to compare it with\n"
      ])
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
          "{\"question\": \"How long does a damaged lithium cell stay?\", \"contexts\": [\"fourteen days\"]}\n\n{\"question\": \"x\", \"file\": []}\n"
      })
      const wrong = yield* run("eval", "--tests", "more.jsonl")
      assert.strictEqual(wrong.code, 4)
      assert.match(wrong.stderr, /^error: more\.jsonl is not a valid file of tests: 1 problem\n\nmore\.jsonl:3:\d+ {2}\[1\]\.file\n/)
      write(cwd, { "more.jsonl": "\n" })
      assert.match((yield* run("eval", "--tests", "more.jsonl")).stderr, /^more\.jsonl\n {2}has no tests\n {2}fix: .*sluice questions/m)
      write(cwd, {
        "more.jsonl": "\n{\"question\": \"How long does a damaged lithium cell stay?\", \"contexts\": [\"fourteen days\"]}\n\n"
      })
      const [result] = events(yield* run("eval", "--tests", "more.jsonl", "--json"))
      assert.deepInclude(result, { version: 1, type: "evaluation", pipeline: "test", passed: 1, failed: 0 })
    }).pipe(Effect.scoped))

  it.live(
    "says of a file that was not found why: gone, unread, forbidden to the asker, or what others have more of",
    () =>
      Effect.gen(function*() {
        const cwd = yield* project({
          "docs/broken.pdf": "%PDF-1.4 nothing of one",
          "pipeline.yaml": pipelineFile.replace("topK: 3", "topK: 1")
        })
        const run = (...args: ReadonlyArray<string>) => Effect.promise(() => command(args, { cwd }))
        yield* run("run")
        write(cwd, {
          "tests.csv":
            "question,files,contains,refused\n\"What is the hotel limit\nin Osaka?\",leave.md;batteries.txt,,\nWho carries leave over?,nowhere.md;broken.pdf,,\n"
        })
        const { code, stdout } = yield* run("eval", "--tests", "tests.csv")
        assert.strictEqual(code, 1)
        assert.match(
          stdout,
          /file: leave\.md .*its best passage has \d of \d words.*; the passage of travel\/hotels\.md, found first, [3-9] of \d words \([^)]*osaka/i
        )
        assert.match(stdout, /file: nowhere\.md .*; no source has a file of this path/)
        assert.match(stdout, /file: broken\.pdf .*; it is (?:failed|quarantined|skipped): /)
        const why = yield* run("explain", "hotel limit in Osaka", "--file", "nowhere.md")
        assert.deepStrictEqual([why.code, why.stdout], [0, "no source has a file of this path\n"])
        // What is known by the end of its path, or of its address, is not said to be in no source.
        write(cwd, { "ends.csv": "question,files\nWhich batteries?,hotels.md;docs/leave.md\n" })
        const ends = yield* run("eval", "--tests", "ends.csv")
        assert.notMatch(ends.stdout, /no source has/)
        assert.match(ends.stdout, /file: hotels\.md .*its best passage has/)
        assert.match(ends.stdout, /file: docs\/leave\.md .*its best passage has/)
        const end = yield* run("explain", "hotel limit in Osaka", "--file", "hotels.md")
        assert.match(end.stdout, /^its best passage has \d of/)
        const found = yield* run("explain", "hotel limit in Osaka", "--file", "travel/hotels.md")
        assert.match(found.stdout, /^its best passage has \d of \d words \([^)]*osaka[^)]*\), BM25 [\d.]+, cosine [\d.]+\n$/i)
      }).pipe(Effect.scoped)
  )

  it.live("has a model judge answers where the pipeline names one, and leaves it out when told", () =>
    Effect.gen(function*() {
      const { baseUrl, received } = yield* fakeOpenAi(({ body }, response) =>
        sendChat(response, [(body.messages.at(-1)?.content ?? "").includes("no limit") ? "WRONG" : "RIGHT"])
      )
      const cwd = yield* project({
        "pipeline.yaml": `${pipelineFile}judge: { model: { openai: { url: "${baseUrl}", model: judge-1 } } }\n`,
        "tests.csv":
          "question,id,contains,means\nHow many days of annual leave carry over?,leave,five,\nWhat is the hotel limit in Osaka?,osaka,,There is no limit.\n"
      })
      const run = (...args: ReadonlyArray<string>) => Effect.promise(() => command(args, { cwd }))
      yield* run("run")
      const judged = yield* run("eval", "--tests", "tests.csv", "--markdown", "report.md")
      assert.strictEqual(judged.code, 1, judged.stderr)
      assert.match(judged.stdout, /^osaka +judgement: There is no limit\. +The hotel limit in Osaka is 150 euros/m)
      const line = "judge judge-1: 1 right, 1 wrong; agrees with the exact checks on 1 of 1 (1.000, 1.000 to 1.000); 24 tokens in, 10 out"
      assert.include(judged.stdout.split("\n"), line)
      assert.include(readFileSync(join(cwd, "report.md"), "utf8").split("\n"), line)
      const [result] = events(yield* run("eval", "--tests", "tests.csv", "--json"))
      assert.deepInclude(result?.["judge"], {
        model: "judge-1",
        right: 1,
        wrong: 1,
        agreed: 1,
        tokens: { input: 24, output: 10, untold: 0 }
      })
      assert.lengthOf(received, 4)
      const alone = yield* run("eval", "--tests", "tests.csv", "--no-judge")
      assert.strictEqual(alone.code, 0, alone.stderr)
      assert.notInclude(alone.stdout, "judge")
      assert.strictEqual(alone.stderr, "without the judge 1 answer cannot be checked\n")
      assert.lengthOf(received, 4)
    }).pipe(Effect.scoped))

  it.live("reads tests of a CSV file, and places its mistakes", () =>
    Effect.gen(function*() {
      const cwd = yield* project()
      const run = (...args: ReadonlyArray<string>) => Effect.promise(() => command(args, { cwd }))
      yield* run("run")
      write(cwd, {
        "good.csv":
          "\uFEFFQuestion;files;contains;refused\r\nHow many days of annual leave carry over?;leave.md;five;\r\nWho won the cup in 1954?;;;yes\r\n",
        "column.csv": "question,file\nx,leave.md\n",
        "bad.csv": "question,files,refused\n\"two\nlines\",leave.md,\nx,,maybe\n"
      })
      assert.match((yield* run("eval", "--tests", "good.csv")).stdout, /2 tests passed/)
      const column = yield* run("eval", "--tests", "column.csv")
      assert.strictEqual(column.code, 4)
      assert.match(column.stderr, /column\.csv:1:1 {2}file\n {2}file is not a column of tests\n {2}fix: .*question, id, principal/)
      const bad = yield* run("eval", "--tests", "bad.csv")
      assert.strictEqual(bad.code, 4)
      assert.match(bad.stderr, /bad\.csv:4:1 {2}\[1\]\.refused\n/)
    }).pipe(Effect.scoped))

  it.live("sets two pipelines side by side, and tries settings on the tests without touching the corpus", () =>
    Effect.gen(function*() {
      const towns = ["Osaka", "Tokyo", "Hamburg", "Nairobi", "Lisbon", "Oslo", "Quito", "Riga"]
      const cwd = yield* project({
        "pipeline.yaml": pipelineFile,
        "other.yaml": pipelineFile.replace("name: test", "name: other").replace("displayName: Test", "displayName: Other").replace(
          "topK: 3",
          "topK: 1"
        ),
        "docs/towns.md": towns.map((town, n) => `# ${town}\n\nThe hotel limit in ${town} is ${100 + n} euros a night.\n`).join("\n"),
        "tests.jsonl": towns.map((town, n) =>
          JSON.stringify({
            question: `hotel limit in ${town}, and the quarantine cage for lithium cells`,
            contexts: [`${100 + n} euros`, "fourteen days"]
          })
        ).join("\n")
      })
      const run = (...args: ReadonlyArray<string>) => Effect.promise(() => command(args, { cwd }))
      yield* run("run", "pipeline.yaml")
      const early = yield* run("eval", "pipeline.yaml", "--tests", "tests.jsonl", "--compare", "other.yaml")
      assert.match(early.stderr, /run the pipeline first/)
      yield* run("run", "other.yaml")
      const compared = yield* run("eval", "pipeline.yaml", "--tests", "tests.jsonl", "--compare", "other.yaml")
      assert.strictEqual(compared.code, 0, compared.stderr)
      assert.match(compared.stdout, /^other\.yaml beside pipeline\.yaml:$/m)
      assert.match(compared.stdout, /^text in contexts +1\.000 +0\.500 +-0\.500 .* worse$/m)
      assert.match(compared.stdout, /^Keep pipeline\.yaml: with other\.yaml text in contexts -0\.500/m)

      const before = (yield* run("corpora", "list", "--json")).stdout
      const tuned = yield* run("tune", "other.yaml", "--tests", "tests.jsonl", "--top-k", "1,8", "--chunk-size", "30,60")
      assert.strictEqual(tuned.code, 0, tuned.stderr)
      assert.match(tuned.stdout, /^current +0\.500/m)
      assert.match(tuned.stdout, /^chunk size (?:30|60), topK 8 +1\.000 +\+0\.500 \(\+0\.500 to \+0\.500\) +0\.0\d/m)
      assert.match(tuned.stdout, /^Take chunk size (?:30|60), topK 8: text in contexts \+0\.500 \(\+0\.500 to \+0\.500\)\.$/m)
      assert.match(tuned.stderr, /^4 of 4: chunk size 60, topK 8$/m)
      assert.strictEqual((yield* run("corpora", "list", "--json")).stdout, before, "what was built to be tried is gone")
      const nothing = yield* run("tune", "other.yaml")
      assert.strictEqual(nothing.code, 4)
      assert.match(nothing.stderr, /there is nothing to try\n *fix: give values/)
    }).pipe(Effect.scoped))

  it.live("tries embedders, each of which embeds a text once and leaves nothing behind", () =>
    Effect.gen(function*() {
      const towns = ["Osaka", "Tokyo", "Hamburg", "Nairobi", "Lisbon", "Oslo", "Quito", "Riga"]
      // It knows which town is meant by a number, which words do not tell.
      const service = yield* fakeOpenAi((request, response) =>
        sendEmbeddings(
          request,
          response,
          (text) => towns.map((town, n) => text.includes(town) || text.includes(`number ${n}`) ? 1 : 0.01)
        )
      )
      const cwd = yield* project({
        "pipeline.yaml": `${pipelineFile.replace("topK: 3", "topK: 1, hybrid: { alpha: 1 }")}notify: [{ command: [touch, told] }]\n`,
        ...Object.fromEntries(
          towns.map((town) => [`docs/${town}.md`, `# ${town}\n\n${"A night there is paid up to the limit. ".repeat(12)}\n`])
        ),
        "tests.jsonl": towns.map((town, n) => JSON.stringify({ question: `lodging at city number ${n}`, files: [`${town}.md`] })).join("\n")
      })
      const run = (...args: ReadonlyArray<string>) => Effect.promise(() => command(args, { cwd }))
      yield* run("run")
      rmSync(join(cwd, "told"))
      const before = (yield* run("corpora", "list", "--json")).stdout
      const fake = `{ openai: { url: "${service.baseUrl}", model: towns-8, dimensions: 8 } }`
      const tune = ["tune", "--tests", "tests.jsonl", "--embedder", "default", "--embedder", fake, "--chunk-size", "40,60"]
      const tuned = yield* run(...tune)
      assert.strictEqual(tuned.code, 0, tuned.stderr)
      assert.match(tuned.stderr, /^4 of 4: embedder towns-8, chunk size 60$/m)
      assert.match(tuned.stdout, /^embedder towns-8, chunk size (?:40|60) +1\.000 +\+[\d.]+ \(\+/m)
      assert.match(tuned.stdout, /^Take embedder towns-8, chunk size (?:40|60): nDCG@10 \+[\d.]+ \(\+/m)
      assert.strictEqual((yield* run("corpora", "list", "--json")).stdout, before)
      assert.isFalse(existsSync(join(cwd, "told")), "nobody is told of runs that try something")
      const texts = service.received.flatMap(({ body }) => body.input)
      const documents = texts.filter((text) => !text.includes("number") && text !== "yes")
      assert.isAbove(documents.length, 0)
      assert.strictEqual(new Set(documents).size, documents.length, "each text is embedded once")
      const count = service.received.length
      yield* run(...tune)
      const again = service.received.slice(count).flatMap(({ body }) => body.input)
      assert.isEmpty(again.filter((text) => documents.includes(text)), "and is known the next time")

      const gone = yield* run("tune", "--tests", "tests.jsonl", "--embedder", fake, "--embedder", "./nowhere")
      assert.strictEqual(gone.code, 1)
      assert.match(gone.stderr, /corpus\.embedding\.local: /)
      const wrong = yield* run("tune", "--tests", "tests.jsonl", "--embedder", "{ openai: { url: 3 } }")
      assert.strictEqual(wrong.code, 4)
      assert.match(wrong.stderr, /--embedder:1:\d+ {2}openai\.url\n/)
      const hosted = yield* run("tune", "--tests", "tests.jsonl", "--embedder", "{ model: text-embedding-005 }")
      assert.strictEqual(hosted.code, 4)
      assert.match(hosted.stderr, /--embedder {2}corpus\.embedding\n.*the embedded engine has no/)
    }).pipe(Effect.scoped))
})
