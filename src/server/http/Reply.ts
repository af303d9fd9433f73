import { type Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import type { ServiceError } from "../../domain/Errors.ts"
import { errorToWire } from "../../wire/Errors.ts"
import type { JsonObject } from "../../wire/Message.ts"
import { type BrokenAnswer, breakingWith, type RawAnswer, retryHeaders } from "../Call.ts"

/** Format of a response, as the query requests it. */
export interface ReplyStyle {
  readonly pretty: boolean
  /** Framing of a streaming method's messages and errors. Absent for unary methods. */
  readonly framing?: "array" | "sse"
}

export type Reply = HttpServerResponse.HttpServerResponse

const contentType = "application/json; charset=utf-8"

/** Headers of every response: shared caches must not store it, and browsers must not guess its type. */
const headers = { "cache-control": "private", "x-content-type-options": "nosniff", "x-frame-options": "SAMEORIGIN" }

const print = (body: unknown, { pretty }: ReplyStyle): string => pretty ? `${JSON.stringify(body, null, 2)}\n` : JSON.stringify(body)

export const json = (body: unknown, style: ReplyStyle, status = 200, more: Readonly<Record<string, string>> = {}): Reply =>
  HttpServerResponse.text(print(body, style), { status, contentType, headers: { ...headers, ...more } })

/** Sends the last bytes of an incomplete answer, and breaks the connection. */
export type BreakOff = (last: Uint8Array) => Effect.Effect<never>

/** Response with an answer in the model's own format. */
export const raw = ({ body, contentType, headers: more = {}, status = 200 }: RawAnswer, breakOff: BreakOff): Reply => {
  const options = { status, contentType, headers: { ...headers, ...more } }
  return body instanceof Uint8Array
    ? HttpServerResponse.uint8Array(body, options)
    : HttpServerResponse.stream(breaking(body, breakOff), options)
}

const breaking = (body: Stream.Stream<Uint8Array, BrokenAnswer>, breakOff: BreakOff): Stream.Stream<Uint8Array> =>
  Stream.catch(body, ({ last }) => Stream.fromEffect(breakOff(last)))

/** Response with an error. `metadata` goes into its ErrorInfo. */
export const failure = (error: ServiceError, style: ReplyStyle, metadata: Readonly<Record<string, string>> = {}): Reply => {
  const { body, status } = errorToWire(error, metadata)
  const challenge: Record<string, string> = status === 401 ? { "www-authenticate": "Bearer realm=\"sluice\"" } : {}
  return json(style.framing === "array" ? [body] : body, style, status, { ...retryHeaders(error), ...challenge })
}

/**
 * Streams messages as a JSON array with one message per line, or as server-sent events. Nothing but the end of the stream marks
 * the end.
 */
export const streamed = (messages: Stream.Stream<JsonObject, ServiceError>, style: ReplyStyle, breakOff: BreakOff): Reply => {
  const sse = style.framing === "sse"
  let count = 0
  const frame = (message: JsonObject): string =>
    sse ? `data: ${JSON.stringify(message)}\r\n\r\n` : `${count++ === 0 ? "[" : ",\r\n"}${print(message, style).trimEnd()}\n`
  const framed = breakingWith(Stream.map(messages, frame), (error) => frame(errorToWire(error).body))
  const text = sse ? framed : Stream.concat(framed, Stream.succeed("]"))
  return HttpServerResponse.stream(breaking(Stream.encodeText(text), breakOff), {
    contentType: sse ? "text/event-stream" : contentType,
    headers
  })
}
