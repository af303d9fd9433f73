import { Effect, Stream } from "effect"
import { HttpClientRequest } from "effect/http"
import { createHash, randomUUID } from "node:crypto"
import { ServiceError } from "../../domain/Errors.ts"
import { type Caller, callOnce } from "../Call.ts"
import { blockTimeoutMs, sendBlocks, startSession } from "../ResumableUpload.ts"
import { retry } from "../Retry.ts"
import { endpointOf, type GcsClient, type GcsOptions, queryOf } from "./GcsClient.ts"
import { gcsError } from "./GcsErrors.ts"
import { decodeObject, type GcsObject, objectFields } from "./GcsObject.ts"

export interface GcsUpload {
  readonly bucket: string
  readonly name: string
  readonly contentType: string
  /** `0`: only where there is no object (else `ALREADY_EXISTS`); a generation: only over that one (else `ABORTED`). */
  readonly ifGenerationMatch?: string
  readonly body: Uint8Array | Stream.Stream<Uint8Array, ServiceError>
}

/**
 * Writes one object: in one request up to 8 MiB, by a resumable session above, holding one block in memory. The
 * content's MD5 is checked either way. Where the reply to a conditional write was lost, the retry finds our own
 * object and takes it for done.
 */
export const makeUploader = (given: Caller, client: GcsClient, options: GcsOptions = {}) =>
  Effect.fn("Gcs.upload")(function*(upload: GcsUpload): Effect.fn.Return<GcsObject, ServiceError> {
    const caller = { ...given, timeoutMs: blockTimeoutMs }
    const { bucket, contentType, ifGenerationMatch, name } = upload
    const uri = `gs://${bucket}/${name}`
    const what = `the upload of ${uri}`
    if (!/^[\x20-\x7e]+$/.test(contentType)) return yield* ServiceError.invalid("contentType", "is not a media type")
    const url = (uploadType: string): string =>
      `${endpointOf(options)}/upload/storage/v1/b/${bucket}/o${
        queryOf({ uploadType, name, ifGenerationMatch, fields: objectFields, userProject: options.userProject })
      }`
    const md5 = createHash("md5")
    let hash = ""
    let failures = 0

    const inOneRequest = (bytes: Uint8Array) =>
      callOnce(caller, what, multipart(url("multipart"), { name, contentType, md5Hash: hash }, bytes)).pipe(
        Effect.flatMap((response) => decodeObject(what, response)),
        Effect.tapError(() => Effect.sync(() => void failures++)),
        retry(caller.retry)
      )

    const send = Effect.gen(function*() {
      const pieces = Stream.isStream(upload.body) ? upload.body : Stream.succeed(upload.body)
      const { last, sent, session } = yield* sendBlocks(
        Stream.tap(pieces, (piece) => Effect.sync(() => void md5.update(piece))),
        startSession(caller, { what, url: url("resumable"), about: { name, contentType }, contentType, decode: decodeObject })
      )
      hash = md5.digest("base64")
      return yield* session === undefined ? inOneRequest(last) : session.finish(last, sent)
    })

    const refused = (error: ServiceError): Effect.Effect<GcsObject, ServiceError> => {
      const explained = error.code === "FAILED_PRECONDITION" && ifGenerationMatch === "0"
        ? error.with({ code: "ALREADY_EXISTS", message: `${uri} is there already` })
        : gcsError(bucket, name, "roles/storage.objectUser")(error)
      if (error.code !== "FAILED_PRECONDITION" || failures < 2) return Effect.fail(explained)
      return Effect.flatMap(
        client.head(bucket, name),
        (object) => object.md5Hash === hash ? Effect.succeed(object) : Effect.fail(explained)
      )
    }

    const object = yield* Effect.catch(send, refused)
    if (object.md5Hash === undefined || object.md5Hash === hash) return object
    yield* Effect.ignore(client.delete(bucket, name, object.generation))
    return yield* new ServiceError({ code: "DATA_LOSS", message: `${uri} arrived as something else, and was removed` })
  })

/** RFC 2387, as the JSON API wants it: the resource, then the media. */
const multipart = (
  url: string,
  resource: { readonly name: string; readonly contentType: string; readonly md5Hash: string },
  bytes: Uint8Array
) => {
  const boundary = randomUUID()
  const head = [
    `--${boundary}`,
    "content-type: application/json; charset=UTF-8",
    "",
    JSON.stringify(resource),
    `--${boundary}`,
    `content-type: ${resource.contentType}`,
    "",
    ""
  ].join("\r\n")
  const body = Buffer.concat([Buffer.from(head), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)])
  return HttpClientRequest.post(url).pipe(HttpClientRequest.bodyUint8Array(body, `multipart/related; boundary=${boundary}`))
}
