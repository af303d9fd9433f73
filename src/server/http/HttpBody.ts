import { Predicate, Stream } from "effect"
import { BrokenAnswer, type RawAnswer } from "../Call.ts"

/** The payload of a raw call, for its model. */
export interface RawPayload {
  readonly contentType: string
  readonly body: Uint8Array
  /** Whether it came inside a message, as then its answer has to go. */
  readonly inMessage: boolean
}

/** Start of a body that may be a message; others are not parsed. */
const opening = /^\s*\{\s*"(?:httpBody|http_body|endpoint)"\s*:/
/** Bytes of a body that are examined for it. */
const looked = 512
const parts = new Set(["httpBody", "http_body", "endpoint"])

/**
 * The payload of a raw call: the body as it is or, where the body is the request message, the payload inside. Google's client
 * libraries over REST send the message, `{"httpBody": {"contentType": …, "data": …}}`, with the bytes in base64 (wire,
 * appendix C, rawPredict).
 */
export const payloadOf = (body: Uint8Array, contentType: string): RawPayload => {
  const plain = { contentType: contentType === "" ? "application/json" : contentType, body, inMessage: false }
  if (!opening.test(Buffer.from(body.subarray(0, looked)).toString("latin1"))) return plain
  const message = parse(body)
  const inner = message?.["httpBody"] ?? message?.["http_body"]
  if (message === undefined || !Predicate.isObject(inner) || !Object.keys(message).every((key) => parts.has(key))) return plain
  const { data = "", contentType: camel, content_type: snake } = inner
  const type = camel ?? snake ?? "application/json"
  return typeof data === "string" && typeof type === "string"
    ? { contentType: type, body: new Uint8Array(Buffer.from(data, "base64")), inMessage: true }
    : plain
}

/** The answer in messages, as those clients read it: one message, or an array of them when streaming. A failure stays as it is. */
export const inMessage = (answer: RawAnswer, streaming: boolean): RawAnswer => {
  const { body, contentType, status = 200 } = answer
  if (status >= 300) return answer
  const message = (data: Uint8Array): string => JSON.stringify({ contentType, data: Buffer.from(data).toString("base64") })
  const json = { ...answer, contentType: "application/json; charset=utf-8" }
  if (body instanceof Uint8Array) {
    return { ...json, body: Buffer.from(streaming ? `[${message(body)}]` : message(body)) }
  }
  let count = 0
  const element = (data: Uint8Array): string => `${count++ === 0 ? "" : ",\r\n"}${message(data)}`
  const messages = Stream.map(body, element).pipe(
    Stream.mapError(({ last }) => new BrokenAnswer({ last: last.length === 0 ? last : Buffer.from(element(last)) }))
  )
  return { ...json, body: Stream.encodeText(Stream.make("[").pipe(Stream.concat(messages), Stream.concat(Stream.make("]")))) }
}

const parse = (body: Uint8Array): Record<string, unknown> | undefined => {
  try {
    const json: unknown = JSON.parse(Buffer.from(body).toString("utf8"))
    return Predicate.isObject(json) ? json : undefined
  } catch {
    return undefined
  }
}
