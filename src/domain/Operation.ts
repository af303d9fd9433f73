import { Schema } from "effect"
import { Code, ServiceError } from "./Errors.ts"
import { lastSegment } from "./ResourceNames.ts"

/** Name of an operation: `…/operations/{operation}`; resolved by its last segment. */
export const OperationName = Schema.NonEmptyString.pipe(Schema.brand("OperationName"))
export type OperationName = typeof OperationName.Type

export const OperationKind = Schema.Literals([
  "createCorpus",
  "updateCorpus",
  "deleteCorpus",
  "importFiles",
  "deleteFile",
  "retrieveContexts",
  "createDataSchemas",
  "deleteDataSchemas",
  "createFileMetadata",
  "deleteFileMetadata",
  "updateEngineConfig",
  "deploy",
  "deployPublisherModel",
  "uploadModel",
  "deleteModel",
  "createEndpoint",
  "deleteEndpoint",
  "deployModel",
  "undeployModel",
  "deleteBatchJob"
])
export type OperationKind = typeof OperationKind.Type

/** A failure of one item in an operation that continued. */
export const PartialFailure = Schema.Struct({ code: Code, message: Schema.String })
export type PartialFailure = typeof PartialFailure.Type

export const ImportCounts = Schema.Struct({ imported: Schema.Int, failed: Schema.Int, skipped: Schema.Int })
export type ImportCounts = typeof ImportCounts.Type

/** The subject of a deployment and, once it is done, the resources it made. Names are full. */
export const Deployment = Schema.Struct({
  /** The deployed model: `publishers/{publisher}/models/{model}@{version}`. */
  publisherModel: Schema.optionalKey(Schema.String),
  endpoint: Schema.optionalKey(Schema.String),
  model: Schema.optionalKey(Schema.String),
  deployedModelId: Schema.optionalKey(Schema.String),
  /** Stage of the deployment: `STARTING_DEPLOYMENT` … `SUCCESSFULLY_DEPLOYED`, `FAILED_TO_DEPLOY`. */
  stage: Schema.optionalKey(Schema.String)
})
export type Deployment = typeof Deployment.Type

/** A long-running operation, as durable as the corpus it works on. */
export const Operation = Schema.Struct({
  name: OperationName,
  kind: OperationKind,
  /** The corpus or file worked on. */
  target: Schema.String,
  done: Schema.Boolean,
  /** Progress in percent, 0 to 100; imports only. */
  progress: Schema.optionalKey(Schema.Int),
  error: Schema.optionalKey(Schema.Struct({ code: Code, message: Schema.String })),
  partialFailures: Schema.Array(PartialFailure),
  counts: Schema.optionalKey(ImportCounts),
  /** Where an import writes the outcome of each file, as requested. */
  resultSink: Schema.optionalKey(Schema.String),
  deployment: Schema.optionalKey(Deployment),
  createTime: Schema.String,
  updateTime: Schema.String
})
export type Operation = typeof Operation.Type

/** The error that an operation ended with, which names the operation. `what` is its subject: `import`. */
export const operationError = (what: string, { error, name }: Pick<Operation, "error" | "name">, fix?: string): ServiceError =>
  new ServiceError({
    code: error?.code ?? "UNKNOWN",
    message: `${what} ${lastSegment(name)} failed: ${error?.message ?? "no reason was given"}`,
    fix
  })
