import { Result } from "effect"
import type { ServiceError } from "../../src/domain/Errors.ts"
import type { ApiVersion } from "../../src/wire/Message.ts"
import { decodeResponse, encodeRequest, encodeResponse, type Route } from "../../src/wire/Routes.ts"
import { readBody } from "../../src/wire/tolerant/Request.ts"

/** What the server reads of what the client sends. */
export const sent = <B>(
  route: Route<string, unknown, B, unknown>,
  body: B & object,
  version: ApiVersion = "v1beta1"
): Result.Result<B, ServiceError> =>
  Result.flatMap(encodeRequest(route, version, body), (json) => readBody(route, JSON.stringify(json), { version, strict: true }))

/** What the client reads of what the server answers. */
export const answered = <R>(
  route: Route<string, unknown, unknown, R>,
  response: R & object,
  version: ApiVersion = "v1beta1",
  enumNumbers = false
): Result.Result<R, ServiceError> =>
  decodeResponse(route, JSON.parse(JSON.stringify(encodeResponse(route, response, { version, enumNumbers }))))
