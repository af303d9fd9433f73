import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as fc from "fast-check"
import { parseBatchFilter } from "../../src/domain/batch/BatchFilter.ts"
import {
  type BatchJob,
  batchModelName,
  BatchJobName,
  batchViolations,
  batchWarnings,
  parseTable,
  sameRegion,
  tableUri
} from "../../src/domain/batch/BatchPrediction.ts"
import { batchJobFromWire, batchJobToWire, batchSpecFromWire, batchSpecToWire } from "../../src/wire/batch/BatchPredictions.ts"
import { routes } from "../../src/wire/Routes.ts"
import { batchJob, batchSpec } from "./BatchArbitraries.ts"
import { answered, sent } from "./OverTheWire.ts"

const ok = Result.getOrThrow

describe("batch jobs over the wire", () => {
  it("what the client sends is what the server reads", () => {
    fc.assert(fc.property(batchSpec, (spec) => {
      assert.deepStrictEqual(ok(Result.flatMap(sent(routes.createBatchPredictionJob, batchSpecToWire(spec)), batchSpecFromWire)), spec)
    }))
  })

  it("what the server answers is what the client reads", () => {
    fc.assert(fc.property(batchJob, (job) => {
      for (const version of ["v1", "v1beta1"] as const) {
        assert.deepStrictEqual(
          ok(Result.flatMap(answered(routes.getBatchPredictionJob, batchJobToWire(job), version), batchJobFromWire)),
          job
        )
      }
    }))
  })

  it("results are where a job was told to write them, once it has succeeded and the service says nothing", () => {
    const wire = (state: string, table: boolean) => ({
      name: "projects/p/locations/l/batchPredictionJobs/1",
      state,
      inputConfig: { instancesFormat: "jsonl", gcsSource: { uris: ["gs://b/i.jsonl"] } },
      outputConfig: table
        ? { predictionsFormat: "bigquery", bigqueryDestination: { outputUri: "bq://p.d.t" } }
        : { predictionsFormat: "jsonl", gcsDestination: { outputUriPrefix: "gs://b/o/" } }
    })
    const results = (state: string, table: boolean) => ok(batchJobFromWire(wire(state, table))).results
    assert.deepStrictEqual(results("JOB_STATE_SUCCEEDED", true), { _tag: "table", uri: "bq://p.d.t" })
    assert.deepStrictEqual(results("JOB_STATE_PARTIALLY_SUCCEEDED", false), { _tag: "folder", uri: "gs://b/o" })
    for (const state of ["JOB_STATE_RUNNING", "JOB_STATE_FAILED", "JOB_STATE_CANCELLED", "JOB_STATE_NEW"]) {
      assert.isUndefined(results(state, true))
    }
    assert.isTrue(Result.isFailure(batchJobFromWire({ ...wire("JOB_STATE_RUNNING", true), inputConfig: { instancesFormat: "csv" } })))
  })
})

describe("the names of a batch", () => {
  it("tables, with and without bq://", () => {
    assert.deepStrictEqual(parseTable("p-1.d.t"), { project: "p-1", dataset: "d", table: "t" })
    assert.deepStrictEqual(parseTable("bq://example.com:p.d.t t"), { project: "example.com:p", dataset: "d", table: "t t" })
    for (const wrong of ["", "t", "d.t", "bq://d.t", "bq:/p.d.t", "p.d.t.u", "p.d.t/u", "gs://p.d.t", "p..t"]) {
      assert.isUndefined(parseTable(wrong), wrong)
    }
    assert.strictEqual(tableUri({ project: "p", dataset: "d", table: "t" }), "bq://p.d.t")
  })

  it("models, and those the documentation knows", () => {
    assert.strictEqual(batchModelName("llama-3.1-8b-instruct-maas"), "publishers/meta/models/llama-3.1-8b-instruct-maas")
    assert.strictEqual(batchModelName("gemini-2.0-flash-001"), "publishers/google/models/gemini-2.0-flash-001")
    const spec = (model: string) => ({
      displayName: "d",
      model,
      input: { _tag: "jsonl" as const, uris: [] },
      output: { _tag: "jsonl" as const, uriPrefix: "" }
    })
    for (const size of ["405b", "70b", "8b"]) {
      assert.deepStrictEqual(batchWarnings(spec(`publishers/meta/models/llama-3.1-${size}-instruct-maas`)), [])
    }
    assert.match(batchWarnings(spec("publishers/meta/models/llama-4"))[0] ?? "", /^llama-4 is none of/)
    const models = (model: string) =>
      batchViolations({ ...spec(model), input: { _tag: "jsonl", uris: ["gs://b/i"] }, output: { _tag: "jsonl", uriPrefix: "gs://b/o" } })
        .map(({ field }) => field)
    for (const model of ["publishers/meta/models/llama-4", "publishers/x/models/y"]) assert.deepStrictEqual(models(model), ["model"], model)
    for (
      const model of [
        "publishers/meta/models/llama-3.1-8b-instruct-maas",
        "publishers/google/models/gemini-x",
        "publishers/anthropic/models/claude-x@20990101"
      ]
    ) {
      assert.deepStrictEqual(models(model), [], model)
    }
  })

  it("regions: a multi-region is not known to be wrong", () => {
    assert.deepStrictEqual(
      [
        sameRegion("us-central1", "us-central1"),
        sameRegion("us-central1", "US"),
        sameRegion("europe-west4", "EU"),
        sameRegion("us-central1", "EU"),
        sameRegion("us-central1", "us-east5")
      ],
      ["yes", "unsure", "unsure", "no", "no"]
    )
  })
})

describe("the filter of a listing", () => {
  const job = (more: Partial<BatchJob>): BatchJob => ({
    name: BatchJobName.make("n"),
    displayName: "my_job_1",
    model: "publishers/meta/models/llama",
    input: { _tag: "table", uri: "p.d.t" },
    output: { _tag: "table", uri: "p.d.o" },
    state: "SUCCEEDED",
    partialFailures: [],
    createTime: "2026-03-01T00:00:00.000001Z",
    updateTime: "",
    labels: { keyA: "valueA" },
    ...more
  })
  const fits = (filter: string, more: Partial<BatchJob> = {}) => ok(parseBatchFilter(filter))(job(more))

  it("takes what the service documents", () => {
    assert.isTrue(fits("state=\"JOB_STATE_SUCCEEDED\" AND display_name:\"my_job_*\""))
    assert.isFalse(fits("state=\"JOB_STATE_SUCCEEDED\" AND display_name:\"your_*\""))
    assert.isTrue(fits("state!=\"JOB_STATE_SUCCEEDED\" OR display_name=\"my_job_1\""))
    assert.isFalse(fits("NOT display_name=\"my_job_1\""))
    assert.isTrue(fits("create_time>\"2021-05-18T00:00:00Z\" create_time<=\"2027-01-01T00:00:00Z\""))
    assert.isTrue(fits("labels.keyA=valueA AND labels.keyA:*"))
    assert.isFalse(fits("labels.keyB:*"))
    assert.isTrue(fits("model_display_name=llama AND (state=JOB_STATE_RUNNING OR NOT state=JOB_STATE_FAILED)"))
    assert.isTrue(fits(""))
    for (
      const [pattern, name, holds] of [
        ["my*1", "my_job_1", true],
        ["*job*", "my_job_1", true],
        ["*", "", true],
        ["job", "my_job_1", true],
        ["a*a", "a", false],
        ["a*b*a", "aba", true],
        ["a*b*b*a", "aba", false],
        ["A*", "a", false],
        ["a.c*", "abc", false],
        ["b**", "a", false],
        ["*".repeat(900) + "b", "a".repeat(128), false],
        ["*a".repeat(100) + "*b", "a".repeat(128), false]
      ] as const
    ) assert.strictEqual(fits(`display_name:"${pattern}"`, { displayName: name }), holds, pattern)
  })

  it("refuses the rest, whatever it is", () => {
    for (
      const wrong of [
        "x=1",
        "state>JOB_STATE_FAILED",
        "state",
        "(state=A",
        "state=A)",
        "AND",
        "create_time>yesterday",
        "display_name=\"a\" OR"
      ]
    ) {
      assert.isTrue(Result.isFailure(parseBatchFilter(wrong)), wrong)
    }
    fc.assert(fc.property(fc.string(), (filter) => void parseBatchFilter(filter)))
    void parseBatchFilter("(".repeat(100_000))
  })
})
