import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Exit, Scope } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { fakeOpenAi, sendChat, sendJson } from "../fakes/Openai.ts"
import { batchLine } from "../support/EchoModel.ts"
import { parent, putObjects, startServer, type TestServer } from "./support/TestServer.ts"
import { until } from "../support/Eventually.ts"

const scope = Scope.makeUnsafe()
let server: TestServer
let calls = 0
beforeAll(async () => {
  const { baseUrl } = await Effect.runPromise(
    fakeOpenAi(({ body }, response) => {
      const text = String(body.messages.at(-1)?.content)
      // Busy for the first two times that it is asked this.
      if (text === "patience" && ++calls < 3) return sendJson(response, 429, { error: { message: "slow down" } }, { "retry-after": "0" })
      return sendChat(response, ["You said: ", text])
    }).pipe(Scope.provide(scope))
  )
  server = await startServer({ upstream: { url: baseUrl, model: "echo-1" } })
})
afterAll(async () => {
  await server.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const gemini = (text: string, more: object = {}) =>
  JSON.stringify({ request: { contents: [{ role: "user", parts: [{ text }] }] }, ...more })
const claude = (id: string, text: string, more: object = {}) =>
  JSON.stringify({
    custom_id: id,
    request: { anthropic_version: "vertex-2023-10-16", max_tokens: 50, messages: [{ role: "user", content: text }], ...more }
  })

const run = async (model: string, lines: ReadonlyArray<string>) => {
  putObjects(server, { "in.jsonl": lines.join("\n") })
  const { body } = await server.call("POST", `/v1/${parent}/batchPredictionJobs`, {
    displayName: "j",
    model: `publishers/${model}`,
    inputConfig: { instancesFormat: "jsonl", gcsSource: { uris: ["gs://docs/in.jsonl"] } },
    outputConfig: { predictionsFormat: "jsonl", gcsDestination: { outputUriPrefix: "gs://docs/out" } }
  })
  return until("the job has ended", async () => {
    const { body: job } = await server.call("GET", `/v1/${body.name}`)
    return /PENDING|RUNNING/.test(job.state) ? undefined : job
  })
}

const rowsOf = (job: { readonly outputInfo: { readonly gcsOutputDirectory: string } }) => {
  const folder = join(server.folder, "bucket", job.outputInfo.gcsOutputDirectory.replace("gs://docs/", ""))
  return readdirSync(folder).toSorted().flatMap((name) =>
    readFileSync(join(folder, name), "utf8").trim().split("\n").map((line) => JSON.parse(line))
  )
}

describe("rows in their model's own form", () => {
  it("run for Gemini, without an id, other columns carried over", async () => {
    const job = await run("google/models/gemini-2.0-flash-001", [gemini("one", { team: "a" }), gemini("one"), gemini("patience")])
    assert.strictEqual(job.state, "JOB_STATE_SUCCEEDED")
    const [first, second, third] = rowsOf(job)
    assert.hasAllKeys(first, ["team", "request", "status", "response"])
    assert.hasAllKeys(second, ["request", "status", "response"])
    assert.strictEqual(first.status, "")
    assert.deepStrictEqual(first.response.candidates[0].content, { role: "model", parts: [{ text: "You said: one" }] })
    assert.strictEqual(first.response.candidates[0].finishReason, "STOP")
    assert.strictEqual(third.response.candidates[0].content.parts[0].text, "You said: patience")
  })

  it("run for Claude, by their ids, each failing by itself", async () => {
    const job = await run("anthropic/models/claude-3-5-haiku@20241022", [claude("a", "one"), claude("b", "two", { temperature: 7 })])
    assert.strictEqual(job.state, "JOB_STATE_PARTIALLY_SUCCEEDED")
    const [failed, answered] = rowsOf(job)
    assert.deepStrictEqual([answered.custom_id, answered.status, answered.response.type], ["a", "", "message"])
    assert.deepStrictEqual(answered.response.content, [{ type: "text", text: "You said: one" }])
    assert.strictEqual(failed.custom_id, "b")
    assert.match(failed.status, /^request\.temperature: must be from 0 to 1/)
  })

  it("are told apart from others: for their models, and one form a job", async () => {
    const other = await run("meta/models/llama-3.1-8b-instruct-maas", [gemini("one")])
    assert.match(other.error.message, /request: is the form of rows for models of Google and Anthropic/)
    const mixed = await run("google/models/gemini-2.0-flash-001", [gemini("one"), batchLine("a")])
    assert.match(mixed.error.message, /in\.jsonl:2: must have request, as the rows before it/)
    const empty = await run("google/models/gemini-2.0-flash-001", [JSON.stringify({ request: {} })])
    assert.match(empty.error.message, /request\.contents: is missing/)
    const chat = await run("google/models/gemini-2.0-flash-001", [batchLine("a", "one")])
    assert.strictEqual(chat.state, "JOB_STATE_SUCCEEDED")
  })
})
