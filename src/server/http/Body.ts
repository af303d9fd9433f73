import { ByteSize, Effect } from "effect"
import { HttpIncomingMessage, type HttpServerRequest } from "effect/http"
import { ServiceError } from "../../domain/Errors.ts"

/** The bytes of a request, of which there may be `limit`. */
export const readBody = (request: HttpServerRequest.HttpServerRequest, limit: number): Effect.Effect<Uint8Array, ServiceError> => {
  const said = Number(request.headers["content-length"] ?? 0)
  if (said > limit) return Effect.fail(tooLarge(limit))
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
export const largeBody = ({ headers }: HttpServerRequest.HttpServerRequest, limit: number): number => {
  const declared = headers["content-length"]
  const bytes = declared === undefined ? (headers["transfer-encoding"] === undefined ? 0 : limit) : Math.min(Number(declared), limit)
  return bytes > smallBytes ? bytes : 0
}

const tooLarge = (limit: number): ServiceError =>
  new ServiceError({ code: "INVALID_ARGUMENT", message: `Request payload size exceeds the limit: ${limit} bytes.` })
