import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { join } from "node:path"
import { storage } from "../../connectors/storage/Storage.ts"
import { serveEmbedded } from "../../src/compose/server.ts"
import type { BatchSpec } from "../../src/domain/BatchPrediction.ts"
import * as FolderObjectStore from "../../src/embedded/stores/FolderObjectStore.ts"
import * as HostedBatchPrediction from "../../src/hosted/HostedBatchPrediction.ts"
import { BatchPrediction } from "../../src/ports/BatchPrediction.ts"
import { batchJobToWire } from "../../src/wire/BatchPredictions.ts"
import * as Conformance from "../conformance/BatchPrediction.ts"
import { echoUpstream } from "../fakes/echoUpstream.ts"
import { type Asked, fakeServer, sendGoogleError, sendJson } from "../fakes/http.ts"
import { tempFolder } from "../support/TempFolder.ts"
import { hosted } from "./engine.ts"

const overHttp = Layer.unwrap(Effect.gen(function*() {
  const folder = yield* tempFolder
  const buckets = new Map([["b", join(folder, "bucket")]])
  const upstream = yield* echoUpstream
  const { url } = yield* serveEmbedded({
    dataDir: join(folder, "data"),
    version: "test",
    port: 0,
    storage,
    buckets,
    upstream: { url: upstream.baseUrl, model: "echo-1" }
  })
  return Layer.merge(
    HostedBatchPrediction.layer({ firstDelay: 20 }).pipe(Layer.provide(hosted(url))),
    FolderObjectStore.layer({ buckets })
  )
}))

Conformance.suite("hosted -> HTTP -> server -> embedded", overHttp)

const spec: BatchSpec = {
  displayName: "nightly",
  model: "publishers/meta/models/llama-3.1-70b-instruct-maas",
  input: { _tag: "table", uri: "p.d.prompts" },
  output: { _tag: "jsonl", uriPrefix: "gs://b/out" }
}

const name = "projects/p1/locations/us-central1/batchPredictionJobs/7"
const job = (state: string, more: object = {}) => ({
  name,
  displayName: "nightly",
  model: spec.model,
  inputConfig: { instancesFormat: "bigquery", bigquerySource: { inputUri: "bq://p.d.prompts" } },
  outputConfig: { predictionsFormat: "jsonl", gcsDestination: { outputUriPrefix: "gs://b/out" } },
  state: `JOB_STATE_${state}`,
  createTime: new Date().toISOString(),
  updateTime: new Date().toISOString(),
  ...more
})

const onService = <A, E>(
  answer: (asked: Asked) => object | number,
  body: (jobs: BatchPrediction["Service"], asked: ReadonlyArray<Asked>) => Effect.Effect<A, E>
) =>
  Effect.gen(function*() {
    const fake = yield* fakeServer((asked, response) => {
      const said = answer(asked)
      return typeof said === "number" ? sendGoogleError(response, said, "no") : sendJson(response, 200, said)
    })
    return yield* Effect.flatMap(BatchPrediction, (jobs) => body(jobs, fake.asked)).pipe(
      Effect.provide(HostedBatchPrediction.layer({ firstDelay: 5 }).pipe(Layer.provide(hosted(fake.origin))))
    )
  }).pipe(Effect.scoped)

describe("the hosted engine's batch jobs", () => {
  it.live("are asked for with the API's real spellings", () =>
    onService(() => job("PENDING"), (jobs, asked) =>
      Effect.gen(function*() {
        const made = yield* jobs.create({ ...spec, labels: { team: "a" }, encryptionKey: "projects/p/locations/l/keyRings/r/cryptoKeys/k" })
        assert.strictEqual(made.name, name)
        assert.deepStrictEqual(JSON.parse(String(asked[0]?.body)), {
          displayName: "nightly",
          model: spec.model,
          inputConfig: { instancesFormat: "bigquery", bigquerySource: { inputUri: "bq://p.d.prompts" } },
          outputConfig: { predictionsFormat: "jsonl", gcsDestination: { outputUriPrefix: "gs://b/out" } },
          labels: { team: "a" },
          encryptionSpec: { kmsKeyName: "projects/p/locations/l/keyRings/r/cryptoKeys/k" }
        })
        assert.strictEqual(asked[0]?.url.pathname, "/v1beta1/projects/p1/locations/us-central1/batchPredictionJobs")
      })))

  it.live("are made once, though the answer to the first attempt was lost", () => {
    let made = 0
    return onService(({ method }) => {
      if (method === "GET") return { batchPredictionJobs: [job("RUNNING", { name: "", displayName: "" }), job("QUEUED")] }
      made += 1
      return 503
    }, (jobs, asked) =>
      Effect.gen(function*() {
        const found = yield* jobs.create(spec)
        assert.deepStrictEqual([found.state, made], ["QUEUED", 1])
        assert.strictEqual(asked.find(({ method }) => method === "GET")?.url.searchParams.get("filter"), "display_name=\"nightly\"")
      }))
  })

  it.live("are not sent when they break a rule", () =>
    onService(() => 500, (jobs, asked) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(jobs.create({ ...spec, input: { _tag: "table", uri: "prompts" }, labels: { Team: "A" } }))
        assert.strictEqual(error.message.split("\n").length, 3)
        assert.lengthOf(asked, 0)
      })))

  it.live("are followed through failures of the way there, however the service names their results", () => {
    const answers = [
      job("QUEUED"),
      503,
      job("RUNNING", { completionStats: { successfulCount: "3", incompleteCount: "2" } }),
      job("SUCCEEDED", { outputInfo: { gcsOutputDirectory: "gs://b/out/prediction-x/" }, completionStats: { successfulCount: "5" } })
    ]
    return onService(() => answers.shift() ?? 404, (jobs) =>
      Effect.gen(function*() {
        const seen: Array<unknown> = []
        const { counts, results } = yield* jobs.wait(name as never, { observe: (each) => Effect.sync(() => void seen.push([each.state, each.counts])) })
        assert.deepStrictEqual(seen, [
          ["QUEUED", undefined],
          ["RUNNING", { successful: 3, failed: 0, incomplete: 2 }],
          ["SUCCEEDED", { successful: 5, failed: 0, incomplete: 0 }]
        ])
        assert.deepStrictEqual(counts, { successful: 5, failed: 0, incomplete: 0 })
        assert.deepStrictEqual(results, { _tag: "folder", uri: "gs://b/out/prediction-x" })
      }))
  })

  it.live("are left alone by whoever stops waiting, and go on under their name", () =>
    onService(({ method }) => method === "GET" ? job("RUNNING") : 404, (jobs, asked) =>
      Effect.gen(function*() {
        const waiting = yield* Effect.forkChild(jobs.wait(name as never))
        while (asked.length === 0) yield* Effect.sleep(5)
        yield* Fiber.interrupt(waiting)
        assert.isTrue(asked.every(({ method }) => method === "GET"))
      })))

  it("have their results where they were told to write them, if the service says nothing else", () => {
    const told = { ...spec, name: name as never, partialFailures: [], createTime: "", updateTime: "" }
    assert.isUndefined(batchJobToWire({ ...told, state: "RUNNING" }).outputInfo)
    assert.deepStrictEqual(
      batchJobToWire({ ...told, state: "SUCCEEDED", results: { _tag: "table", uri: "bq://p.d.t" } }).outputInfo,
      { bigqueryOutputDataset: "bq://p.d", bigqueryOutputTable: "t" }
    )
  })
})
