import * as fc from "fast-check"
import { type BatchJob, BatchJobName, type BatchSpec, BatchState } from "../../src/domain/batch/BatchPrediction.ts"
import { Code } from "../../src/domain/Errors.ts"
import { parent, time, word } from "./Arbitraries.ts"

const segment = fc.stringMatching(/^[a-z][a-z0-9_]{0,10}$/)
export const table = fc.tuple(fc.constantFrom("my-project", "example.com:project"), segment, segment)
  .map(([project, dataset, name]) => `bq://${project}.${dataset}.${name}`)
const object = segment.map((name) => `gs://bucket/${name}.jsonl`)

const spec = {
  displayName: word,
  model: segment.map((model) => `publishers/meta/models/${model}`),
  input: fc.oneof(
    fc.record({ _tag: fc.constant("jsonl" as const), uris: fc.array(object, { minLength: 1, maxLength: 3 }) }),
    fc.record({ _tag: fc.constant("table" as const), uri: table })
  ),
  output: fc.oneof(
    fc.record({ _tag: fc.constant("jsonl" as const), uriPrefix: segment.map((name) => `gs://bucket/${name}`) }),
    fc.record({ _tag: fc.constant("table" as const), uri: table })
  ),
  labels: fc.dictionary(segment, segment, { minKeys: 1, maxKeys: 3 }),
  encryptionKey: word
}

export const batchSpec: fc.Arbitrary<BatchSpec> = fc.record(spec, { requiredKeys: ["displayName", "model", "input", "output"] })

const count = fc.nat(1_000_000)
const failure = fc.record({ code: fc.constantFrom(...Code.literals), message: word })

/** A job that has results where its spec sends them, once it may have any. */
export const batchJob: fc.Arbitrary<BatchJob> = fc.record({
  ...spec,
  name: fc.tuple(parent, count).map(([p, id]) => BatchJobName.make(`${p}/batchPredictionJobs/${id}`)),
  state: fc.constantFrom(...BatchState.literals),
  modelVersionId: word,
  error: failure,
  partialFailures: fc.array(failure, { maxLength: 3 }),
  counts: fc.record({ successful: count, failed: count, incomplete: count }),
  results: fc.oneof(
    fc.record({ _tag: fc.constant("folder" as const), uri: segment.map((name) => `gs://bucket/${name}`) }),
    fc.record({ _tag: fc.constant("table" as const), uri: table })
  ),
  createTime: time,
  startTime: time,
  endTime: time,
  updateTime: time
}, { requiredKeys: ["name", "displayName", "model", "input", "output", "state", "partialFailures", "results", "createTime", "updateTime"] })
