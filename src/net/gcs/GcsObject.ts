import { Effect, Schema } from "effect"
import type { HttpClientResponse } from "effect/http"
import type { ServiceError } from "../../domain/Errors.ts"
import { jsonOf, malformed } from "../Call.ts"

/**
 * An object's resource in the Cloud Storage JSON API, as far as we ask for it: `generation` changes with every write
 * of the content, `size` is of the bytes as stored.
 */
export const GcsObject = Schema.Struct({
  name: Schema.String,
  generation: Schema.String,
  size: Schema.NumberFromString.check(Schema.isFinite()),
  contentType: Schema.optional(Schema.String),
  contentEncoding: Schema.optional(Schema.String),
  updated: Schema.optional(Schema.String),
  /** Base64; composite objects have none. */
  md5Hash: Schema.optional(Schema.String),
  /** What the owner put there, at most 8 KiB. */
  metadata: Schema.optional(Schema.Record(Schema.String, Schema.String))
})
export type GcsObject = typeof GcsObject.Type

const decode = Schema.decodeUnknownEffect(GcsObject)

/** The object's resource in an answer. */
export const decodeObject = (
  what: string,
  response: HttpClientResponse.HttpClientResponse
): Effect.Effect<GcsObject, ServiceError> =>
  Effect.flatMap(jsonOf(what, response), (json) => decode(json).pipe(Effect.mapError(() => malformed(what, "not an object's resource"))))

/** The partial response that {@link GcsObject} needs. */
export const objectFields = "name,generation,size,contentType,contentEncoding,updated,md5Hash,metadata"

export const GcsPage = Schema.Struct({
  items: Schema.optional(Schema.Array(GcsObject)),
  nextPageToken: Schema.optional(Schema.String)
})
export type GcsPage = typeof GcsPage.Type

/**
 * The parts of `gs://bucket/name`; `name` is empty for a whole bucket. Undefined for anything else: no object is
 * called `.` or `..`, and in a URL those would climb out of the bucket.
 */
export const parseGsUri = (uri: string): { readonly bucket: string; readonly name: string } | undefined => {
  const match = /^gs:\/\/([A-Za-z0-9][A-Za-z0-9._-]{1,221})(?:\/(?!\.{1,2}$)([^]*))?$/.exec(uri)
  return match === null ? undefined : { bucket: match[1] ?? "", name: match[2] ?? "" }
}
