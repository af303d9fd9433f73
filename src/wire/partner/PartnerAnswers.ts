import { Result, Schema } from "effect"
import { ServiceError } from "../../domain/Errors.ts"
import type { AnswerBlock, MessageEvent, PartnerMessage } from "../../domain/partner/PartnerChat.ts"
import { errorFromWire } from "../Errors.ts"
import { isJsonObject, type Json } from "../Message.ts"
import { nullableText, optional, record, RedactedThinking, Text, Thinking, ToolUse } from "./PartnerBlocks.ts"
import { partnerErrorToWire } from "./PartnerErrors.ts"

// Answers of a partner's model, Claude, whole and in events. Unknown parts are left out.

const CountAnswer = Schema.Struct({ inputTokens: Schema.Int }).pipe(Schema.encodeKeys({ inputTokens: "input_tokens" }))

const usageKeys = {
  inputTokens: "input_tokens",
  outputTokens: "output_tokens",
  cacheCreationInputTokens: "cache_creation_input_tokens",
  cacheReadInputTokens: "cache_read_input_tokens"
} as const
const cacheUsage = {
  cacheCreationInputTokens: optional(Schema.NullOr(Schema.Int)),
  cacheReadInputTokens: optional(Schema.NullOr(Schema.Int))
}
const Usage = Schema.Struct({ inputTokens: Schema.Int, outputTokens: Schema.Int, ...cacheUsage }).pipe(Schema.encodeKeys(usageKeys))
const UsageSoFar = Schema.Struct({
  inputTokens: optional(Schema.NullOr(Schema.Int)),
  outputTokens: optional(Schema.NullOr(Schema.Int)),
  ...cacheUsage
}).pipe(Schema.encodeKeys(usageKeys))

const stopKeys = { stopReason: "stop_reason", stopSequence: "stop_sequence" } as const

const Message = Schema.Struct({
  id: Schema.String,
  model: Schema.String,
  content: Schema.Array(record),
  stopReason: nullableText,
  stopSequence: nullableText,
  usage: Usage
}).pipe(Schema.encodeKeys(stopKeys))

const Block = Schema.Union([Text, ToolUse, Thinking, RedactedThinking])
const blockTypes: ReadonlySet<unknown> = new Set(["text", "tool_use", "thinking", "redacted_thinking"])

const Delta = Schema.Union([
  Schema.Struct({ type: Schema.Literal("text_delta"), text: Schema.String }),
  Schema.Struct({ type: Schema.Literal("input_json_delta"), partialJson: Schema.String }).pipe(
    Schema.encodeKeys({ partialJson: "partial_json" })
  ),
  Schema.Struct({ type: Schema.Literal("thinking_delta"), thinking: Schema.String }),
  Schema.Struct({ type: Schema.Literal("signature_delta"), signature: Schema.String }),
  Schema.Struct({ type: Schema.Literal("citations_delta"), citation: record })
])
const deltaTypes: ReadonlySet<unknown> = new Set(["text_delta", "input_json_delta", "thinking_delta", "signature_delta", "citations_delta"])

const Event = Schema.Union([
  Schema.Struct({ type: Schema.Literal("message_start"), message: Message }),
  Schema.Struct({ type: Schema.Literal("content_block_start"), index: Schema.Int, contentBlock: record }).pipe(
    Schema.encodeKeys({ contentBlock: "content_block" })
  ),
  Schema.Struct({ type: Schema.Literal("content_block_delta"), index: Schema.Int, delta: Delta }),
  Schema.Struct({ type: Schema.Literal("content_block_stop"), index: Schema.Int }),
  Schema.Struct({
    type: Schema.Literal("message_delta"),
    delta: Schema.Struct({ stopReason: optional(nullableText), stopSequence: optional(nullableText) }).pipe(Schema.encodeKeys(stopKeys)),
    usage: UsageSoFar
  }),
  Schema.Struct({ type: Schema.Literal("message_stop") }),
  Schema.Struct({ type: Schema.Literal("ping") })
])
const eventTypes: ReadonlySet<unknown> = new Set([
  "message_start",
  "content_block_start",
  "content_block_delta",
  "content_block_stop",
  "message_delta",
  "message_stop",
  "ping"
])

const unreadable = (what: string): ServiceError => ServiceError.internal(`the model's ${what} could not be read`)

/** Decodes JSON of a service. Errors do not repeat the JSON. */
const read = <A, I>(schema: Schema.Codec<A, I>, what: string) => {
  const decode = Schema.decodeUnknownResult(schema)
  return (json: unknown): Result.Result<A, ServiceError> => Result.mapError(decode(json), () => unreadable(what))
}

const readCount = read(CountAnswer, "count of tokens")
const readBlock = read(Block, "answer")
const readMessage = read(Message, "answer")
const readEvent = read(Event, "stream")
const writeBlock = Schema.encodeSync(Block)
const writeMessage = Schema.encodeSync(Message)
const writeEvent = Schema.encodeSync(Event)

type Fields = typeof record.Type

const blockFromWire = (block: Fields): Result.Result<AnswerBlock, ServiceError> =>
  blockTypes.has(block["type"]) ? readBlock(block) : Result.succeed({ type: "unknown", block })

const blockToWire = (block: AnswerBlock): Fields => (block.type === "unknown" ? block.block : { ...writeBlock(block) })

const withBlocks = <A extends { readonly content: ReadonlyArray<Fields> }>(message: A) =>
  Result.map(Result.all(message.content.map(blockFromWire)), (content) => ({ ...message, content }))

export const countAnswerFromWire = (json: unknown): Result.Result<number, ServiceError> =>
  Result.map(readCount(json), ({ inputTokens }) => inputTokens)

export const countAnswerToWire = (inputTokens: number): object => ({ input_tokens: inputTokens })

export const answerFromWire = (json: unknown): Result.Result<PartnerMessage, ServiceError> => Result.flatMap(readMessage(json), withBlocks)

export const answerToWire = (message: PartnerMessage): object => ({
  type: "message",
  role: "assistant",
  ...writeMessage({ ...message, content: message.content.map(blockToWire) })
})

/**
 * Decodes the data of one server-sent event; undefined for unknown kinds, such as `vertex_event`. Fails with an error that the
 * event reports.
 */
export const eventFromWire = (data: string): Result.Result<MessageEvent | undefined, ServiceError> =>
  Result.gen(function*() {
    const json = yield* Result.try({ try: () => JSON.parse(data) as Json, catch: () => unreadable("stream") })
    // Errors of the service's front end have another format.
    if (Array.isArray(json) || (isJsonObject(json) && json["error"] !== undefined)) return yield* Result.fail(errorFromWire(500, json))
    if (!isJsonObject(json) || !eventTypes.has(json["type"]) || isUnknownDelta(json["delta"])) return undefined
    const event = yield* readEvent(json)
    switch (event.type) {
      case "message_start":
        return { ...event, message: yield* withBlocks(event.message) }
      case "content_block_start":
        return { ...event, contentBlock: yield* blockFromWire(event.contentBlock) }
      default:
        return event
    }
  })

const isUnknownDelta = (delta: Json | undefined): boolean =>
  isJsonObject(delta) && delta["type"] !== undefined && !deltaTypes.has(delta["type"])

const eventJson = (event: MessageEvent): object => {
  switch (event.type) {
    case "message_start":
      return { type: event.type, message: answerToWire(event.message) }
    case "content_block_start":
      return writeEvent({ ...event, contentBlock: blockToWire(event.contentBlock) })
    default:
      return writeEvent(event)
  }
}

/** The text of one server-sent event. */
export const eventToWire = (event: MessageEvent): string => sent(event.type, eventJson(event))

/** The last event of a stream that failed. */
export const failureEventToWire = (error: ServiceError): string => sent("error", partnerErrorToWire(error).body)

const sent = (type: string, data: object): string => `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`
