import { v1 } from "@google-cloud/aiplatform"
import { GoogleGenAI } from "@google/genai"
import { OAuth2Client } from "google-auth-library"
import { Effect, Exit, Redacted, Scope } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { echoUpstream } from "../fakes/EchoUpstream.ts"
import { fakeOpenAi, sendJson } from "../fakes/Openai.ts"
import { batchLine } from "../support/EchoModel.ts"
import { type Answer, parent, putObjects, startServer, type TestServer } from "./support/TestServer.ts"
import { until } from "../support/Eventually.ts"

const scope = Scope.makeUnsafe()
let server: TestServer
beforeAll(async () => {
  const { baseUrl } = await Effect.runPromise(Scope.provide(echoUpstream, scope))
  server = await startServer({ upstream: { url: baseUrl, model: "echo-1" } })
  putObjects(server, { "in.jsonl": [batchLine("a", "one"), batchLine("b", "refuse")].join("\n"), "slow.jsonl": batchLine("a", "wait") })
})
afterAll(async () => {
  await server.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const llama = "publishers/meta/models/llama-3.1-8b-instruct-maas"
const body = (more: object = {}) => ({
  displayName: "j",
  model: llama,
  inputConfig: { instancesFormat: "jsonl", gcsSource: { uris: ["gs://docs/in.jsonl"] } },
  outputConfig: { predictionsFormat: "jsonl", gcsDestination: { outputUriPrefix: "gs://docs/out" } },
  ...more
})
const create = (request: object, version = "v1") => server.call("POST", `/${version}/${parent}/batchPredictionJobs`, request)

type Body = Answer["body"]

/** A job once it fits, or the answer that refuses it. */
const jobThat = (name: string, fits: (job: Body) => boolean, version = "v1"): Promise<Body> =>
  until(`${name} fits`, async () => {
    const { body, status } = await server.call("GET", `/${version}/${name}`)
    return status !== 200 || fits(body) ? body : undefined
  })
const ended = (job: { readonly state: string }): boolean => !/PENDING|RUNNING|CANCELLING/.test(job.state)

/** Any token will do: the server is on loopback and has none of its own. */
const signedIn = () => {
  const client = new OAuth2Client()
  client.setCredentials({ access_token: "fake-token", expiry_date: Date.now() + 3_600_000 })
  return client
}

describe("batch prediction over REST", () => {
  it("runs a job as the documentation writes it, typos and all", async () => {
    const created = await create({
      display_name: "j",
      model: llama,
      input_config: { instances_format: "jsonl", gcsDestination: { uris: "gs://docs/in.jsonl" } },
      output_config: { predictions_format: "jsonl", gcs_destination: { output_uri_prefix: "gs://docs/out" } },
      labels: { team: "a" }
    })
    assert.strictEqual(created.status, 200, JSON.stringify(created.body))
    assert.strictEqual(created.body.state, "JOB_STATE_PENDING")
    assert.deepStrictEqual(created.body.inputConfig, { instancesFormat: "jsonl", gcsSource: { uris: ["gs://docs/in.jsonl"] } })
    assert.match(created.body.name, new RegExp(`^${parent}/batchPredictionJobs/\\d+$`))
    const job = await jobThat(created.body.name, ended, "v1beta1")
    assert.strictEqual(job.state, "JOB_STATE_PARTIALLY_SUCCEEDED")
    assert.deepStrictEqual(job.completionStats, { successfulCount: "1", failedCount: "1" })
    assert.strictEqual(job.partialFailures[0].code, 3)
    assert.deepStrictEqual([job.modelVersionId, job.labels], ["echo-1", { team: "a" }])
    assert.match(job.outputInfo.gcsOutputDirectory, /^gs:\/\/docs\/out\/prediction-llama-3\.1-8b-instruct-maas-/)
  })

  it("says what is wrong with a job, by its fields", async () => {
    const wrong: ReadonlyArray<readonly [object, string, RegExp]> = [
      [
        { inputConfig: { instancesFormat: "bigquery", gcsSource: { uris: ["gs://docs/in.jsonl"] } } },
        "input_config.instances_format",
        /goes with bigquerySource/
      ],
      [
        { inputConfig: { instancesFormat: "csv", gcsSource: { uris: ["gs://docs/in.csv"] } } },
        "input_config.instances_format",
        /jsonl or bigquery/
      ],
      [
        { outputConfig: { predictionsFormat: "jsonl", bigqueryDestination: { outputUri: "p.d.t" } } },
        "output_config.predictions_format",
        /goes with gcsDestination/
      ],
      [{ outputConfig: { predictionsFormat: "bigquery" } }, "output_config.bigquery_destination", /Required/],
      [
        { inputConfig: { instancesFormat: "jsonl", gcsSource: { uris: ["file:///etc/passwd"] } } },
        "input_config.gcs_source.uris[0]",
        /gs:\/\/bucket\/object/
      ],
      [
        { inputConfig: { instancesFormat: "bigquery", bigquerySource: { inputUri: "prompts" } } },
        "input_config.bigquery_source.input_uri",
        /<project>/
      ],
      [{ displayName: "" }, "display_name", /Required/],
      [{ model: "llama" }, "model", /publishers/],
      [{ instanceConfig: { keyField: "k" } }, "instance_config", /models of your own/],
      [{ generateExplanation: true, explanationSpec: { parameters: { topK: 3 } } }, "generate_explanation", /models of your own/],
      [{ labels: { A: "b" } }, "labels", /lower-case/]
    ]
    for (const [more, field, words] of wrong) {
      const { body: answer, status } = await create(body(more))
      assert.strictEqual(status, 400, JSON.stringify(more))
      const violations = answer.error.details.flatMap((detail: Body) => detail.fieldViolations ?? [])
      assert.strictEqual(violations[0]?.field, `batch_prediction_job.${field}`)
      assert.match(violations[0]?.description, words)
    }
    const tables = await create(body({ inputConfig: { instancesFormat: "bigquery", bigquerySource: { inputUri: "bq://p.d.t" } } }))
    assert.match(tables.body.error.message, /there are no tables here/)
    assert.include(JSON.stringify(tables.body.error.details), "--tables FILE")
  })

  it("lists by filter, page and mask; deletes by an operation", async () => {
    const first = (await create(body({ displayName: "listed 1" }))).body.name
    const second = (await create(body({ displayName: "listed 2" }))).body.name
    const path = `/v1/${parent}/batchPredictionJobs?filter=${encodeURIComponent("display_name:\"listed*\"")}`
    const page = await server.call("GET", `${path}&pageSize=1&readMask=name,display_name`)
    assert.deepStrictEqual(page.body.batchPredictionJobs, [{ name: second, displayName: "listed 2" }])
    const rest = await server.call("GET", `${path}&pageToken=${page.body.nextPageToken}`)
    assert.deepStrictEqual(rest.body.batchPredictionJobs.map((job: Body) => job.name), [first])
    assert.strictEqual((await server.call("GET", `${path}&readMask=shoe_size`)).status, 400)
    await jobThat(first, ended)
    const operation = await server.call("DELETE", `/v1/${first}`)
    assert.isTrue(operation.body.done)
    assert.strictEqual(operation.body.response["@type"], "type.googleapis.com/google.protobuf.Empty")
    assert.isTrue((await server.call("GET", `/v1beta1/${operation.body.name}`)).body.done)
    assert.strictEqual((await server.call("GET", `/v1/${first}`)).status, 404)
  })

  it("goes on with jobs after a restart", async () => {
    const slow = body({ inputConfig: { instancesFormat: "jsonl", gcsSource: { uris: ["gs://docs/slow.jsonl"] } } })
    const { name } = (await create(slow)).body
    await jobThat(name, (job) => job.state === "JOB_STATE_RUNNING" && job.completionStats?.incompleteCount === "1")
    server = await server.restart()
    const job = await jobThat(name, () => true)
    assert.strictEqual(job.state, "JOB_STATE_RUNNING")
    await server.call("POST", `/v1/${name}:cancel`, "\"\"")
    assert.strictEqual((await jobThat(name, ended)).state, "JOB_STATE_CANCELLED")
  })
})

describe("the key of the upstream", () => {
  it("is in no job, no result and no row of the database, though the upstream repeats it", async () => {
    const canary = "plover-ZQ93-marzipan-0417"
    const inner = Scope.makeUnsafe()
    const { baseUrl, received } = await Effect.runPromise(Scope.provide(
      fakeOpenAi((request, response, count) => {
        const said = { error: { message: `key ${String(request.headers["authorization"])} is wrong`, type: "invalid_request_error" } }
        sendJson(response, count % 2 === 0 ? 400 : 401, said)
      }),
      inner
    ))
    const other = await startServer({ upstream: { url: baseUrl, model: "m", apiKey: Redacted.make(canary) } })
    putObjects(other, { "in.jsonl": [batchLine("a", "one"), batchLine("b", "two")].join("\n") })
    const { body: made } = await other.call("POST", `/v1/${parent}/batchPredictionJobs`, body())
    let job = made
    while (!ended(job)) job = (await other.call("GET", `/v1/${made.name}`)).body
    assert.strictEqual(job.state, "JOB_STATE_FAILED")
    assert.strictEqual(received[0]?.headers["authorization"], `Bearer ${canary}`)
    const files = readdirSync(other.folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    assert.isTrue(files.some(({ name }) => name === "errors_0001.jsonl") && files.some(({ name }) => name === "sluice.db"))
    for (const { name, parentPath } of files) assert.isFalse(readFileSync(join(parentPath, name)).includes(canary), name)
    assert.notInclude(JSON.stringify(job), canary)
    await other.stop()
    await Effect.runPromise(Scope.close(inner, Exit.void))
  })
})

describe("real clients", () => {
  it("@google/genai creates, gets, lists and cancels batches", async () => {
    const ai = new GoogleGenAI({
      vertexai: true,
      project: "p1",
      location: "us-central1",
      httpOptions: { baseUrl: server.url },
      googleAuthOptions: { authClient: signedIn() as never } // another version of the auth library's types
    })
    const created = await ai.batches.create({
      model: llama,
      src: "gs://docs/in.jsonl",
      config: { displayName: "by genai", dest: "gs://docs/out" }
    })
    assert.strictEqual(created.state, "JOB_STATE_PENDING")
    const name = created.name ?? ""
    await jobThat(name, ended)
    const job = await ai.batches.get({ name })
    assert.strictEqual(job.state, "JOB_STATE_PARTIALLY_SUCCEEDED")
    assert.strictEqual(job.displayName, "by genai")
    assert.strictEqual(job.completionStats?.successfulCount, "1")
    const listed: Array<string | undefined> = []
    for await (const each of await ai.batches.list({ config: { pageSize: 2 } })) listed.push(each.name)
    assert.include(listed, name)
    const slow = await ai.batches.create({
      model: llama,
      src: { format: "jsonl", gcsUri: ["gs://docs/slow.jsonl"] },
      config: { dest: { format: "jsonl", gcsUri: "gs://docs/out" } }
    })
    await ai.batches.cancel({ name: slow.name ?? "" })
    assert.strictEqual((await jobThat(slow.name ?? "", ended)).state, "JOB_STATE_CANCELLED")
    await ai.batches.delete({ name })
    const gone = await ai.batches.get({ name }).then(() => undefined, (error: Error & { status?: number }) => error)
    assert.strictEqual(gone?.status, 404)
  })

  it("@google-cloud/aiplatform creates and reads jobs over REST", async () => {
    const jobs = new v1.JobServiceClient({
      fallback: true,
      protocol: "http",
      apiEndpoint: "127.0.0.1",
      port: server.port,
      authClient: signedIn()
    } as unknown as NonNullable<ConstructorParameters<typeof v1.JobServiceClient>[0]>) // its types know nothing of `protocol`
    const [created] = await jobs.createBatchPredictionJob({ parent, batchPredictionJob: body({ displayName: "by aiplatform" }) })
    assert.include([2, "JOB_STATE_PENDING"], created.state)
    await jobThat(created.name ?? "", ended)
    const [job] = await jobs.getBatchPredictionJob({ name: created.name ?? "" })
    assert.strictEqual(String(job.completionStats?.failedCount), "1")
    const [deletion] = await jobs.deleteBatchPredictionJob({ name: created.name ?? "" })
    await deletion.promise()
  })
})
