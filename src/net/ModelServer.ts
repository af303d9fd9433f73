import { Duration, Effect, Layer, type Redacted, type Stream } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import type { Payload } from "../domain/models/Endpoint.ts"
import { ServiceError } from "../domain/Errors.ts"
import type { Prediction } from "../ports/Endpoints.ts"
import { ModelServer } from "../ports/ModelServer.ts"
import { transportErrorOf } from "./HttpErrors.ts"
import { bytesOf } from "./ServerSentEvents.ts"

/** Milliseconds until an answer starts, and between two pieces of it. */
const idleMs = 110_000

/** Posts to model servers. A redirect is returned as the answer: a payload only goes to the operator's address. */
export const layer: Layer.Layer<ModelServer, never, HttpClient.HttpClient> = Layer.effect(
  ModelServer,
  Effect.gen(function*() {
    const http = yield* HttpClient.HttpClient
    return ModelServer.of({
      post: Effect.fn("ModelServer.post")(function*(
        url: string,
        { body, contentType }: Payload,
        apiKey?: Redacted.Redacted<string>
      ): Effect.fn.Return<Prediction<Stream.Stream<Uint8Array, ServiceError>>, ServiceError> {
        const what = `the model server ${new URL(url).host}`
        const request = HttpClientRequest.post(url).pipe(
          apiKey === undefined ? (self) => self : HttpClientRequest.bearerToken(apiKey),
          HttpClientRequest.bodyUint8Array(body, contentType)
        )
        const response = yield* http.execute(request).pipe(
          Effect.mapError((error) => transportErrorOf(what, error)),
          Effect.timeoutOrElse({
            duration: Duration.millis(idleMs),
            orElse: () =>
              Effect.fail(new ServiceError({ code: "DEADLINE_EXCEEDED", message: `${what} did not answer within ${idleMs} ms` }))
          })
        )
        return {
          status: response.status,
          contentType: response.headers["content-type"] ?? "application/octet-stream",
          body: bytesOf(what, response, idleMs)
        }
      })
    })
  })
)
