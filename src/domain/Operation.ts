import { Schema } from "effect"
import { Code } from "./Errors.ts"

/** `…/operations/{operation}`; resolved by its last segment. */
export const OperationName = Schema.NonEmptyString.pipe(Schema.brand("OperationName"))
export type OperationName = typeof OperationName.Type

export const OperationKind = Schema.Literals([
  "createCorpus",
  "updateCorpus",
  "deleteCorpus",
  "importFiles",
  "deleteFile",
  "updateEngineConfig"
])
export type OperationKind = typeof OperationKind.Type

/** A failure of one item inside an operation that went on. */
export const PartialFailure = Schema.Struct({ code: Code, message: Schema.String })
export type PartialFailure = typeof PartialFailure.Type

export const ImportCounts = Schema.Struct({ imported: Schema.Int, failed: Schema.Int, skipped: Schema.Int })
export type ImportCounts = typeof ImportCounts.Type

/** A long-running operation, as durable as the corpus it works on. */
export const Operation = Schema.Struct({
  name: OperationName,
  kind: OperationKind,
  /** The corpus or file worked on. */
  target: Schema.String,
  done: Schema.Boolean,
  /** 0..100, imports only. */
  progress: Schema.optionalKey(Schema.Int),
  error: Schema.optionalKey(Schema.Struct({ code: Code, message: Schema.String })),
  partialFailures: Schema.Array(PartialFailure),
  counts: Schema.optionalKey(ImportCounts),
  createTime: Schema.String,
  updateTime: Schema.String
})
export type Operation = typeof Operation.Type
