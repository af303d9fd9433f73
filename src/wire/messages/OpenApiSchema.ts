import { bool, double, enumeration, type Field, int64, type Json, kept, lazy, list, map, type Message, message, string, value } from "../Message.ts"

/** The API's subset of an OpenAPI 3.0 schema: what a function takes, or what an answer must look like. */
export interface OpenApiSchema {
  readonly type?: string
  readonly format?: string
  readonly title?: string
  readonly description?: string
  readonly nullable?: boolean
  readonly default?: Json
  readonly items?: OpenApiSchema
  readonly minItems?: string
  readonly maxItems?: string
  readonly enum?: ReadonlyArray<string>
  readonly properties?: Readonly<Record<string, OpenApiSchema>>
  readonly propertyOrdering?: ReadonlyArray<string>
  readonly required?: ReadonlyArray<string>
  readonly minProperties?: string
  readonly maxProperties?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: string
  readonly maxLength?: string
  readonly pattern?: string
  readonly example?: Json
  readonly anyOf?: ReadonlyArray<OpenApiSchema>
  readonly additionalProperties?: Json
  readonly ref?: string
  readonly defs?: Readonly<Record<string, OpenApiSchema>>
}

/** A bound of 0 is one. */
const bound = kept(double)
const count = kept(int64)

const self: Field<OpenApiSchema> = lazy((): Message<OpenApiSchema> => OpenApiSchema)

export const OpenApiSchema: Message<OpenApiSchema> = message("Schema", {
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
