import { createHash } from "node:crypto"
import { Schema } from "effect"
import { Document, isScalar, Scalar, visit } from "yaml"
import { type Extensions, noExtensions } from "../Extensions.ts"
import type { Definition, PipelineFile } from "./Definition.ts"
import { schemaWith } from "./Decode.ts"

/** The written form of a pipeline, with every default spelt out. */
export const writtenPipeline = (pipeline: Definition, extensions: Extensions = noExtensions): PipelineFile =>
  Schema.encodeSync(schemaWith(extensions))(pipeline)

/** Prints a pipeline as canonical YAML, with every default; loading it gives the same value. */
export const printPipeline = (pipeline: Definition, extensions: Extensions = noExtensions): string => {
  // `$${` is a literal `${`; unescaped, a value that contains one would be taken for a reference.
  const document = new Document(escapeReferences(writtenPipeline(pipeline, extensions)), { aliasDuplicateObjects: false })
  visit(document, {
    Pair: (_, { key }) => {
      // Unquoted, `<<` would be a merge key.
      if (isScalar(key) && key.value === "<<") key.type = Scalar.QUOTE_DOUBLE
    }
  })
  return document.toString({ lineWidth: 0 })
}

/** The value with each `${` escaped as `$${`: reading it with references replaced gives it back unchanged. */
export const escapeReferences = (value: unknown): unknown => {
  if (typeof value === "string") return value.replaceAll("${", "$$${")
  if (Array.isArray(value)) return value.map(escapeReferences)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, escapeReferences(field)]))
}

/** SHA-256 (hex) of the pipeline's content: the same for files that differ in layout, key order or spelt-out defaults. */
export const pipelineHash = (pipeline: Definition, extensions: Extensions = noExtensions): string =>
  createHash("sha256").update(JSON.stringify(sorted(writtenPipeline(pipeline, extensions)))).digest("hex")

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1).map(([key, field]) => [key, sorted(field)]))
}
