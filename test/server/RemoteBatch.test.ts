import { Effect, Exit, Scope } from "effect"
import { afterAll, assert, beforeAll, describe, it, vi } from "vitest"
import { type FakeBigQuery, fakeBigQuery } from "../fakes/Bigquery.ts"
import { echoUpstream } from "../fakes/EchoUpstream.ts"
import { type FakeGcs, fakeGcs } from "../fakes/Gcs.ts"
import { batchLine } from "../support/EchoModel.ts"
import { until } from "../support/Eventually.ts"
import { parent, putObjects, startServer, type TestServer } from "./support/TestServer.ts"

const scope = Scope.makeUnsafe()
const inScope = <A>(made: Effect.Effect<A, never, Scope.Scope>): Promise<A> => Effect.runPromise(Scope.provide(made, scope))
let server: TestServer
let gcs: FakeGcs
let bigQuery: FakeBigQuery
beforeAll(async () => {
  const { baseUrl } = await inScope(echoUpstream)
  gcs = await inScope(fakeGcs())
  bigQuery = await inScope(fakeBigQuery())
  vi.stubEnv("STORAGE_EMULATOR_HOST", gcs.origin)
  vi.stubEnv("BIGQUERY_EMULATOR_HOST", bigQuery.origin)
  server = await startServer({ upstream: { url: baseUrl, model: "echo-1" }, allowRemote: true })
  gcs.put("acme", "in.jsonl", [batchLine("a", "one"), batchLine("b", "two")].join("\n"))
  putObjects(server, { "in.jsonl": batchLine("c", "three") })
})
afterAll(async () => {
  await server.stop()
  vi.unstubAllEnvs()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const toFolder = (prefix: string) => ({ predictionsFormat: "jsonl", gcsDestination: { outputUriPrefix: prefix } })
const toTable = (table: string) => ({ predictionsFormat: "bigquery", bigqueryDestination: { outputUri: `bq://${table}` } })
const create = (uri: string, outputConfig: object) =>
  server.call("POST", `/v1/${parent}/batchPredictionJobs`, {
    displayName: "j",
    model: "publishers/meta/models/llama-3.1-8b-instruct-maas",
    inputConfig: uri.startsWith("bq://")
      ? { instancesFormat: "bigquery", bigquerySource: { inputUri: uri } }
      : { instancesFormat: "jsonl", gcsSource: { uris: [uri] } },
    outputConfig
  })
const run = async (uri: string, outputConfig: object) => {
  const { body, status } = await create(uri, outputConfig)
  assert.strictEqual(status, 200, JSON.stringify(body))
  return until(`${body.name} ended`, async () => {
    const { body: job } = await server.call("GET", `/v1/${body.name}`)
    return /PENDING|RUNNING/.test(job.state) ? undefined : job
  })
}

describe("batch jobs of a server that may reach elsewhere", () => {
  it("read and write real buckets, and mapped ones beside them", async () => {
    const job = await run("gs://acme/in.jsonl", toFolder("gs://acme/out"))
    assert.strictEqual(job.state, "JOB_STATE_SUCCEEDED", JSON.stringify(job))
    const { gcsOutputDirectory } = job.outputInfo
    const name = `${gcsOutputDirectory.slice("gs://acme/".length)}/predictions_0001.jsonl`
    assert.lengthOf(String(gcs.object("acme", name)?.data).trim().split("\n"), 2)
    assert.strictEqual((await run("gs://docs/in.jsonl", toFolder("gs://acme/out"))).state, "JOB_STATE_SUCCEEDED")
    assert.strictEqual((await run("gs://acme/in.jsonl", toFolder("gs://docs/out"))).state, "JOB_STATE_SUCCEEDED")
  })

  it("read and write real tables", async () => {
    const first = await run("gs://acme/in.jsonl", toTable("p.d.answers"))
    assert.strictEqual(first.state, "JOB_STATE_SUCCEEDED", JSON.stringify(first))
    assert.sameMembers(bigQuery.tables.get("p.d.answers")?.rows.map(({ custom_id }) => custom_id) ?? [], ["a", "b"])
    bigQuery.put(
      "p.d.questions",
      [{ name: "custom_id", type: "STRING" }, { name: "method", type: "STRING" }, { name: "url", type: "STRING" }, {
        name: "body",
        type: "JSON"
      }],
      [JSON.parse(batchLine("t", "table"))]
    )
    assert.strictEqual((await run("bq://p.d.questions", toTable("p.d.more"))).state, "JOB_STATE_SUCCEEDED")
    assert.lengthOf(bigQuery.tables.get("p.d.more")?.rows ?? [], 1)
  })

  it("say at the field what is not there, and what is there already", async () => {
    const lacking = await create("gs://acme/none.jsonl", toFolder("gs://acme/out"))
    assert.strictEqual(lacking.status, 404)
    assert.include(lacking.body.error.message, "gs://acme/none.jsonl")
    const there = await create("gs://acme/in.jsonl", toTable("p.d.questions"))
    assert.strictEqual(there.status, 400, JSON.stringify(there.body))
    assert.include(there.body.error.message, "bigqueryDestination.outputUri")
  })
})
