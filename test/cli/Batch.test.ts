import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { fakeGcs } from "../fakes/Gcs.ts"
import { fakeServer, sendJson } from "../fakes/Http.ts"
import { fakeOpenAi, sendChat, sendJson as refuse } from "../fakes/Openai.ts"
import { batchLine } from "../support/EchoModel.ts"
import { command } from "../support/Command.ts"
import { events } from "../support/Finished.ts"
import { sluice, start } from "../support/Sluice.ts"
import { tempFolder, write } from "../support/TempFolder.ts"
import { pipelineFile, project } from "./Project.ts"

const run = (cwd: string, args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
  Effect.promise(() => command(args, { cwd, env }))

/** The same by the built program, in a process of its own. */
const built = (cwd: string, args: ReadonlyArray<string>) => Effect.promise(() => sluice(args, { cwd }))

const asking = (url: string) => `
name: ask
corpus: { displayName: Ask }
sources: {}
stages: [{ retrieve: {} }, { generate: { model: { openai: { url: "${url}", model: m } } } }]
`

const jsonLines = (path: string): ReadonlyArray<Record<string, unknown>> =>
  readFileSync(path, "utf8").split("\n").filter((line) => line !== "").map((line) => JSON.parse(line))

describe("batch jobs on this machine", () => {
  it.live("go on after kill -9 where they were, and their results are joined to the rows", () =>
    Effect.gen(function*() {
      const cwd = yield* tempFolder
      const reached = yield* Deferred.make<void>()
      const asked: Array<string> = []
      let held = true
      const upstream = yield* fakeOpenAi((request, response) => {
        const text = request.body.messages.map(({ content }) => content).join("")
        asked.push(text)
        if (text.includes("refuse")) return refuse(response, 400, { error: { message: "refused", type: "invalid_request_error" } })
        // The process is killed while this one waits.
        if (text.includes("hold") && held) return void Effect.runSync(Deferred.succeed(reached, undefined))
        sendChat(response, ["You said: ", text])
      })
      const rows = Array.from({ length: 12 }, (_, at) =>
        batchLine(`r${at}`, `q${at}.${at === 3 ? " refuse" : at === 7 ? " hold" : ""}`, { team: at }))
      write(cwd, { "pipeline.yaml": asking(upstream.baseUrl), "questions.jsonl": rows.join("\n") })
      const { child, finished } = start(["batch", "submit", "questions.jsonl", "--name", "nightly", "--label", "team=a"], { cwd })
      yield* Effect.raceFirst(
        Deferred.await(reached),
        Effect.flatMap(
          Effect.promise(() =>
            finished
          ),
          (end) => Effect.die(new Error(`it ended: ${end.stderr}`))
        )
      )
      child.kill("SIGKILL")
      yield* Effect.promise(() => finished)
      held = false
      const before = asked.length
      const [listed] = events(yield* built(cwd, ["batch", "list", "--json"]))
      assert.deepInclude(listed, { version: 1, displayName: "nightly", state: "RUNNING", labels: { team: "a" } })
      const id = String(listed?.["name"]).split("/").at(-1) ?? ""
      const ended = yield* built(cwd, ["batch", "status", id, "--wait"])
      assert.strictEqual(ended.code, 3, ended.stderr)
      assert.match(
        ended.stdout,
        /^partially succeeded {2}projects\/local\/.*\nanswered 11, failed 1, not reached 0\n {2}questions\.jsonl:4: .*refused/
      )
      // Only what was under way may be asked a second time.
      assert.isAtMost(asked.length, 12 + 4)
      assert.isAtLeast(asked.length, 12)
      assert.isAbove(before, 0)

      const [folder = ""] = readdirSync(cwd).filter((name) => name.startsWith("prediction-"))
      const predictions = jsonLines(join(cwd, folder, "predictions_0001.jsonl"))
      assert.deepStrictEqual(
        predictions.map((row) => row["custom_id"]),
        Array.from({ length: 12 }, (_, at) => `r${at}`).filter((name) => name !== "r3")
      )
      assert.lengthOf(jsonLines(join(cwd, folder, "errors_0001.jsonl")), 1)

      const joined = yield* built(cwd, ["batch", "results", id, "-o", "answers.jsonl", "--again", "again.jsonl"])
      assert.deepStrictEqual([joined.code, joined.stderr], [3, "answered 11, failed 1, missing 0\n"])
      const answers = jsonLines(join(cwd, "answers.jsonl"))
      assert.deepInclude(answers[0], { custom_id: "r0", team: 0, state: "answered", text: "You said: q0." })
      assert.strictEqual(answers[3]?.["state"], "failed")
      assert.strictEqual(
        readFileSync(join(cwd, "again.jsonl"), "utf8"),
        `${JSON.stringify({ custom_id: "r3", team: 3, body: JSON.parse(rows[3] ?? "").body })}\n`
      )
    }).pipe(Effect.scoped))

  it.live("read tables and refuse rows, each mistake at its line", () =>
    Effect.gen(function*() {
      const cwd = yield* tempFolder
      const db = new DatabaseSync(join(cwd, "prompts.db"))
      db.exec("CREATE TABLE prompts (custom_id TEXT, body JSON)")
      db.prepare("INSERT INTO prompts VALUES ('a', ?)").run(
        JSON.stringify({ messages: [{ role: "user", content: "The limit is 150 euros.\n\nWhat is the limit?" }] })
      )
      const done = yield* run(cwd, ["batch", "submit", "bq://p.main.prompts", "--tables", "prompts.db", "--to", "p.main.answers", "--json"])
      assert.strictEqual(done.code, 0, done.stderr)
      assert.deepInclude(events(done)[0], { state: "SUCCEEDED", results: { table: { uri: "bq://p.main.answers" } } })
      assert.include(String(db.prepare("SELECT response FROM answers").get()?.["response"]), "The limit is 150 euros.")
      db.close()
      write(cwd, { "bad.jsonl": `${batchLine("a")}\n{\n${batchLine("a")}` })
      const refused = yield* run(cwd, ["batch", "submit", "bad.jsonl"])
      assert.deepStrictEqual([refused.code, refused.stdout, refused.stderr], [
        1,
        "",
        "error: bad.jsonl:2: the line is not JSON, or nested too deeply\nbad.jsonl:3: custom_id: is that of bad.jsonl:1 too\n"
      ])
    }).pipe(Effect.scoped))

  it.live("answer a file of questions from a corpus, with citations, and ask again those that failed", () =>
    Effect.gen(function*() {
      let down = true
      const asked: Array<string> = []
      const upstream = yield* fakeOpenAi((request, response) => {
        const text = request.body.messages.map(({ content }) => content).join("")
        asked.push(text)
        if (text.includes("king of France") && down) {
          return refuse(response, 400, { error: { message: "not now", type: "invalid_request_error" } })
        }
        sendChat(response, [
          text.includes("king of France") ? "NO ANSWER" : "It is 150 euros a night [1 \"The hotel limit in Osaka is 150 euros a night.\"]."
        ])
      })
      const cwd = yield* project({
        "questions.jsonl":
          "{\"custom_id\":\"q1\",\"question\":\"What is the hotel limit in Osaka?\"}\n{\"question\":\"Who is the king of France?\",\"team\":\"x\"}\n"
      })
      write(cwd, {
        "pipeline.yaml": pipelineFile.replace("model: extractive", `model: { openai: { url: "${upstream.baseUrl}", model: m } }`)
      })
      yield* run(cwd, ["run"])
      const missing = yield* run(cwd, ["batch", "run", "pipeline.yaml", "none.jsonl"])
      assert.deepStrictEqual([missing.code, missing.stderr.split("\n")[0]], [4, "error: questions: none.jsonl cannot be read"])
      const dash = yield* run(cwd, ["batch", "run", "pipeline.yaml", "questions.jsonl", "-o", "-"])
      assert.deepStrictEqual([dash.code, asked], [4, []])
      const ask = ["batch", "run", "pipeline.yaml", "questions.jsonl", "-o", "out.jsonl", "--concurrency", "2"]
      const failed = yield* run(cwd, ask)
      assert.deepStrictEqual([failed.code, failed.stdout], [3, "answered 1, not in the corpus 0, failed 1: out.jsonl\n"], failed.stderr)
      assert.match(failed.stderr, /run it again to ask only the failed questions/)
      const [first, second] = jsonLines(join(cwd, "out.jsonl"))
      assert.deepInclude(first, { custom_id: "q1", grounded: true })
      const quote = "The hotel limit in Osaka is 150 euros a night."
      assert.match(JSON.stringify(first?.["citations"]), /"sourceDisplayName":"travel\/hotels\.md"/)
      // Of the file, as a single answer's are.
      const byteStart = readFileSync(join(cwd, "docs/travel/hotels.md")).indexOf(quote)
      assert.include(
        JSON.stringify(first?.["citations"]),
        `"quote":"${quote}","byteStart":${byteStart},"byteEnd":${byteStart + quote.length},"offsets":"file"`
      )
      assert.deepInclude(second, { custom_id: "2", team: "x" })
      assert.match(JSON.stringify(second?.["error"]), /not now/)

      down = false
      const before = asked.length
      const done = yield* run(cwd, ask)
      assert.deepStrictEqual([done.code, done.stdout], [0, "answered 1, not in the corpus 1, failed 0: out.jsonl\n"], done.stderr)
      assert.match(done.stderr, /continuing after 1 answers/)
      assert.strictEqual(asked.length, before + 1)
      assert.deepStrictEqual(jsonLines(join(cwd, "out.jsonl")).map(({ custom_id, grounded }) => [custom_id, grounded]), [["q1", true], [
        "2",
        false
      ]])
      assert.deepStrictEqual(readdirSync(cwd).filter((name) => /\.(?:part|tmp)$/.test(name)), [])
    }).pipe(Effect.scoped))
})

describe("batch jobs on Vertex AI", () => {
  it.live("are checked in object storage first", () =>
    Effect.gen(function*() {
      const gcs = yield* fakeGcs()
      const jobs: Array<object> = []
      const service = yield* fakeServer((asked, response) => {
        const job = {
          ...JSON.parse(String(asked.body)),
          name: "projects/p/locations/us-central1/batchPredictionJobs/7",
          state: "JOB_STATE_PENDING",
          createTime: "2026-01-01T00:00:00Z"
        }
        jobs.push(job)
        sendJson(response, 200, job)
      })
      const cwd = yield* tempFolder
      write(cwd, {
        "pipeline.yaml":
          `name: v\nengine: { vertex: { project: p, location: us-central1, baseUrl: "${service.origin}" } }\ncorpus: { displayName: V }\nsources: {}\n`,
        "local.jsonl": batchLine("a")
      })
      const env = { STORAGE_EMULATOR_HOST: gcs.origin }
      gcs.put("acme", "in.jsonl", "{}")
      const refused = yield* run(cwd, ["batch", "submit", "gs://acme/in.jsonl", "--to", "gs://acme/out"], env)
      assert.deepStrictEqual([refused.code, refused.stderr.split("\n")[0]], [1, "error: gs://acme/in.jsonl:1: custom_id: is missing"])
      assert.lengthOf(jobs, 0)
      const asked = yield* run(cwd, [
        "batch",
        "submit",
        "local.jsonl",
        "--staging",
        "gs://acme/staged",
        "--to",
        "gs://acme/out",
        "--model",
        "gemini-x",
        "--json"
      ], env)
      assert.strictEqual(asked.code, 0, asked.stderr)
      assert.match(asked.stderr, /warning: gemini-x is none of the models documented/)
      const uri = (jobs[0] as { inputConfig: { gcsSource: { uris: ReadonlyArray<string> } } }).inputConfig.gcsSource.uris[0] ?? ""
      assert.match(uri, /^gs:\/\/acme\/staged\/[0-9a-f]{16}-local\.jsonl$/)
      assert.strictEqual(String(gcs.object("acme", uri.replace("gs://acme/", ""))?.data), batchLine("a"))
      assert.deepInclude(events(asked)[0], { state: "PENDING", model: "publishers/google/models/gemini-x" })
    }).pipe(Effect.scoped))
})
