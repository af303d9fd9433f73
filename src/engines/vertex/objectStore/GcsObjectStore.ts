import { Effect, Layer, Option, Stream } from "effect"
import { HttpClient } from "effect/http"
import { ServiceError } from "../../../domain/Errors.ts"
import { download } from "../../../net/Download.ts"
import { emulatorOf, gcsClient, type GcsOptions, type GcsPosition } from "../../../net/gcs/GcsClient.ts"
import { type GcsObject, parseGsUri } from "../../../net/gcs/GcsObject.ts"
import { makeUploader } from "../../../net/gcs/GcsUpload.ts"
import { GoogleAuth } from "../../../net/GoogleAuth.ts"
import type { RetryOptions } from "../../../net/Retry.ts"
import { type ObjectHead, ObjectStore } from "../../../ports/ObjectStore.ts"

export interface GcsObjectStoreOptions extends GcsOptions {
  readonly retry?: RetryOptions
}

/** Objects in Cloud Storage, or in the emulator that `STORAGE_EMULATOR_HOST` names (then without credentials). */
export const make = Effect.fnUntraced(function*(options: GcsObjectStoreOptions = {}) {
  const emulator = options.endpoint === undefined ? emulatorOf(process.env) : undefined
  const gcs = emulator === undefined ? options : { ...options, endpoint: emulator }
  const caller = {
    http: yield* HttpClient.HttpClient,
    auth: emulator === undefined ? yield* GoogleAuth : GoogleAuth.anonymous,
    retry: options.retry
  }
  const client = gcsClient(caller, gcs)
  const upload = makeUploader(caller, client, gcs)

  return ObjectStore.of({
    get: (uri, maxBytes) =>
      Stream.unwrap(Effect.map(objectAt(uri), ({ bucket, name }) => {
        let generation: string | undefined
        return download({
          what: uri,
          maxBytes,
          open: (offset) =>
            client.open(bucket, name, { offset, generation }).pipe(
              Effect.tap((response) => Effect.sync(() => void (generation ??= response.headers["x-goog-generation"])))
            )
        })
      })),
    put: Effect.fn("ObjectStore.put")(function*(uri, body, { contentType = "application/octet-stream", when } = {}) {
      const { bucket, name } = yield* objectAt(uri)
      const ifGenerationMatch = when === "absent" ? "0" : when?.revision
      const object = yield* upload({
        bucket,
        name,
        body,
        contentType,
        ifGenerationMatch
      })
      return headOf(bucket, object)
    }),
    list: (prefix) => {
      const at = parseGsUri(prefix)
      if (at === undefined) return Stream.fail(notGs(prefix))
      return Stream.paginate<GcsPosition, ObjectHead, ServiceError>(
        {},
        (position) =>
          client.list(at.bucket, at.name, position, 1000).pipe(Effect.map(({ items = [], nextPageToken }) => [
            items.map((object) => headOf(at.bucket, object)),
            nextPageToken === undefined || nextPageToken === "" ? Option.none() : Option.some({ token: nextPageToken })
          ]))
      )
    },
    head: Effect.fn("ObjectStore.head")(function*(uri) {
      const { bucket, name } = yield* objectAt(uri)
      return headOf(bucket, yield* client.head(bucket, name))
    }),
    delete: Effect.fn("ObjectStore.delete")(function*(uri, revision) {
      const { bucket, name } = yield* objectAt(uri)
      yield* client.delete(bucket, name, revision)
    })
  })
})

export const layer = (
  options: GcsObjectStoreOptions = {}
): Layer.Layer<ObjectStore, never, HttpClient.HttpClient | GoogleAuth> => Layer.effect(ObjectStore, make(options))

const notGs = (uri: string): ServiceError => ServiceError.invalid("uri", `${uri} is not gs://bucket/name`)

const objectAt = (uri: string): Effect.Effect<{ readonly bucket: string; readonly name: string }, ServiceError> => {
  const at = parseGsUri(uri)
  return at === undefined || at.name === "" ? Effect.fail(notGs(uri)) : Effect.succeed(at)
}

const headOf = (bucket: string, object: GcsObject): ObjectHead => ({
  uri: `gs://${bucket}/${object.name}`,
  revision: object.generation,
  size: object.size,
  contentType: object.contentType,
  updated: object.updated
})
