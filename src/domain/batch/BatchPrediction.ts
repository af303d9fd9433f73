import { Schema } from "effect"
import { Code, type FieldViolation } from "../Errors.ts"
import { labelRules } from "../models/Labels.ts"
import { PartialFailure } from "../Operation.ts"

/** Name of a job: `projects/{project}/locations/{location}/batchPredictionJobs/{job}`. Opaque to callers. */
export const BatchJobName = Schema.NonEmptyString.pipe(Schema.brand("BatchJobName"))
export type BatchJobName = typeof BatchJobName.Type

/** The service's job states without their prefix, in the order of their numbers. */
export const BatchState = Schema.Literals([
  "UNSPECIFIED",
  "QUEUED",
  "PENDING",
  "RUNNING",
  "SUCCEEDED",
  "FAILED",
  "CANCELLING",
  "CANCELLED",
  "PAUSED",
  "EXPIRED",
  "UPDATING",
  "PARTIALLY_SUCCEEDED"
])
export type BatchState = typeof BatchState.Type

const ended: ReadonlySet<BatchState> = new Set(["SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED", "PARTIALLY_SUCCEEDED"])

/** Whether a state is final. */
export const hasEnded = (state: BatchState): boolean => ended.has(state)

/** Input of a job: objects with a row per line, or a table. */
export const BatchInput = Schema.Union([
  Schema.TaggedStruct("jsonl", { uris: Schema.Array(Schema.String) }),
  Schema.TaggedStruct("table", { uri: Schema.String })
])
export type BatchInput = typeof BatchInput.Type

/** Output of a job, whatever the kind of its input: a new folder under the prefix, or a new table. */
export const BatchOutput = Schema.Union([
  Schema.TaggedStruct("jsonl", { uriPrefix: Schema.String }),
  Schema.TaggedStruct("table", { uri: Schema.String })
])
export type BatchOutput = typeof BatchOutput.Type

/** Request for a new job. */
export const BatchSpec = Schema.Struct({
  /** Name of the job for people, at most 128 characters. */
  displayName: Schema.String,
  /** Model: `publishers/{publisher}/models/{model}`. */
  model: Schema.String,
  input: BatchInput,
  output: BatchOutput,
  labels: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  /** Cloud KMS key: `projects/{p}/locations/{l}/keyRings/{r}/cryptoKeys/{k}`. */
  encryptionKey: Schema.optionalKey(Schema.String)
})
export type BatchSpec = typeof BatchSpec.Type

/** Number of rows of a job, by outcome; together they are all rows. */
export const BatchCounts = Schema.Struct({ successful: Schema.Int, failed: Schema.Int, incomplete: Schema.Int })
export type BatchCounts = typeof BatchCounts.Type

/** Place of the results: a folder without a slash at its end, or a table. */
export const BatchResultPlace = Schema.Union([
  Schema.TaggedStruct("folder", { uri: Schema.String }),
  Schema.TaggedStruct("table", { uri: Schema.String })
])
export type BatchResultPlace = typeof BatchResultPlace.Type

/** A job that sends many prompts to a model. It outlives the process that created it. */
export const BatchJob = Schema.Struct({
  ...BatchSpec.fields,
  name: BatchJobName,
  state: BatchState,
  modelVersionId: Schema.optionalKey(Schema.String),
  /** Why it failed or was cancelled. */
  error: Schema.optionalKey(Schema.Struct({ code: Code, message: Schema.String })),
  /** Failures of rows, or other parts, in a job that continued; the first ones. */
  partialFailures: Schema.Array(PartialFailure),
  counts: Schema.optionalKey(BatchCounts),
  results: Schema.optionalKey(BatchResultPlace),
  createTime: Schema.String,
  startTime: Schema.optionalKey(Schema.String),
  endTime: Schema.optionalKey(Schema.String),
  updateTime: Schema.String
})
export type BatchJob = typeof BatchJob.Type

/** The models for which the service documents batch prediction. */
const batchModels: ReadonlyArray<string> = [
  "llama-3.1-405b-instruct-maas",
  "llama-3.1-70b-instruct-maas",
  "llama-3.1-8b-instruct-maas"
]

/** The full name of a model: bare names of models of Meta and Anthropic are known by their beginnings. */
export const batchModelName = (written: string): string => {
  const publisher = written.startsWith("llama-") ? "meta" : written.startsWith("claude-") ? "anthropic" : "google"
  return written.includes("/") ? written : `publishers/${publisher}/models/${written}`
}

const modelForm = /^(?:projects\/[^/]+\/locations\/[^/]+\/)?publishers\/[^/]+\/models\/([^/]+)$/

/** The rule that a job's model breaks: only the services of Google and Anthropic know their models. */
const unsupported = (model: string): string | undefined => {
  const publisher = /(?:^|\/)publishers\/([^/]+)\//.exec(model)?.[1]
  return publisher === undefined || publisher === "google" || publisher === "anthropic" || batchModels.includes(modelId(model))
    ? undefined
    : `${modelId(model)} is not supported by batch prediction: use ${batchModels.join(", ")}, or a model of Google or Anthropic`
}

/** The id at the end of a model's name. */
export const modelId = (model: string): string => modelForm.exec(model)?.[1] ?? model

/** Warnings about likely mistakes; the job is sent all the same. */
export const batchWarnings = ({ model }: BatchSpec): ReadonlyArray<string> =>
  batchModels.includes(modelId(model))
    ? []
    : [`${modelId(model)} is none of the models documented for batch prediction of chat rows: ${batchModels.join(", ")}`]

/** The parts of a table's name. */
export interface TableName {
  readonly project: string
  readonly dataset: string
  readonly table: string
}

/** Parses `<project>.<dataset>.<table>`, with or without `bq://`. A domain-scoped project (`example.com:project`) contains dots. */
export const parseTable = (uri: string): TableName | undefined => {
  const found = /^(?:bq:\/\/)?((?:[a-z0-9][a-z0-9.-]*:)?[a-z0-9][a-z0-9-]*)\.([A-Za-z0-9_]+)\.([\p{L}\p{M}\p{N}\p{Pc}\p{Pd} ]+)$/u.exec(uri)
  return found === null ? undefined : { project: found[1] ?? "", dataset: found[2] ?? "", table: found[3] ?? "" }
}

/** The address of a table, as it is sent. */
export const tableUri = ({ dataset, project, table }: TableName): string => `bq://${project}.${dataset}.${table}`

/** Most bytes of a URI that the service accepts (its BigQueryDestination). */
const maxUri = 2_000

/** All rules that a job breaks, by the fields of the request. `local` also allows local files, `file:///…`. */
export const batchViolations = (spec: BatchSpec, options: { readonly local?: boolean } = {}): ReadonlyArray<FieldViolation> => {
  const broken: Array<FieldViolation> = []
  const check = (holds: boolean, field: string, description: string): void => {
    if (!holds) broken.push({ field, description })
  }
  const object = options.local === true ? /^(?:gs:\/\/[^/]+\/.|file:\/\/\/.)/s : /^gs:\/\/[^/]+\/./s
  const folder = options.local === true ? /^(?:gs:\/\/[^/]+|file:\/\/\/)/ : /^gs:\/\/[^/]+/
  const scheme = options.local === true ? "gs://bucket/object or a local file" : "gs://bucket/object"

  check(spec.displayName.trim() !== "", "displayName", "Required field is not set.")
  check([...spec.displayName].length <= 128, "displayName", "must have at most 128 characters")
  check(modelForm.test(spec.model), "model", "must have the form publishers/{publisher}/models/{model}")
  const wrong = unsupported(spec.model)
  check(wrong === undefined, "model", wrong ?? "")
  if (spec.input._tag === "jsonl") {
    check(spec.input.uris.length > 0, "inputConfig.gcsSource.uris", "Required field is not set.")
    for (const [at, uri] of spec.input.uris.entries()) {
      const field = `inputConfig.gcsSource.uris[${at}]`
      check(object.test(uri) && !uri.endsWith("/"), field, `must be ${scheme}, a JSONL file`)
      check(uri.length <= maxUri, field, `must have at most ${maxUri} characters`)
      check(spec.input.uris.indexOf(uri) === at, field, "is there twice")
    }
  } else {
    check(parseTable(spec.input.uri) !== undefined, "inputConfig.bigquerySource.inputUri", tableForm)
  }
  if (spec.output._tag === "jsonl") {
    const field = "outputConfig.gcsDestination.outputUriPrefix"
    check(folder.test(spec.output.uriPrefix), field, "must be gs://bucket or gs://bucket/folder")
    check(spec.output.uriPrefix.length <= maxUri, field, `must have at most ${maxUri} characters`)
  } else {
    const field = "outputConfig.bigqueryDestination.outputUri"
    const table = parseTable(spec.output.uri)
    check(table !== undefined, field, tableForm)
    const input = spec.input._tag === "table" ? parseTable(spec.input.uri) : undefined
    check(table === undefined || input === undefined || tableUri(table) !== tableUri(input), field, "must not be the input table")
  }
  check(
    spec.encryptionKey === undefined || /^projects\/[^/]+\/locations\/[^/]+\/keyRings\/[^/]+\/cryptoKeys\/[^/]+$/.test(spec.encryptionKey),
    "encryptionSpec.kmsKeyName",
    "must have the form projects/{project}/locations/{location}/keyRings/{ring}/cryptoKeys/{key}"
  )
  return [...broken, ...labelRules(spec.labels, "labels")]
}

const tableForm = "must be bq://<project>.<dataset>.<table>"

/**
 * Whether a table can be used by jobs of a location, which must be the same region. A multi-region (`US`, `EU`) is not
 * the region, though the service may accept it: that is `unsure`.
 */
export const sameRegion = (location: string, table: string): "yes" | "no" | "unsure" => {
  const [job, held] = [location.toLowerCase(), table.toLowerCase()]
  if (job === held) return "yes"
  const within = held === "us" ? /^us-/ : held === "eu" ? /^europe-/ : undefined
  return within?.test(job) === true ? "unsure" : "no"
}
