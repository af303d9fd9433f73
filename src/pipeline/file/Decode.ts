import { Result, Schema } from "effect"
import { Pipeline } from "../Pipeline.ts"
import { explain, type Finding } from "./Explain.ts"

const decodePipeline = Schema.decodeUnknownResult(Pipeline, { errors: "all", onExcessProperty: "error" })

/** A written pipeline as a value, or everything that is wrong with it. */
export const decode = (written: unknown): Result.Result<Pipeline, ReadonlyArray<Finding>> => {
  const value = withoutEditorKey(written)
  return Result.mapError(decodePipeline(value), (error) => explain(error.issue, value))
}

/** JSON files name their schema in `$schema`; it is for editors, and not part of the pipeline. */
const withoutEditorKey = (written: unknown): unknown => {
  if (typeof written !== "object" || written === null || !("$schema" in written)) return written
  const { $schema: _, ...pipeline } = written
  return pipeline
}
