import { Effect, Predicate, Schema, Stream } from "effect"
import type { HttpClientResponse } from "effect/http"
import { ServiceError } from "../../domain/Errors.ts"
import { errorOfBody } from "../../net/HttpErrors.ts"
import { bytesOf, serverSentEvents } from "../../net/ServerSentEvents.ts"
import type { Written } from "../GroundedGenerator.ts"
import type { Service } from "./Connection.ts"

/** A piece of a chat answer. */
export interface ChatEvent extends Written {
  readonly finish?: string
}

const Message = Schema.Struct({ content: Schema.optionalKey(Schema.NullOr(Schema.String)) })
const Chunk = Schema.Struct({
  choices: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.Struct({
    delta: Schema.optionalKey(Schema.NullOr(Message)),
    message: Schema.optionalKey(Schema.NullOr(Message)),
    finish_reason: Schema.optionalKey(Schema.NullOr(Schema.String))
  })))),
  usage: Schema.optionalKey(Schema.NullOr(Schema.Struct({
    prompt_tokens: Schema.Int,
    completion_tokens: Schema.optionalKey(Schema.Int),
    total_tokens: Schema.optionalKey(Schema.Int)
  }))),
  error: Schema.optionalKey(Schema.Unknown)
})
const decodeChunk = Schema.decodeUnknownEffect(Schema.fromJsonString(Chunk))

/**
 * A chat completion as it is written. Ends when the service says it is done; a connection that breaks off before, an
 * error inside the stream, and a silence of `timeoutMs` are failures. Ending the stream early closes the connection.
 * Requests are tried again only until an answer begins.
 */
export const chatEvents = (service: Service, body: object, timeoutMs: number): Stream.Stream<ChatEvent, ServiceError> =>
  Stream.unwrap(service.post(body, (response) => Effect.succeed(eventsOf(service, response, timeoutMs))))

const eventsOf = (
  service: Service,
  response: HttpClientResponse.HttpClientResponse,
  timeoutMs: number
): Stream.Stream<ChatEvent, ServiceError> =>
  Stream.suspend(() => {
    let finished = false
    const bytes = bytesOf(service.what, response, timeoutMs)
    // A server that does not know `stream` answers in one piece.
    const whole = response.headers["content-type"]?.startsWith("application/json") === true
    return (whole ? Stream.fromEffect(Stream.mkString(Stream.decodeText(bytes))) : serverSentEvents(service.what, bytes)).pipe(
      Stream.takeWhile((data) => {
        if (data === "[DONE]") finished = true
        return data !== "[DONE]"
      }),
      Stream.mapEffect((data) => chatEventOf(service, data)),
      Stream.tap((event) => Effect.sync(() => {
        if (event.finish !== undefined) finished = true
      })),
      Stream.concat(Stream.suspend(() =>
        finished
          ? Stream.empty
          : Stream.fail(new ServiceError({ code: "UNAVAILABLE", message: `${service.what} broke off before the answer was complete` }))
      ))
    )
  })

const chatEventOf = Effect.fnUntraced(function*(service: Service, data: string) {
  const chunk = yield* decodeChunk(data).pipe(Effect.mapError(() =>
    new ServiceError({
      code: "FAILED_PRECONDITION",
      message: `${service.what} sent something that is no chat completion`,
      fix: "Check that the base URL is that of an OpenAI-compatible service."
    })
  ))
  if (chunk.error !== undefined && chunk.error !== null) {
    return yield* errorOfBody(service.what, { status: statusOf(chunk.error), body: data, secrets: service.secrets() })
  }
  const choice = chunk.choices?.[0]
  const usage = chunk.usage
  const event: ChatEvent = {
    text: choice?.delta?.content ?? choice?.message?.content ?? "",
    ...(typeof choice?.finish_reason === "string" ? { finish: choice.finish_reason } : {}),
    ...(usage === undefined || usage === null ? {} : {
      usage: {
        promptTokens: usage.prompt_tokens,
        answerTokens: usage.completion_tokens ?? 0,
        totalTokens: usage.total_tokens ?? usage.prompt_tokens + (usage.completion_tokens ?? 0)
      }
    })
  }
  if (event.finish === "content_filter") {
    return yield* new ServiceError({ code: "FAILED_PRECONDITION", message: `${service.what} withheld the answer (content filter)` })
  }
  return event
})

/** An error inside a stream comes after the 200; some services put the status it would have had into `code`. */
const statusOf = (error: unknown): number => {
  const code = Predicate.isObject(error) && "code" in error ? Number(error.code) : Number.NaN
  return code >= 400 && code < 600 ? code : 500
}
