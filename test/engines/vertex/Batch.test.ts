import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted, Stream } from "effect"
import { join } from "node:path"
import { local } from "../../../connectors/local/Local.ts"
import { storage } from "../../../connectors/storage/Storage.ts"
import { serveEmbedded } from "../../../src/compose/Server.ts"
import { vertexBatch, vertexServices } from "../../../src/compose/Vertex.ts"
import type { BatchSpec } from "../../../src/domain/batch/BatchPrediction.ts"
import * as FolderObjectStore from "../../../src/engines/embedded/stores/FolderObjectStore.ts"
import * as HostedBatchPrediction from "../../../src/engines/vertex/HostedBatchPrediction.ts"
import { batchPipeline } from "../../../src/pipeline/BatchPipeline.ts"
import { definePipeline } from "../../../src/pipeline/definition/DefinePipeline.ts"
import { runPipeline } from "../../../src/pipeline/RunPipeline.ts"
import { BatchPrediction } from "../../../src/ports/BatchPrediction.ts"
import type { JsonRecord } from "../../../src/domain/Chat.ts"
import { batchJobToWire } from "../../../src/wire/batch/BatchPredictions.ts"
import * as Conformance from "../../conformance/BatchPrediction.ts"
import { echoUpstream } from "../../fakes/EchoUpstream.ts"
import { emulator, fakeGcs } from "../../fakes/Gcs.ts"
import { type Asked, fakeServer, sendGoogleError, sendJson } from "../../fakes/Http.ts"
import { fakeVertex } from "../../fakes/Vertex.ts"
import { connectorsOf } from "../../support/Sources.ts"
import { tempFolder, write } from "../../support/TempFolder.ts"
import { hosted } from "./Engine.ts"
import { eventually } from "../../support/Eventually.ts"

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

describe("a pipeline's batch stage on the hosted engine", () => {
  /** The answers to these questions by one job of a model, whose result for each prompt `resultOf` returns. */
  const answersOf = (
    model: string,
    questions: ReadonlyArray<string>,
    resultOf: (prompt: Record<string, JsonRecord>, at: number) => object | undefined
  ) =>
    Effect.gen(function*() {
      const fake = yield* fakeVertex
      const gcs = yield* fakeGcs()
      gcs.put("acme", "there.txt", "")
      const folder = yield* tempFolder
      write(folder, { "docs/claims.md": "Claims are paid within 10 working days." })
      const pipeline = definePipeline({
        name: "claims",
        engine: { vertex: { project: "p1", location: "us-central1", baseUrl: fake.baseUrl } },
        corpus: { displayName: "Claims" },
        sources: { docs: { local: { path: join(folder, "docs") } } },
        stages: [{ retrieve: { topK: 3 } }, { batch: { model, staging: "gs://acme/batches/", temperature: 0 } }]
      })
      const asked: Array<
        { readonly model: string; readonly outputConfig: { readonly gcsDestination: { readonly outputUriPrefix: string } } }
      > = []
      const rows: Array<Record<string, JsonRecord>> = []
      // Answers each prompt, and lays the results out as the service does.
      fake.handle = ({ body, method, path, response }) => {
        if (!path.includes("/batchPredictionJobs")) return false
        if (method === "GET" && !/batchPredictionJobs\/\d/.test(path)) return sendJson(response, 200, {}), true
        if (method === "POST") asked.push(JSON.parse(String(body)))
        const spec = asked[0]
        const prefix = spec?.outputConfig.gcsDestination.outputUriPrefix.replace("gs://acme/", "") ?? ""
        const prompts = String(gcs.object("acme", `${prefix.replace(/results$/, "")}prompts.jsonl`)?.data).trim().split("\n").map((line) =>
          JSON.parse(line)
        )
        if (method === "POST") rows.push(...prompts)
        gcs.put(
          "acme",
          `${prefix}/prediction-x/predictions_0001.jsonl`,
          prompts.flatMap((prompt, at) => resultOf(prompt, at) ?? []).toReversed().map((row) => JSON.stringify(row)).join("\n")
        )
        sendJson(response, 200, {
          ...spec,
          name,
          createTime: new Date().toISOString(),
          state: method === "POST" ? "JOB_STATE_PENDING" : "JOB_STATE_SUCCEEDED",
          outputInfo: { gcsOutputDirectory: `gs://acme/${prefix}/prediction-x` }
        })
        return true
      }
      const options = { dataDir: join(folder, "data"), token: Redacted.make("server-token") }
      const services = Layer.merge(
        connectorsOf({ local }, options).pipe(Layer.provideMerge(vertexServices(pipeline, { ...options, writes: "a test" }))),
        vertexBatch(pipeline, options)
      )
      yield* emulator(gcs.origin)
      const answers = yield* Effect.gen(function*() {
        yield* runPipeline(pipeline)
        const given = Stream.fromIterable(questions.map((question) => ({ customId: question, question, carried: {} })))
        return yield* Stream.runCollect(yield* batchPipeline(pipeline, given, { questionsId: "1" }))
      }).pipe(
        Effect.scoped,
        Effect.provide(services)
      )
      return { answers, asked, rows }
    }).pipe(Effect.scoped)

  const turned = (record: JsonRecord | undefined) => Object.fromEntries(Object.entries(record ?? {}).toReversed())
  const text = "Within ten days [1 \"paid within 10 working days\"]."

  it.live("retrieves there, asks in one job through object storage, and verifies what comes back", () =>
    Effect.gen(function*() {
      const { answers, asked, rows } = yield* answersOf("llama-3.1-70b-instruct-maas", ["When are claims paid?"], ({ custom_id }) => ({
        custom_id,
        response: { choices: [{ message: { content: text }, finish_reason: "stop" }] }
      }))
      assert.strictEqual(answers[0]?.answer?.text, "Within ten days [1].")
      assert.strictEqual(answers[0]?.answer?.citations[0]?.sourceDisplayName, "claims.md")
      assert.strictEqual(asked[0]?.model, "publishers/meta/models/llama-3.1-70b-instruct-maas")
      assert.match(
        asked[0]?.outputConfig.gcsDestination.outputUriPrefix ?? "",
        /^gs:\/\/acme\/batches\/sluice-batch-[0-9a-f]{16}\/results$/
      )
      assert.hasAllKeys(rows[0], ["custom_id", "method", "url", "body"])
    }))

  it.live("asks Gemini and Claude in their own form, and names every answer that they withhold or lack", () =>
    Effect.gen(function*() {
      const parts = [{ text }]
      const results: Record<string, ReadonlyArray<object | undefined>> = {
        "gemini-2.0-flash-001": [
          { status: "", response: { candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }] } },
          { status: "", response: { candidates: [{ content: { parts }, finishReason: "MAX_TOKENS" }] } },
          { status: "", response: { candidates: [{ finishReason: "SAFETY" }] } },
          { status: "", response: { promptFeedback: { blockReason: "PROHIBITED_CONTENT" } } },
          { status: "Bad Request: no", response: {} },
          undefined
        ],
        "claude-3-5-haiku@20241022": [
          { response: { type: "message", content: [{ type: "text", text }], stop_reason: "end_turn" } },
          { response: { content: [{ type: "text", text }], stop_reason: "max_tokens" } },
          { response: { content: [], stop_reason: "refusal" } },
          { response: { error: { code: "INVALID_ARGUMENT", message: "no" } } },
          { response: {} },
          undefined
        ]
      }
      const seen: Record<string, ReadonlyArray<unknown>> = {}
      for (const [model, each] of Object.entries(results)) {
        const questions = each.map((_, at) => `When are claims paid, in case ${at}?`)
        const { answers, asked, rows } = yield* answersOf(model, questions, ({ custom_id, request }, at) => {
          const result = each[at]
          // The service repeats a prompt in an order of its own, with nulls.
          return result === undefined ? undefined : { ...result, custom_id, request: { labels: null, ...turned(request) } }
        })
        const [row] = rows
        assert.isUndefined(row?.["body"])
        if (model.startsWith("gemini")) {
          assert.strictEqual(asked[0]?.model, `publishers/google/models/${model}`)
          assert.hasAllKeys(row, ["request"])
          assert.hasAllKeys(row?.["request"], ["contents", "systemInstruction", "generationConfig"])
        } else {
          assert.strictEqual(asked[0]?.model, `publishers/anthropic/models/${model}`)
          assert.hasAllKeys(row, ["custom_id", "request"])
          assert.hasAllKeys(row?.["request"], ["anthropic_version", "max_tokens", "messages", "system", "temperature"])
        }
        assert.deepStrictEqual(answers.map(({ customId }) => customId), questions)
        seen[model] = answers.map(({ answer, error }) =>
          answer === undefined ? error?.message : [answer.grounded, answer.truncated === true]
        )
      }
      assert.deepStrictEqual(seen, {
        "gemini-2.0-flash-001": [
          [true, false],
          [true, true],
          "gemini-2.0-flash-001 withheld the answer (SAFETY)",
          "gemini-2.0-flash-001 withheld the answer (PROHIBITED_CONTENT)",
          "Bad Request: no",
          "the job has no result for this question"
        ],
        "claude-3-5-haiku@20241022": [
          [true, false],
          [true, true],
          "claude-3-5-haiku@20241022 withheld the answer (content filter)",
          "no",
          "the result has no response",
          "the job has no result for this question"
        ]
      })
    }))
})

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
        assert.strictEqual(asked[0]?.url.pathname, "/v1/projects/p1/locations/us-central1/batchPredictionJobs")
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
        const { counts, results } = yield* jobs.wait(name as never, {
          observe: (each) => Effect.sync(() => void seen.push([each.state, each.counts]))
        })
        assert.deepStrictEqual(seen, [
          ["QUEUED", undefined],
          ["RUNNING", { successful: 3, failed: 0, incomplete: 2 }],
          ["SUCCEEDED", { successful: 5, failed: 0, incomplete: 0 }]
        ])
        assert.deepStrictEqual(counts, { successful: 5, failed: 0, incomplete: 0 })
        assert.deepStrictEqual(results, { _tag: "folder", uri: "gs://b/out/prediction-x" })
      }))
  })

  it.live("have ended in a state that is not known here once they have an end time", () => {
    const answers = [job("QUIESCING"), job("MOSTLY_DONE", { endTime: new Date().toISOString() })]
    return onService(() => answers.shift() ?? 404, (jobs) =>
      Effect.gen(function*() {
        assert.deepInclude(yield* jobs.wait(name as never), { state: "UNSPECIFIED" })
      }))
  })

  it.live("are left alone by whoever stops waiting, and go on under their name", () =>
    onService(({ method }) => method === "GET" ? job("RUNNING") : 404, (jobs, asked) =>
      Effect.gen(function*() {
        const waiting = yield* Effect.forkChild(jobs.wait(name as never))
        yield* eventually("the service was asked", Effect.sync(() => asked.length > 0))
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
