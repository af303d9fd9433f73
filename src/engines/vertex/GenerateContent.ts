import { Context, Effect, Layer, Predicate, Stream } from "effect"
import { HttpClientRequest, type HttpClientResponse } from "effect/http"
import { ServiceError } from "../../domain/Errors.ts"
import { secretsIn } from "../../domain/Redact.ts"
import { bytesOf, serverSentEvents } from "../../net/ServerSentEvents.ts"
import { errorFromWire } from "../../wire/Errors.ts"
import type { CountTokensRequest, CountTokensResponse } from "../../wire/messages/CountTokens.ts"
import type { GenerateContentRequest, GenerateContentResponse } from "../../wire/messages/GenerateContent.ts"
import { decodeResponse, encodeRequest, path, routes } from "../../wire/Routes.ts"
import { parsed, reportedBy } from "./Responses.ts"
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
    const failed = (error: unknown): ServiceError => {
      const status = Predicate.isObject(error) && "code" in error ? Number(error.code) : 500
      return reportedBy(what, transport.project, errorFromWire(status, { error }), secretsIn(response.request.headers))
    }
    let finished = false
    /** The last parts, of {@link longestError} bytes together or a little more. */
    const end: Array<Uint8Array> = []
    let size = 0
    const bytes = bytesOf(what, response, idleMs).pipe(
      Stream.tap((part) =>
        Effect.sync(() => {
          size += part.length
          end.push(part)
          while (size - end[0]!.length >= longestError) size -= end.shift()!.length
        })
      )
    )
    return serverSentEvents(what, bytes).pipe(
      Stream.mapEffect(Effect.fnUntraced(function*(data) {
        const json = parsed(data)
        if (json === undefined) {
          return yield* new ServiceError({ code: "UNAVAILABLE", message: `${what} sent something that is not JSON, or only part of it` })
        }
        const error = errorIn(json)
        return error === undefined ? yield* Effect.fromResult(decodeResponse(routes.streamGenerateContent, json)) : yield* failed(error)
      })),
      Stream.tap(({ candidates, promptFeedback }) =>
        Effect.sync(() => {
          finished ||= (candidates?.[0]?.finishReason ?? promptFeedback?.blockReason) !== undefined
        })
      ),
      Stream.concat(Stream.suspend(() => {
        if (finished) return Stream.empty
        const error = errorIn(parsed(afterEvents(Buffer.concat(end).toString("utf8"))))
        return Stream.fail(
          error === undefined
            ? new ServiceError({ code: "UNAVAILABLE", message: `${what} broke off before the answer was complete` })
            : failed(error)
        )
      }))
    )
  })

/** Bytes of an error after the last event that are read at least. */
const longestError = 64 * 1024

/** What stands after the last event: an error that ends a stream may come without the form of an event. */
const afterEvents = (text: string): string => text.slice(Math.max(0, ...["\n\n", "\r\n\r\n"].map((end) => text.trimEnd().lastIndexOf(end))))

/** The error within a stream, which comes after status 200, in place of a piece; some are in a list of one. */
const errorIn = (json: unknown): unknown => {
  const first: unknown = Array.isArray(json) ? json[0] : json
  return Predicate.isObject(first) && "error" in first ? first.error : undefined
}

/** Full name of a model, from `gemini-2.0-flash`, `publishers/meta/models/…`, `endpoints/…` or the full name itself. */
export const modelName = (parent: string, model: string): string =>
  model.startsWith("projects/") ? model : model.includes("/") ? `${parent}/${model}` : `${parent}/publishers/google/models/${model}`
