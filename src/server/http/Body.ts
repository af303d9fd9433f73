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

const tooLarge = (limit: number): ServiceError =>
  new ServiceError({ code: "INVALID_ARGUMENT", message: `Request payload size exceeds the limit: ${limit} bytes.` })
