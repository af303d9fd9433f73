import type { JsonRecord } from "../../../domain/Chat.ts"
import { defined } from "../../../domain/Defined.ts"
import type { OpenApiSchema } from "../../../domain/generation/Generation.ts"

/** A schema of the API as JSON Schema: types in lower case, `nullable` as a further type, counts as numbers. */
export const jsonSchemaOf = (schema: OpenApiSchema): JsonRecord => {
  const {
    additionalProperties,
    anyOf,
    default: byDefault,
    defs,
    description,
    enum: values,
    example,
    format,
    items,
    nullable,
    pattern,
    properties,
    propertyOrdering: _,
    ref,
    required,
    title,
    type,
    maximum,
    minimum,
    ...counts
  } = schema
  const name = type === undefined || type === "TYPE_UNSPECIFIED" ? undefined : type.toLowerCase()
  return defined({
    type: name !== undefined && nullable === true ? [name, "null"] : name,
    format: format === "" ? undefined : format,
    title,
    description,
    default: byDefault,
    enum: values === undefined || values.length === 0 ? undefined : nullable === true ? [...values, null] : values,
    pattern,
    items: items === undefined ? undefined : jsonSchemaOf(items),
    properties: mapped(properties),
    required: required === undefined || required.length === 0 ? undefined : required,
    anyOf: anyOf?.map(jsonSchemaOf),
    additionalProperties,
    examples: example === undefined ? undefined : [example],
    $ref: ref,
    $defs: mapped(defs),
    minimum,
    maximum,
    ...Object.fromEntries(Object.entries(counts).map(([key, count]) => [key, Number(count)]))
  })
}

const mapped = (schemas: Readonly<Record<string, OpenApiSchema>> | undefined): JsonRecord | undefined =>
  schemas === undefined ? undefined : Object.fromEntries(Object.entries(schemas).map(([key, schema]) => [key, jsonSchemaOf(schema)]))
