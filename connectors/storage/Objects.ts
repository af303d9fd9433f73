import { Effect, Stream } from "effect"
import type { HttpClientResponse } from "effect/http"
import { ServiceError } from "../../src/domain/Errors.ts"
import { download } from "../../src/net/Download.ts"
import type { GcsClient } from "../../src/net/gcs/GcsClient.ts"
import type { GcsObject } from "../../src/net/gcs/GcsObject.ts"
import type { Listed } from "../../src/ports/Connector.ts"
import { type Address, type BucketAddress, objectPath } from "./Address.ts"
import type { Backend, Page, Position } from "./Listing.ts"

/** An object as its store lists it. */
export interface StoredObject {
  readonly key: string
  /** Generation or etag. */
  readonly revision: string
  /** Bytes as stored. */
  readonly size: number
  /** Compressed by its owner (`Content-Encoding: gzip`), so `size` is not the content's. */
  readonly compressed?: boolean
  readonly contentType?: string
  /** Time of the last update, RFC 3339. */
  readonly updated?: string
  readonly metadata?: Readonly<Record<string, string>>
}

/** What a backend needs of an object store. Errors name the bucket and the fix. */
export interface ObjectApi {
  /** A page of at most `size` objects, in order of keys. */
  readonly list: (bucket: string, prefix: string, position: Position, size: number) => Effect.Effect<
    { readonly objects: ReadonlyArray<StoredObject>; readonly token?: string },
    ServiceError
  >
  readonly head: (bucket: string, key: string) => Effect.Effect<StoredObject, ServiceError>
  /** Opens the stored bytes of a revision, from `offset` on. Fails with `ABORTED` where the object has another revision. */
  readonly open: (
    bucket: string,
    key: string,
    revision: string,
    offset: number
  ) => Effect.Effect<HttpClientResponse.HttpClientResponse, ServiceError>
}

const pageSize = 1000

/** Default types of stores, which carry no information. */
const noType = new Set(["application/octet-stream", "binary/octet-stream"])

/** Codes with which a store refuses a page token that it no longer knows. */
const tokenRefused = new Set<ServiceError["code"]>(["INVALID_ARGUMENT", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE"])

export const objectBackend = (api: ObjectApi, maxFileSize: number | undefined): Backend => {
  const listed = (address: BucketAddress, object: StoredObject): Listed | undefined => {
    const path = objectPath(address.scheme, address.bucket, object.key)
    if (object.key.endsWith("/")) {
      // Consoles create empty objects to show folders.
      return object.size === 0 ? undefined : { _tag: "skipped", path, reason: "special", detail: "its name is that of a folder" }
    }
    if (maxFileSize !== undefined && object.size > maxFileSize) {
      return { _tag: "skipped", path, reason: "limit", detail: `${object.size} bytes; maxFileSize is ${maxFileSize}` }
    }
    const mimeType = object.contentType?.replace(/;.*$/s, "").trim().toLowerCase()
    return {
      _tag: "item",
      item: {
        path,
        uri: `${address.scheme}://${address.bucket}/${object.key}`,
        displayName: object.key.slice(address.key.lastIndexOf("/") + 1).normalize("NFC"),
        revision: object.revision,
        ...(object.compressed === true ? {} : { size: object.size }),
        ...(mimeType === undefined || mimeType === "" || noType.has(mimeType) ? {} : { mimeType }),
        metadata: { ...object.metadata, ...(object.updated === undefined ? {} : { modifiedTime: object.updated }) }
      }
    }
  }

  const page = (address: BucketAddress, position: Position): Effect.Effect<Page, ServiceError> =>
    api.list(address.bucket, address.key, position, pageSize).pipe(
      Effect.catchIf(
        (error) => position.token !== undefined && position.after !== undefined && tokenRefused.has(error.code),
        () => api.list(address.bucket, address.key, { after: position.after ?? "" }, pageSize)
      ),
      Effect.flatMap(({ objects, token }): Effect.Effect<Page, ServiceError> => {
        const events = objects.flatMap((object) => listed(address, object) ?? [])
        if (token === undefined || token === "") return Effect.succeed({ events })
        if (token === position.token) {
          return Effect.fail(ServiceError.internal(`the listing of ${address.text} goes round in circles`))
        }
        const after = objects.at(-1)?.key ?? position.after
        const rest: Position = { token, ...(after === undefined ? {} : { after }) }
        return Effect.succeed({ events, position: rest, next: page(address, rest) })
      })
    )

  return {
    check: (address) =>
      inBucket(
        address,
        ({ bucket, key, under }) =>
          under ? api.list(bucket, key, {}, 1) : Effect.catchIf(api.head(bucket, key), isNotFound, () => api.list(bucket, `${key}/`, {}, 1))
      ),
    one: (address) =>
      inBucket(address, (at) =>
        api.head(at.bucket, at.key).pipe(
          Effect.map((object) => listed(at, object)),
          Effect.catchIf(isNotFound, () => Effect.undefined)
        )),
    page: (address, position) => inBucket(address, (at) => page(at, position)),
    read: (item, maxBytes) =>
      Stream.suspend(() => {
        const [, bucket = "", key = ""] = /^[a-z0-9]+:\/\/([^/]+)\/([^]*)$/.exec(item.uri) ?? []
        return download({ what: item.path, maxBytes, open: (offset) => api.open(bucket, key, item.revision, offset) })
      })
  }
}

const isNotFound = (error: ServiceError): boolean => error.code === "NOT_FOUND"

const inBucket = <A>(
  address: Address,
  use: (address: BucketAddress) => Effect.Effect<A, ServiceError>
): Effect.Effect<A, ServiceError> =>
  address.scheme === "gs" || address.scheme === "s3"
    ? use(address)
    : Effect.fail(ServiceError.internal(`${address.text} is in no object store`))

/** Cloud Storage. The revision is the generation, which changes with the content and with nothing else. */
export const gcsApi = (client: GcsClient): ObjectApi => ({
  list: (bucket, prefix, position, size) =>
    Effect.map(client.list(bucket, prefix, position, size), ({ items = [], nextPageToken }) => ({
      objects: items.map(stored),
      ...(nextPageToken === undefined ? {} : { token: nextPageToken })
    })),
  head: (bucket, key) => Effect.map(client.head(bucket, key), stored),
  open: (bucket, key, generation, offset) => client.open(bucket, key, { generation, offset })
})

const stored = (object: GcsObject): StoredObject => ({
  key: object.name,
  revision: object.generation,
  size: object.size,
  compressed: object.contentEncoding === "gzip",
  ...(object.contentType === undefined ? {} : { contentType: object.contentType }),
  ...(object.updated === undefined ? {} : { updated: object.updated }),
  ...(object.metadata === undefined ? {} : { metadata: object.metadata })
})
