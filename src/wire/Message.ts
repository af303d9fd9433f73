import { Result, Schema, SchemaGetter, SchemaIssue } from "effect"
import { pathText } from "./JsonBody.ts"

/**
 * A version of the API.
 *
 * This module describes proto messages as tables. The type of a message is its canonical JSON: camelCase, every field
 * optional, int64 and Timestamp and Duration as strings, enums by name, bytes in base64. One table yields the type, the
 * decoder (Effect Schema), the writer (`Write.ts`) and the server's normalizer (`tolerant/`), so that they cannot disagree;
 * `npm run check:wire` compares the tables with the real protos.
 */
export type ApiVersion = "v1" | "v1beta1"

export type Json = null | boolean | number | string | ReadonlyArray<Json> | JsonObject
export interface JsonObject {
  readonly [key: string]: Json
}

export const isJsonObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Kind of a value, which decides its form in JSON. */
export type Kind =
  | { readonly kind: "string" | "bool" | "int32" | "int64" | "float" | "double" | "bytes" }
  | { readonly kind: "timestamp" | "duration" | "struct" | "value" }
  | { readonly kind: "enum"; readonly name: string; readonly numbers: Readonly<Record<string, number>> }
  | { readonly kind: "message"; readonly message: () => AnyMessage }
  | { readonly kind: "any"; readonly types: () => ReadonlyArray<AnyMessage> }
  | { readonly kind: "list"; readonly of: Kind }
  | { readonly kind: "map"; readonly of: Kind }

export interface Field<out A = unknown> {
  readonly kind: Kind
  /** Decodes any form that a server of this API may write. */
  readonly schema: Schema.Decoder<A>
  /** Whether its zero value has a meaning and is written, as for `optional` fields and members of a one-of. */
  readonly presence?: true
  /** Whether its zero value is written in requests, though the proto field is not `optional`. */
  readonly kept?: true
  /** Name of the one-of that the field belongs to, in the proto's spelling. */
  readonly oneof?: string
  /** The only API version that has the field. */
  readonly only?: ApiVersion
  /** Whether the API has deprecated the field: it is read, but never sent. */
  readonly deprecated?: true
}

export type Fields = Readonly<Record<string, Field>>

/** The canonical JSON of a message with these fields. */
export type Shape<F extends Fields> = { readonly [K in keyof F]?: F[K] extends Field<infer A> ? A : never }

export interface AnyMessage {
  /** Full name of the proto; `{v}` stands for the API version. */
  readonly name: string
  readonly fields: Fields
  readonly schema: Schema.Decoder<unknown>
}

export interface Message<out A> extends AnyMessage {
  readonly schema: Schema.Decoder<A>
  /** Decodes canonical JSON. Unknown fields are ignored, unknown enum values kept. */
  readonly decode: (json: unknown) => Result.Result<A, ReadonlyArray<Issue>>
}

/** A value that does not fit: its path in JSON spelling, and why. It never contains the value. */
export interface Issue {
  readonly path: string
  readonly message: string
}

/** The JSON type of a message. */
export type Of<M> = M extends Message<infer A> ? A : never

const issues = SchemaIssue.makeFormatterStandardSchemaV1()

const issuesOf = (error: Schema.SchemaError): ReadonlyArray<Issue> =>
  issues(error.issue).issues.map(({ message, path }) => ({
    path: pathText(path),
    message
  }))

/** Defines a message. A `name` without a package belongs to `google.cloud.aiplatform.{v}`. */
export const message = <F extends Fields>(name: string, fields: F): Message<Shape<F>> => {
  // By construction the fields' schemas have the types of the shape, which a mapped type cannot express.
  const schema = Schema.Struct(
    Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, Schema.optional(field.schema)]))
  ) as unknown as Schema.Decoder<Shape<F>>
  let decoder: ((json: unknown) => Result.Result<Shape<F>, Schema.SchemaError>) | undefined
  return {
    name: name.startsWith("google.") ? name : `google.cloud.aiplatform.{v}.${name}`,
    fields,
    schema,
    decode: (json) => Result.mapError((decoder ??= Schema.decodeUnknownResult(schema))(json), issuesOf)
  }
}

const loose = <A, B>(from: Schema.Codec<A>, to: Schema.Codec<B>, decode: (value: A) => B): Schema.Decoder<B> =>
  from.pipe(Schema.decodeTo(to, {
    decode: SchemaGetter.transform(decode),
    encode: SchemaGetter.forbidden(() => "messages are written by Write.ts")
  }))

const numberOrString = Schema.Union([Schema.Finite, Schema.String])
// Proto JSON writes NaN and the infinities as strings; one of them must not fail the whole response.
// @effect-diagnostics-next-line schemaNumber:off
const number = loose(numberOrString, Schema.Number, Number)
const decimal = loose(numberOrString, Schema.String, String)

export const string: Field<string> = { kind: { kind: "string" }, schema: Schema.String }
export const bool: Field<boolean> = { kind: { kind: "bool" }, schema: Schema.Boolean }
export const int32: Field<number> = { kind: { kind: "int32" }, schema: number }
/** An integer as a decimal string: JSON numbers are exact only up to 2^53. */
export const int64: Field<string> = { kind: { kind: "int64" }, schema: decimal }
export const float: Field<number> = { kind: { kind: "float" }, schema: number }
export const double: Field<number> = { kind: { kind: "double" }, schema: number }
/** Bytes in base64. */
export const bytes: Field<string> = { kind: { kind: "bytes" }, schema: Schema.String }
/** A timestamp in RFC 3339, kept as a string: `Date` would lose the microseconds. */
export const timestamp: Field<string> = { kind: { kind: "timestamp" }, schema: Schema.String }
/** A duration such as `3.5s`. */
export const duration: Field<string> = { kind: { kind: "duration" }, schema: Schema.String }

const object = Schema.Record(Schema.String, Schema.Unknown) as unknown as Schema.Decoder<JsonObject> // the values are parsed JSON
export const struct: Field<JsonObject> = { kind: { kind: "struct" }, schema: object }
export const value: Field<Json> = { kind: { kind: "value" }, schema: Schema.Unknown as unknown as Schema.Decoder<Json> } // parsed JSON

/** An enum, by its names in the order of their numbers from 0, or by names with their numbers. Unknown values are kept. */
export const enumeration = (name: string, values: ReadonlyArray<string> | Readonly<Record<string, number>>): Field<string> => {
  const numbers = Array.isArray(values)
    ? Object.fromEntries(values.map((value, number) => [value, number]))
    : values as Readonly<Record<string, number>> // Array.isArray does not narrow a ReadonlyArray away
  const names = new Map(Object.entries(numbers).map(([value, number]) => [number, value]))
  return {
    kind: { kind: "enum", name, numbers },
    schema: loose(numberOrString, Schema.String, (v) => typeof v === "number" ? names.get(v) ?? String(v) : v)
  }
}

export const of = <A>(message: Message<A>): Field<A> => ({
  kind: { kind: "message", message: () => message },
  schema: message.schema
})

/** A field of a message that contains itself. */
export const lazy = <A>(message: () => Message<A>): Field<A> => ({
  kind: { kind: "message", message },
  schema: Schema.suspend(() => message().schema)
})

export const list = <A>(field: Field<A>): Field<ReadonlyArray<A>> => ({
  kind: { kind: "list", of: field.kind },
  schema: Schema.Array(field.schema)
})

export const map = <A>(field: Field<A>): Field<Readonly<Record<string, A>>> => ({
  kind: { kind: "map", of: field.kind },
  schema: Schema.Record(Schema.String, field.schema)
})

/** A message that carries the name of its type. Messages of other types than `types` are kept unchanged. */
export const any = (types: () => ReadonlyArray<AnyMessage>): Field<Any> => ({
  kind: { kind: "any", types },
  schema: object as unknown as Schema.Decoder<Any> // an object without "@type" is an Any of unknown type
})

export interface Any extends JsonObject {
  readonly "@type": string
}

/** A field that is `optional` in the proto, so that its zero value is written. */
export const optional = <A>(field: Field<A>): Field<A> => ({ ...field, presence: true })
/** A field whose zero value is written in requests, where it was set on purpose, though it is not `optional` in the proto. */
export const kept = <A>(field: Field<A>): Field<A> => ({ ...field, kept: true })
export const oneof = <A>(name: string, field: Field<A>): Field<A> => ({ ...field, oneof: name, presence: true })
export const only = <A>(version: ApiVersion, field: Field<A>): Field<A> => ({ ...field, only: version })
export const deprecated = <A>(field: Field<A>): Field<A> => ({ ...field, deprecated: true })

/** A message's name in one API version: `google.cloud.aiplatform.v1beta1.RagCorpus`. */
export const fullName = (message: AnyMessage, version: ApiVersion): string => message.name.replace("{v}", version)

export const typeUrl = (message: AnyMessage, version: ApiVersion): string => `type.googleapis.com/${fullName(message, version)}`
