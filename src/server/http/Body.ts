import type { IncomingMessage } from "node:http"
import { promisify } from "node:util"
import { gunzip, inflate, type ZlibOptions } from "node:zlib"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { ByteSize, Effect } from "effect"
import { HttpIncomingMessage, type HttpServerRequest } from "effect/http"
import { ServiceError } from "../../domain/Errors.ts"

/** Most decompressed bytes as a multiple of the compressed ones; up to {@link smallBytes} any multiple is allowed. */
const expansion = 100

/** Reads the body of a request, decompressed, of at most `limit` bytes. To be run once. */
export const readBody = (request: HttpServerRequest.HttpServerRequest, limit: number): Effect.Effect<Uint8Array, ServiceError> => {
  const encoding = encodingOf(request)
  if (encoding === "identity") return received(request, limit)
  const expand = decoders[encoding]
  if (expand === undefined) {
    return Effect.fail(
      new ServiceError({
        code: "INVALID_ARGUMENT",
        message: `Content-Encoding ${encoding.slice(0, 40)} is not supported, only gzip and deflate.`
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
  const { headers } = request
  const length = Number(headers["content-length"] ?? 0)
  if (length > limit) return Effect.fail(tooLarge(limit))
  const source = NodeHttpServerRequest.toIncomingMessage(request)
  // Node's parser reads exactly as many bytes as are declared, and with HTTP/1.1 none where no header declares a body.
  const declared = source.httpVersionMajor === 1 && headers["transfer-encoding"] === undefined && headers["expect"] === undefined
  if (declared) return length > 0 ? declaredBody(source as IncomingMessage) : Effect.succeed(new Uint8Array()) // HTTP/1.1, so its type is this one
  return request.arrayBuffer.pipe(
    Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(limit)),
    Effect.map((buffer) => new Uint8Array(buffer)),
    Effect.mapError(({ reason }) =>
      reason._tag === "RequestParseError" && reason.reason === "BodyTooLarge"
        ? tooLarge(limit)
        : unreadable()
    )
  )
}

const unreadable = (): ServiceError => new ServiceError({ code: "INVALID_ARGUMENT", message: "the request's body could not be read" })

/** Reads a body of declared length. Every call takes this path, so it avoids the cost of a stream of effects. */
const declaredBody = (source: IncomingMessage): Effect.Effect<Uint8Array, ServiceError> =>
  Effect.callback((resume) => {
    // The client has left: no further events will come.
    if (source.destroyed) return resume(Effect.fail(unreadable()))
    const parts: Array<Buffer> = []
    const take = (part: Buffer): void => void parts.push(part)
    const end = (): void => {
      leave()
      const [first = Buffer.alloc(0), ...others] = parts
      resume(Effect.succeed(others.length === 0 ? first : Buffer.concat(parts)))
    }
    const fail = (): void => {
      leave()
      resume(Effect.fail(unreadable()))
    }
    const leave = (): void => {
      source.off("data", take).off("end", end).off("error", fail).off("close", fail)
    }
    source.on("data", take).on("end", end).on("error", fail).on("close", fail)
    return Effect.sync(leave)
  })

/** Bytes up to which bodies are not counted: the limit of concurrent calls bounds their sum. */
const smallBytes = 1024 * 1024

/** Most bytes that a body can come to, by its declared length or else the limit; 0 for a small body. */
export const largeBody = (request: HttpServerRequest.HttpServerRequest, limit: number): number => {
  const { headers } = request
  const declared = headers["content-length"]
  const bytes = declared === undefined ? (headers["transfer-encoding"] === undefined ? 0 : limit) : Math.min(Number(declared), limit)
  const read = encodingOf(request) === "identity" ? bytes : expandedBytes(bytes, limit)
  return read > smallBytes ? read : 0
}

const tooLarge = (limit: number): ServiceError =>
  new ServiceError({ code: "INVALID_ARGUMENT", message: `Request payload size exceeds the limit: ${limit} bytes.` })
