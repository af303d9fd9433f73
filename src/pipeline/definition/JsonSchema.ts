import { JsonSchema, Schema } from "effect"
import { type Extensions, noExtensions } from "../Extensions.ts"
import { schemaWith } from "./Decode.ts"

/**
 * The JSON Schema (draft 07) of pipeline files for editors, generated from the schema that checks them. Looser in one
 * point: wherever a scalar may stand, so may a text with an environment variable.
 */
export const pipelineJsonSchema = (extensions: Extensions = noExtensions): JsonSchema.JsonSchema => {
  const { definitions, schema } = JsonSchema.toDocumentDraft07(
    Schema.toJsonSchemaDocument(schemaWith(extensions), { onExcessProperty: "error" })
  )
  const { properties, ...rest } = withoutRepeats(withVariables(schema))
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Sluice pipeline",
    ...rest,
    properties: { $schema: { type: "string" }, ...(isObject(properties) ? properties : {}) },
    ...(Object.keys(definitions).length === 0 ? {} : { definitions: mapValues(definitions, withVariables) })
  }
}

type Json = JsonSchema.JsonSchema

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

const mapValues = (record: Json, change: (schema: Json) => Json): Json =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, isObject(value) ? change(value) : value]))

const variable = "\\$\\{"

const withVariables = (schema: Json): Json => {
  const inner = Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (Array.isArray(value)) return [keyword, value.map((item) => isObject(item) ? withVariables(item) : item)]
      if (!isObject(value)) return [keyword, value]
      if (keyword === "properties" || keyword === "patternProperties") return [keyword, mapValues(value, withVariables)]
      return [keyword, keyword === "items" || keyword === "additionalProperties" ? withVariables(value) : value]
    })
  )
  const { enum: values, maximum, minimum, pattern, type, ...rest } = inner
  if (values !== undefined) {
    return { ...rest, anyOf: [{ type, enum: values }, { type: "string", pattern: variable }] }
  }
  if (type === "string" && typeof pattern === "string") return { ...rest, type, pattern: `${pattern}|${variable}` }
  if (type !== "integer" && type !== "number" && type !== "boolean") return inner
  return {
    ...rest,
    // `pattern` applies to strings only, the bounds to numbers only.
    type: [type, "string"],
    pattern: variable,
    ...(minimum === undefined || minimum === Number.MIN_SAFE_INTEGER ? {} : { minimum }),
    ...(maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? {} : { maximum })
  }
}

/** Replaces repeated parts (the sections under `engines`) with references to their first occurrence. */
const withoutRepeats = (schema: Json): Json => {
  const seen = new Map<string, string>()
  const visit = (value: unknown, pointer: string): unknown => {
    if (Array.isArray(value)) return value.map((item, index) => visit(item, `${pointer}/${index}`))
    if (!isObject(value)) return value
    const content = JSON.stringify(value)
    const first = seen.get(content)
    if (first !== undefined) return { $ref: first }
    if (content.length > 400 && ("type" in value || "anyOf" in value)) seen.set(content, pointer)
    return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, visit(field, `${pointer}/${pointerPart(key)}`)]))
  }
  return Object.fromEntries(Object.entries(schema).map(([key, field]) => [key, visit(field, `#/${key}`)]))
}

const pointerPart = (key: string): string => encodeURIComponent(key.replaceAll("~", "~0").replaceAll("/", "~1"))
