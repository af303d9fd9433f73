import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Exit, Redacted, Scope } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Fake, fakeOpenAi, sendChat, sendJson } from "../fakes/Openai.ts"
import { start } from "../support/Sluice.ts"
import { leave, parent, putObjects, startServer, type TestServer } from "./support/TestServer.ts"
import { until } from "../support/Eventually.ts"

const token = "a-token-of-some-length"
const carrying = { authorization: `Bearer ${token}` }

let folder: string
let fake: Fake
let server: TestServer
const scope = Scope.makeUnsafe()
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "sluice-operating-"))
  fake = await Effect.runPromise(
    fakeOpenAi(({ body }, response) =>
      JSON.stringify(body.messages).includes("busy")
        ? sendJson(response, 429, { error: { message: "slow down" } })
        : sendChat(response, ["Hello."])
    ).pipe(Scope.provide(scope))
  )
  server = await startServer({ upstream: { url: fake.baseUrl, model: "m-1" }, token: Redacted.make(token) })
})
afterAll(async () => {
  await server.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
  rmSync(folder, { recursive: true, force: true })
})

const get = (path: string, headers = {}, method = "GET") => fetch(`${server.url}${path}`, { method, headers })
const metrics = async () => (await get("/metrics", carrying)).text()
const generate = (text: string) =>
  server.call(
    "POST",
    `/v1/${parent}/publishers/google/models/gemini-2.0-flash-001:generateContent`,
    { contents: [{ parts: [{ text }] }] },
    carrying
  )

describe("a server's state", () => {
  it("is told to probes without a token, and to nobody else", async () => {
    for (const path of ["/healthz", "/readyz"]) {
      assert.strictEqual((await get(path)).status, 200)
      assert.strictEqual((await get(path, { host: "evil.example" })).status === 200, true) // fetch sets its own Host
      assert.strictEqual((await get(path, { origin: "https://evil.example" })).status, 403)
    }
    for (const path of ["/", "/metrics", `/v1/${parent}/ragCorpora`]) {
      const refused = await get(path)
      assert.strictEqual(refused.status, 401, path)
      assert.strictEqual(refused.headers.get("www-authenticate"), "Bearer realm=\"sluice\"")
    }
    const head = await get("/", carrying, "HEAD")
    assert.deepStrictEqual([head.status, await head.text()], [200, ""])
    assert.strictEqual((await get("/healthz", {}, "HEAD")).status, 200)
  })

  it("is counted for Prometheus: requests, tokens, model calls by outcome", async () => {
    const { body } = await server.call("POST", `/v1/${parent}/ragCorpora`, { displayName: "c" }, carrying)
    const form = new FormData()
    form.append("metadata", JSON.stringify({ rag_file: { display_name: "leave.md" } }))
    form.append("file", new Blob([leave]), "leave.md")
    await (await fetch(`${server.url}/upload/v1/${body.response.name}/ragFiles:upload`, { method: "POST", body: form, headers: carrying }))
      .text()
    assert.strictEqual((await generate("hello")).status, 200)
    assert.strictEqual((await generate("busy")).status, 429)
    const text = await metrics()
    for (
      const line of [
        /^sluice_http_requests_total\{.*route="generateContent".*\} [1-9]/m,
        /^sluice_http_requests_total\{.*code="429".*\} [1-9]/m,
        /^sluice_http_requests_in_flight 1$/m,
        /^sluice_http_request_duration_seconds_bucket\{.*route="uploadRagFile".*le="\+Inf".*\} [1-9]/m,
        /^sluice_files_stored_total\{outcome="stored"\} [1-9]/m,
        /^sluice_embedded_tokens_total [1-9]\d+/m,
        /^sluice_model_calls_total\{.*model="hashed-ngrams-2048-v2".*use="embed".*outcome="ok".*\} [1-9]/m,
        /^sluice_model_calls_total\{.*model="m-1".*outcome="ok".*\} [1-9]/m,
        /^sluice_model_calls_total\{.*outcome="RESOURCE_EXHAUSTED".*\} [1-9]/m
      ]
    ) assert.match(text, line)
    assert.notInclude(text, token)
  })

  it("counts imports by how they ended, and the calls of what answers without an upstream", async () => {
    const plain = await startServer()
    putObjects(plain, { "leave.md": leave, "broken.docx": "this is no document" })
    const corpus = await plain.corpus()
    for (const uri of ["gs://docs/leave.md", "gs://docs/", "gs://nowhere/x.md"]) {
      const { body } = await plain.call("POST", `/v1/${corpus}/ragFiles:import`, { importRagFilesConfig: { gcsSource: { uris: [uri] } } })
      if (body.name !== undefined) await plain.done(body.name)
    }
    const ask = (more: object = {}) =>
      plain.call("POST", `/v1/${parent}/publishers/google/models/gemini-2.0-flash-001:generateContent`, {
        contents: [{ parts: [{ text: "How much annual leave?" }] }],
        ...more
      })
    await ask()
    await ask({ tools: [{ retrieval: { vertexRagStore: { ragResources: [{ ragCorpus: corpus }] } } }] })
    const text = await (await fetch(`${plain.url}/metrics`)).text()
    for (
      const line of [
        /^sluice_imports_total\{outcome="ok"\} [1-9]/m,
        /^sluice_imports_total\{outcome="partial"\} [1-9]/m,
        /^sluice_model_calls_total\{.*model="extractive".*use="chat".*outcome="ok".*\} [1-9]/m,
        /^sluice_model_calls_total\{.*model="extractive".*use="answer".*outcome="ok".*\} [1-9]/m
      ]
    ) assert.match(text, line)
    await plain.stop()
  })
})

interface Serving {
  readonly url: string
  readonly child: ChildProcess
  readonly finished: ReturnType<typeof start>["finished"]
}

const serve = async (...args: ReadonlyArray<string>): Promise<Serving> => {
  const { child, finished } = start(["serve", "--port", "0", ...args], { cwd: folder })
  const line = new Promise<string>((resolve) => child.stdout?.on("data", (data: string) => resolve(data.trim())))
  return { url: await Promise.race([line, finished.then(({ stderr }) => Promise.reject(new Error(stderr)))]), child, finished }
}

describe("SIGTERM", () => {
  it("lets calls under way end, refuses new ones, and exits 0; requests are in the log without their keys", async () => {
    const { child, finished, url } = await serve("--log", "json")
    // It lasts until the rest of its body is sent.
    const slow = request(`${url}/v1/${parent}/ragCorpora?key=sk-canary&alt=json`, { method: "POST" })
    const answered = once(slow, "response")
    slow.write("{\"displayName\":")
    // It has begun once it is counted beside the request that asks.
    await until(
      "the call has begun",
      async () => (await (await fetch(`${url}/metrics`)).text()).includes("sluice_http_requests_in_flight 2")
    )
    child.kill("SIGTERM")
    let status = 200
    while (status === 200) status = (await fetch(`${url}/readyz`)).status
    assert.strictEqual(status, 503)
    const refused = await fetch(`${url}/v1/${parent}/ragCorpora`)
    assert.deepStrictEqual([refused.status, (await refused.json() as { readonly error: { readonly status: string } }).error.status], [
      503,
      "UNAVAILABLE"
    ])
    slow.end("\"slow\"}")
    assert.strictEqual((await answered)[0].resume().statusCode, 200)
    const { code, stderr } = await finished
    assert.strictEqual(code, 0)
    assert.include(stderr, "stopped: every call was answered")
    assert.notInclude(stderr, "sk-canary")
    const entries = stderr.split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line))
    const entry = entries.find(({ annotations }) => annotations.route === "createRagCorpus")
    assert.deepInclude(entry.annotations, { method: "POST", status: 200, path: `/v1/${parent}/ragCorpora?key=REDACTED&alt=json` })
    assert.isAbove(entry.annotations.duration, 0)
  })

  it("waits no longer than it is told", async () => {
    writeFileSync(join(folder, "faults.yaml"), "faults: [{ method: getRagEngineConfig, delay: 60 }]")
    const { child, finished, url } = await serve("--drain", "0", "--log", "text", "--faults", "faults.yaml")
    const slow = fetch(`${url}/v1/${parent}/ragEngineConfig`).then(() => undefined, () => undefined)
    await until(
      "the call has begun",
      async () => (await (await fetch(`${url}/metrics`)).text()).includes("sluice_http_requests_in_flight 2")
    )
    child.kill("SIGTERM")
    const { code, stderr } = await finished
    await slow
    assert.strictEqual(code, 0)
    assert.include(stderr, "1 calls were not answered within 0 s")
  })
})
