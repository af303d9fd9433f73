import { Context, Effect, Layer, Predicate, Stream } from "effect"
import { HttpClientRequest, type HttpClientResponse } from "effect/http"
import { ServiceError } from "../../domain/Errors.ts"
import { bytesOf, serverSentEvents } from "../../net/ServerSentEvents.ts"
import { errorFromWire } from "../../wire/Errors.ts"
import type { CountTokensRequest, CountTokensResponse } from "../../wire/messages/CountTokens.ts"
import type { GenerateContentRequest, GenerateContentResponse } from "../../wire/messages/GenerateContent.ts"
import { decodeResponse, encodeRequest, path, routes } from "../../wire/Routes.ts"
import { withFix } from "./Fixes.ts"
import { Transport, version } from "./Transport.ts"
import { answered } from "./Unanswered.ts"

/** Most milliseconds until an answer starts, and between two pieces of it. */
const idleMs = 60_000
const timeoutMs = 5 * 60_000

/** The methods of content generation, as API messages. Models are given by their short names (`gemini-2.0-flash`) or full names. */
export class GenerateContent extends Context.Service<GenerateContent, {
  /** The whole answer. */
  readonly generate: (model: string, request: GenerateContentRequest) => Effect.Effect<GenerateContentResponse, ServiceError>
  /**
   * The answer in pieces. The request is retried only before the first piece; ending the stream early closes the connection. The
   * stream fails if it breaks off, has an error in it, or stays silent for too long.
   */
  readonly stream: (model: string, request: GenerateContentRequest) => Stream.Stream<GenerateContentResponse, ServiceError>
  readonly countTokens: (model: string, request: CountTokensRequest) => Effect.Effect<CountTokensResponse, ServiceError>
}>()("sluice/hosted/GenerateContent") {}

export const layer: Layer.Layer<GenerateContent, never, Transport> = Layer.effect(
  GenerateContent,
  Effect.gen(function*() {
    const transport = yield* Transport

    const open = Effect.fnUntraced(function*(model: string, body: GenerateContentRequest) {
      const where = yield* Effect.fromResult(path(routes.streamGenerateContent, version, { model: modelName(transport.parent, model) }))
      const content = yield* Effect.fromResult(encodeRequest(routes.streamGenerateContent, version, body))
      const request = HttpClientRequest.post(`${transport.endpoint.baseUrl}${where}?alt=sse`).pipe(
        HttpClientRequest.accept("text/event-stream"),
        HttpClientRequest.bodyJsonUnsafe(content)
      )
      const outgoing = { what: "StreamGenerateContent", request, bucket: "generate" as const, timeoutMs: idleMs }
      const response = yield* transport.retry(answered(transport.send(outgoing, Effect.succeed)))
      return pieces(transport, response)
    })

    return GenerateContent.of({
      generate: Effect.fn("Generation.generate")(function*(model: string, body: GenerateContentRequest) {
        const params = { model: modelName(transport.parent, model) }
        return yield* transport.call({ route: routes.generateContent, params, body, bucket: "generate", timeoutMs })
      }),
      stream: (model, request) => Stream.unwrap(open(model, request)).pipe(Stream.withSpan("Generation.stream", { attributes: { model } })),
      countTokens: Effect.fn("Generation.countTokens")(function*(model: string, body: CountTokensRequest) {
        const params = { endpoint: modelName(transport.parent, model) }
        return yield* transport.call({ route: routes.countTokens, params, body, bucket: "generate" })
      })
    })
  })
)

const pieces = (
  transport: Transport["Service"],
  response: HttpClientResponse.HttpClientResponse
): Stream.Stream<GenerateContentResponse, ServiceError> =>
  Stream.suspend(() => {
    const what = `StreamGenerateContent of ${transport.endpoint.host}`
    let finished = false
    return serverSentEvents(what, bytesOf(what, response, idleMs)).pipe(
      Stream.mapEffect((data) => pieceOf(transport.project, what, data)),
      Stream.tap(({ candidates, promptFeedback }) =>
        Effect.sync(() => {
          finished ||= (candidates?.[0]?.finishReason ?? promptFeedback?.blockReason) !== undefined
        })
      ),
      Stream.concat(Stream.suspend(() =>
        finished
          ? Stream.empty
          : Stream.fail(new ServiceError({ code: "UNAVAILABLE", message: `${what} broke off before the answer was complete` }))
      ))
    )
  })

/** A piece of a stream. An error within a stream comes after status 200, in place of a piece. */
const pieceOf = Effect.fnUntraced(function*(project: string, what: string, data: string) {
  const json = yield* Effect.try({
    try: () => JSON.parse(data) as unknown,
    catch: () => new ServiceError({ code: "UNAVAILABLE", message: `${what} sent something that is not JSON, or only part of it` })
  })
  const error = Predicate.isObject(json) && "error" in json ? json.error : undefined
  if (error !== undefined) {
    const status = Predicate.isObject(error) && "code" in error ? Number(error.code) : 500
    return yield* withFix(errorFromWire(status, json), project)
  }
  return yield* Effect.fromResult(decodeResponse(routes.streamGenerateContent, json))
})

/** Full name of a model, from `gemini-2.0-flash`, `publishers/meta/models/…`, `endpoints/…` or the full name itself. */
export const modelName = (parent: string, model: string): string =>
  model.startsWith("projects/") ? model : model.includes("/") ? `${parent}/${model}` : `${parent}/publishers/google/models/${model}`
