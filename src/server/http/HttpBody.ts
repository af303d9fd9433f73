import { Stream } from "effect"
import { BrokenAnswer, type RawAnswer } from "../Call.ts"

/** What a raw method was given for its model. */
export interface RawPayload {
  readonly contentType: string
  readonly body: Uint8Array
  /** It came in a message, and so does its answer go. */
  readonly inMessage: boolean
}

/** In bytes: the message is looked for in nothing that does not begin like it. */
const opening = /^\s*\{\s*"(?:httpBody|http_body|endpoint)"\s*:/
const looked = 512
const parts = new Set(["httpBody", "http_body", "endpoint"])

/**
 * The payload of a raw call: the body as it is, or what is inside where it is the request's message itself. Google's
 * client libraries over REST send that, `{"httpBody": {"contentType": …, "data": …}}`, with the bytes in base64 (wire,
 * appendix C, rawPredict).
 */
export const payloadOf = (body: Uint8Array, contentType: string): RawPayload => {
  const plain = { contentType: contentType === "" ? "application/json" : contentType, body, inMessage: false }
  if (!opening.test(Buffer.from(body.subarray(0, looked)).toString("latin1"))) return plain
  const message = parse(body)
  const inner = message?.["httpBody"] ?? message?.["http_body"]
  if (message === undefined || !isObject(inner) || !Object.keys(message).every((key) => parts.has(key))) return plain
  const { data = "", contentType: camel, content_type: snake } = inner
  const type = camel ?? snake ?? "application/json"
  return typeof data === "string" && typeof type === "string"
    ? { contentType: type, body: new Uint8Array(Buffer.from(data, "base64")), inMessage: true }
    : plain
}

/** The answer as those clients read it: one message, or an array of them. A failure stays as it is. */
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
    return isObject(json) ? json : undefined
  } catch {
    return undefined
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value)
