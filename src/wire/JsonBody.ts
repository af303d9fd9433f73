import { Result, Schema, SchemaIssue } from "effect"
import { ServiceError } from "../domain/Errors.ts"

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** Reads bodies of requests in JSON. The error is that of the first field that does not fit, `messages.0.content`, or of the `body`. */
export const bodyReader = <A, I>(schema: Schema.Codec<A, I>) => {
  const decode = Schema.decodeUnknownResult(Schema.fromJsonString(schema))
  return (bytes: Uint8Array): Result.Result<A, ServiceError> =>
    Result.mapError(decode(new TextDecoder().decode(bytes)), ({ issue }) => {
      const [first] = format(issue).issues
      const field = pathText(first?.path)
      return ServiceError.invalid(field === "" ? "body" : field, first?.message ?? "is not a valid request of this route")
    })
}

/** The path of an issue with points between its keys: `messages.0.content`. */
export const pathText = (path: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> = []): string =>
  path.map((key) => String(typeof key === "object" ? key.key : key)).join(".")

/** A field that may be left out, or null. */
export const optional = <A, I>(schema: Schema.Codec<A, I>) => Schema.optional(Schema.NullOr(schema))
