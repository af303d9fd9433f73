import { Result, Schema } from "effect"
import { type Extensions, noExtensions } from "../Extensions.ts"
import { Definition, pipelineSchema } from "./Definition.ts"
import { explain, type Finding } from "./Explain.ts"

/** The schema of pipelines that may use these extensions. */
export const schemaWith = (extensions: Extensions): typeof Definition =>
  extensions === noExtensions ? Definition : pipelineSchema(extensions)

const decoderOf = (extensions: Extensions) =>
  Schema.decodeUnknownResult(schemaWith(extensions), { errors: "all", onExcessProperty: "error" })

const decodeBuiltIn = decoderOf(noExtensions)

/** Decodes a pipeline as written, or returns everything that is wrong with it. */
export const decode = (written: unknown, extensions: Extensions = noExtensions): Result.Result<Definition, ReadonlyArray<Finding>> => {
  const value = withoutEditorKey(written)
  const decodeValue = extensions === noExtensions ? decodeBuiltIn : decoderOf(extensions)
  return Result.mapError(decodeValue(value), (error) => explain(error.issue, value))
}

/** JSON files may name their schema in `$schema`; it is for editors, and not part of the pipeline. */
const withoutEditorKey = (written: unknown): unknown => {
  if (typeof written !== "object" || written === null || !("$schema" in written)) return written
  const { $schema: _, ...pipeline } = written
  return pipeline
}
