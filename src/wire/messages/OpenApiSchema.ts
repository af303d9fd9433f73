import type { OpenApiSchema as Meaning } from "../../domain/generation/Generation.ts"
import { bool, double, enumeration, type Field, int64, kept, lazy, list, map, type Message, message, string, value } from "../Message.ts"

/** A bound, for which 0 is a meaningful value. */
const bound = kept(double)
const count = kept(int64)

const self: Field<Meaning> = lazy((): Message<Meaning> => OpenApiSchema)

export const OpenApiSchema: Message<Meaning> = message("Schema", {
  type: enumeration("Type", ["TYPE_UNSPECIFIED", "STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT"]),
  format: string,
  title: string,
  description: string,
  nullable: bool,
  default: value,
  items: self,
  minItems: count,
  maxItems: count,
  enum: list(string),
  properties: map(self),
  propertyOrdering: list(string),
  required: list(string),
  minProperties: count,
  maxProperties: count,
  minimum: bound,
  maximum: bound,
  minLength: count,
  maxLength: count,
  pattern: string,
  example: value,
  anyOf: list(self),
  additionalProperties: value,
  ref: string,
  defs: map(self)
})
