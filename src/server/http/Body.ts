import { promisify } from "node:util"
import { gunzip, inflate, type ZlibOptions } from "node:zlib"
import { ByteSize, Effect } from "effect"
import { HttpIncomingMessage, type HttpServerRequest } from "effect/http"
import { ServiceError } from "../../domain/Errors.ts"

/** What compressed bytes may come to, as a multiple of theirs; below {@link smallBytes}, whatever the multiple. */
const expansion = 100

/** The bytes of a request, decompressed, of which there may be `limit`. */
export const readBody = (request: HttpServerRequest.HttpServerRequest, limit: number): Effect.Effect<Uint8Array, ServiceError> => {
  const encoding = encodingOf(request)
  if (encoding === "identity") return received(request, limit)
  const expand = decoders[encoding]
  if (expand === undefined) {
    return Effect.fail(
      new ServiceError({
        code: "INVALID_ARGUMENT",
        message: `Content-Encoding ${encoding.slice(0, 40)} is not taken, only gzip and deflate.`
      })
    )
  }
  return Effect.flatMap(received(request, limit), (bytes) => {
    const most = expandedBytes(bytes.length, limit)
    return Effect.tryPromise({
      try: () => expand(bytes, { maxOutputLength: most }),
      catch: (cause) =>
        cause instanceof RangeError
          ? new ServiceError({ code: "INVALID_ARGUMENT", message: `Request payload expands to more than ${most} bytes.` })
          : new ServiceError({ code: "INVALID_ARGUMENT", message: `the request's body is not ${encoding}` })
    })
  })
}

const decoders: Readonly<Record<string, (bytes: Uint8Array, options: ZlibOptions) => Promise<Uint8Array>>> = {
  gzip: promisify(gunzip),
  "x-gzip": promisify(gunzip),
  deflate: promisify(inflate)
}

const encodingOf = ({ headers }: HttpServerRequest.HttpServerRequest): string =>
  headers["content-encoding"]?.trim().toLowerCase() || "identity"

export const isEncoded = (request: HttpServerRequest.HttpServerRequest): boolean => encodingOf(request) !== "identity"

const expandedBytes = (bytes: number, limit: number): number => Math.min(limit, Math.max(smallBytes, bytes * expansion))

const received = (request: HttpServerRequest.HttpServerRequest, limit: number): Effect.Effect<Uint8Array, ServiceError> => {
  const length = Number(request.headers["content-length"] ?? 0)
  if (length > limit) return Effect.fail(tooLarge(limit))
  return request.arrayBuffer.pipe(
    Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(limit)),
    Effect.map((buffer) => new Uint8Array(buffer)),
    Effect.mapError(({ reason }) =>
      reason._tag === "RequestParseError" && reason.reason === "BodyTooLarge"
        ? tooLarge(limit)
        : new ServiceError({ code: "INVALID_ARGUMENT", message: "the request's body could not be read" })
    )
  )
}

/** What the number of calls bounds well enough. */
const smallBytes = 1024 * 1024

/** Bytes that a body may come to, where it is a large one: as its sender declares it, or all it may have. */
export const largeBody = (request: HttpServerRequest.HttpServerRequest, limit: number): number => {
  const { headers } = request
  const declared = headers["content-length"]
  const bytes = declared === undefined ? (headers["transfer-encoding"] === undefined ? 0 : limit) : Math.min(Number(declared), limit)
  const read = encodingOf(request) === "identity" ? bytes : expandedBytes(bytes, limit)
  return read > smallBytes ? read : 0
}

const tooLarge = (limit: number): ServiceError =>
  new ServiceError({ code: "INVALID_ARGUMENT", message: `Request payload size exceeds the limit: ${limit} bytes.` })
