import { Result } from "effect"
import {
  type BatchCounts,
  type BatchInput,
  type BatchJob,
  BatchJobName,
  type BatchOutput,
  type BatchResultPlace,
  type BatchSpec,
  BatchState,
  hasEnded,
  parseTable,
  tableUri
} from "../../domain/batch/BatchPrediction.ts"
import { codeOfGrpc } from "../../domain/Codes.ts"
import { ServiceError } from "../../domain/Errors.ts"
import type { PartialFailure } from "../../domain/Operation.ts"
import { statusToWire } from "../Errors.ts"
import type { BatchPredictionJob } from "../messages/BatchPrediction.ts"
import { defined, isSet, required, text } from "../Optional.ts"

type WireInput = NonNullable<BatchPredictionJob["inputConfig"]>
type WireOutput = NonNullable<BatchPredictionJob["outputConfig"]>

/** The body of a request for a batch job. Tables are named with `bq://`, as both SDKs do. */
export const batchSpecToWire = (spec: BatchSpec): BatchPredictionJob =>
  specToWire(spec, (uri) => {
    const table = parseTable(uri)
    return table === undefined ? uri : tableUri(table)
  })

const specToWire = (spec: BatchSpec, table: (uri: string) => string): BatchPredictionJob => ({
  displayName: spec.displayName,
  model: spec.model,
  inputConfig: spec.input._tag === "jsonl"
    ? { instancesFormat: "jsonl", gcsSource: { uris: spec.input.uris } }
    : { instancesFormat: "bigquery", bigquerySource: { inputUri: table(spec.input.uri) } },
  outputConfig: spec.output._tag === "jsonl"
    ? { predictionsFormat: "jsonl", gcsDestination: { outputUriPrefix: spec.output.uriPrefix } }
    : { predictionsFormat: "bigquery", bigqueryDestination: { outputUri: table(spec.output.uri) } },
  labels: spec.labels,
  encryptionSpec: spec.encryptionKey === undefined ? undefined : { kmsKeyName: spec.encryptionKey }
})

/** The batch job that a request is for. Fails where a format does not fit the kind of its place. */
export const batchSpecFromWire = (wire: BatchPredictionJob): Result.Result<BatchSpec, ServiceError> =>
  Result.gen(function*() {
    yield* forOwnModels(wire)
    const displayName = yield* required(wire.displayName, "displayName")
    const model = yield* required(wire.model, "model")
    const input = yield* inputFromWire(yield* required(wire.inputConfig, "inputConfig"))
    const output = yield* outputFromWire(yield* required(wire.outputConfig, "outputConfig"))
    const encryptionKey = text(wire.encryptionSpec?.kmsKeyName)
    const labels = Object.keys(wire.labels ?? {}).length === 0 ? undefined : wire.labels
    return defined({ displayName, model, input, output, labels, encryptionKey })
  })

/** Fails where fields are set that only custom models use, not those of publishers. */
const forOwnModels = (wire: BatchPredictionJob): Result.Result<void, ServiceError> => {
  const fields = [
    "unmanagedContainerModel",
    "instanceConfig",
    "modelParameters",
    "dedicatedResources",
    "serviceAccount",
    "manualBatchTuningParameters",
    "generateExplanation",
    "explanationSpec",
    "modelMonitoringConfig"
  ] as const
  const given = fields.find((field) => isSet(wire[field]))
  return given === undefined ? Result.succeed(undefined) : Result.fail(ServiceError.invalid(
    given,
    "is for models of your own; this job is for a publisher's model, whose rows carry their parameters"
  ))
}

const inputFromWire = ({ bigquerySource, gcsSource, instancesFormat }: WireInput): Result.Result<BatchInput, ServiceError> =>
  Result.gen(function*() {
    const format = yield* required(instancesFormat, "inputConfig.instancesFormat")
    if (format !== "jsonl" && format !== "bigquery") {
      return yield* Result.fail(ServiceError.invalid("inputConfig.instancesFormat", "must be jsonl or bigquery"))
    }
    if (format === "jsonl") {
      if (gcsSource === undefined) return yield* disagree("inputConfig.instancesFormat", "jsonl", "gcsSource", bigquerySource !== undefined)
      return { _tag: "jsonl", uris: gcsSource.uris ?? [] } as const
    }
    if (bigquerySource === undefined) {
      return yield* disagree("inputConfig.instancesFormat", "bigquery", "bigquerySource", gcsSource !== undefined)
    }
    return { _tag: "table", uri: yield* required(bigquerySource.inputUri, "inputConfig.bigquerySource.inputUri") } as const
  })

const outputFromWire = ({ bigqueryDestination, gcsDestination, predictionsFormat }: WireOutput): Result.Result<BatchOutput, ServiceError> =>
  Result.gen(function*() {
    const field = "outputConfig.predictionsFormat"
    const format = yield* required(predictionsFormat, field)
    if (format !== "jsonl" && format !== "bigquery") return yield* Result.fail(ServiceError.invalid(field, "must be jsonl or bigquery"))
    if (format === "jsonl") {
      if (gcsDestination === undefined) return yield* disagree(field, "jsonl", "gcsDestination", bigqueryDestination !== undefined)
      return {
        _tag: "jsonl",
        uriPrefix: yield* required(gcsDestination.outputUriPrefix, "outputConfig.gcsDestination.outputUriPrefix")
      } as const
    }
    if (bigqueryDestination === undefined) return yield* disagree(field, "bigquery", "bigqueryDestination", gcsDestination !== undefined)
    return { _tag: "table", uri: yield* required(bigqueryDestination.outputUri, "outputConfig.bigqueryDestination.outputUri") } as const
  })

const disagree = (field: string, format: string, needed: string, other: boolean): Result.Result<never, ServiceError> =>
  other
    ? Result.fail(ServiceError.invalid(field, `is ${format}, which goes with ${needed}`))
    : Result.fail(ServiceError.invalid(field.replace(/\.[^.]+$/, `.${needed}`), "Required field is not set."))

/** A job as the service returns it, with its places as the request named them. */
export const batchJobToWire = (job: BatchJob): BatchPredictionJob => ({
  ...specToWire(job, (uri) => uri),
  ...defined({
    name: job.name,
    modelVersionId: job.modelVersionId,
    state: `JOB_STATE_${job.state}`,
    error: job.error === undefined ? undefined : statusToWire(job.error),
    partialFailures: job.partialFailures.map(statusToWire),
    outputInfo: job.results === undefined ? undefined : placeToWire(job.results),
    completionStats: job.counts === undefined ? undefined : statsToWire(job.counts),
    createTime: job.createTime,
    startTime: job.startTime,
    endTime: job.endTime,
    updateTime: job.updateTime
  })
})

const placeToWire = (place: BatchResultPlace): NonNullable<BatchPredictionJob["outputInfo"]> => {
  if (place._tag === "folder") return { gcsOutputDirectory: place.uri }
  const table = parseTable(place.uri)
  return table === undefined
    ? { bigqueryOutputTable: place.uri }
    : { bigqueryOutputDataset: `bq://${table.project}.${table.dataset}`, bigqueryOutputTable: table.table }
}

const statsToWire = ({ failed, incomplete, successful }: BatchCounts): NonNullable<BatchPredictionJob["completionStats"]> => ({
  successfulCount: String(successful),
  failedCount: String(failed),
  incompleteCount: String(incomplete)
})

/** Decodes a job that a service returned; fails for jobs with other kinds of input or output. */
export const batchJobFromWire = (wire: BatchPredictionJob): Result.Result<BatchJob, ServiceError> =>
  Result.gen(function*() {
    const name = wire.name ?? ""
    if (name === "") return yield* Result.fail(ServiceError.internal("the service answered a batch prediction job without a name"))
    const other = (): ServiceError => ServiceError.internal(`${name} is a batch prediction job of a kind not known here`)
    const input = yield* Result.mapError(inputFromWire(wire.inputConfig ?? {}), other)
    const output = yield* Result.mapError(outputFromWire(wire.outputConfig ?? {}), other)
    const state = BatchState.literals.find((literal) => `JOB_STATE_${literal}` === wire.state) ?? "UNSPECIFIED"
    const { completionStats: stats, error } = wire
    return defined({
      name: BatchJobName.make(name),
      displayName: wire.displayName ?? "",
      model: wire.model ?? "",
      modelVersionId: text(wire.modelVersionId),
      input,
      output,
      state,
      error: error === undefined ? undefined : { code: codeOfGrpc(error.code), message: error.message ?? "" },
      partialFailures: (wire.partialFailures ?? []).map(({ code, message = "" }): PartialFailure => ({ code: codeOfGrpc(code), message })),
      counts: stats === undefined ? undefined : {
        successful: Number(stats.successfulCount ?? 0),
        failed: Number(stats.failedCount ?? 0),
        incomplete: Number(stats.incompleteCount ?? 0)
      },
      results: placeFromWire(wire, output, hasEnded(state) && state !== "FAILED" && state !== "CANCELLED"),
      labels: Object.keys(wire.labels ?? {}).length === 0 ? undefined : wire.labels,
      encryptionKey: text(wire.encryptionSpec?.kmsKeyName),
      createTime: wire.createTime ?? "",
      startTime: wire.startTime,
      endTime: wire.endTime,
      updateTime: wire.updateTime ?? wire.createTime ?? ""
    })
  })

/** Place of the results. Where the service does not report it, it is the requested place of a job that succeeded. */
const placeFromWire = ({ outputInfo = {} }: BatchPredictionJob, output: BatchOutput, succeeded: boolean): BatchResultPlace | undefined => {
  const { bigqueryOutputDataset: dataset = "", bigqueryOutputTable: table = "", gcsOutputDirectory: folder = "" } = outputInfo
  if (folder !== "") return { _tag: "folder", uri: folder.replace(/\/+$/, "") }
  if (table !== "") return { _tag: "table", uri: dataset === "" || parseTable(table) !== undefined ? table : `${dataset}.${table}` }
  if (!succeeded) return undefined
  return output._tag === "table" ? output : { _tag: "folder", uri: output.uriPrefix.replace(/\/+$/, "") }
}

/** Renames the fields in an error about a job to those of the request's body. */
export const inJobBody = (error: ServiceError): ServiceError => {
  const { cause, code, fix, message, violations } = error
  return violations === undefined ? error : new ServiceError({
    code,
    message,
    violations: violations.map(({ description, field }) => ({
      field: field.includes(":") ? field : `batch_prediction_job.${field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`,
      description
    })),
    fix,
    cause
  })
}
