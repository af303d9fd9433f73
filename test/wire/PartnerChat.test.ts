import { Effect, Result, Stream } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type {
  AnswerBlock,
  BlockDelta,
  ContentBlock,
  MessageEvent,
  MessageRequest,
  PartnerMessage
} from "../../src/domain/partner/PartnerChat.ts"
import { Code, ServiceError } from "../../src/domain/Errors.ts"
import { serverSentEvents } from "../../src/net/ServerSentEvents.ts"
import {
  answerFromWire,
  answerToWire,
  countAnswerFromWire,
  countAnswerToWire,
  eventFromWire,
  eventToWire,
  failureEventToWire
} from "../../src/wire/partner/PartnerAnswers.ts"
import { errorFromWire } from "../../src/wire/Errors.ts"
import { partnerErrorFromWire, partnerErrorToWire } from "../../src/wire/partner/PartnerErrors.ts"
import { countFromWire, countToWire, messageFromWire, messageToWire } from "../../src/wire/partner/PartnerRequests.ts"

const word = fc.string({ minLength: 1, maxLength: 8 })
const count = fc.integer({ min: 0, max: 100_000 })
const record = fc.dictionary(
  fc.stringMatching(/^[a-z]{1,5}$/),
  fc.oneof(word, count, fc.boolean(), fc.constant(null), fc.array(word, { maxLength: 2 })),
  { maxKeys: 3 }
)
  .map((fields) => ({ ...fields }))
const cached = { cacheControl: fc.constantFrom(null, { type: "ephemeral" as const }, { type: "ephemeral" as const, ttl: "1h" }) }

const text = fc.record({
  type: fc.constant("text" as const),
  text: word,
  citations: fc.constantFrom(null, [{ cited_text: "a" }]),
  ...cached
}, { requiredKeys: ["type", "text"] })
const base64 = fc.record({ type: fc.constant("base64" as const), mediaType: word, data: word })
const image = fc.record({ type: fc.constant("image" as const), source: base64, ...cached }, { requiredKeys: ["type", "source"] })
const document = fc.record({
  type: fc.constant("document" as const),
  source: fc.oneof(
    base64,
    fc.record({ type: fc.constant("text" as const), mediaType: word, data: word }),
    fc.record({ type: fc.constant("content" as const), content: fc.oneof(word, fc.array(fc.oneof(text, image), { maxLength: 2 })) })
  ),
  title: fc.option(word),
  context: fc.option(word),
  citations: fc.constantFrom(null, {}, { enabled: true }),
  ...cached
}, { requiredKeys: ["type", "source"] })
const toolUse = fc.record({ type: fc.constant("tool_use" as const), id: word, name: word, input: record, ...cached }, {
  requiredKeys: ["type", "id", "name", "input"]
})
const toolResult = fc.record({
  type: fc.constant("tool_result" as const),
  toolUseId: word,
  content: fc.oneof(word, fc.array(fc.oneof(text, image, document), { maxLength: 2 })),
  isError: fc.boolean(),
  ...cached
}, { requiredKeys: ["type", "toolUseId"] })
const thinking = fc.record({ type: fc.constant("thinking" as const), thinking: word, signature: word })
const redacted = fc.record({ type: fc.constant("redacted_thinking" as const), data: word })
const block: fc.Arbitrary<ContentBlock> = fc.oneof(text, image, document, toolUse, toolResult, thinking, redacted)

const conversation = {
  model: word,
  messages: fc.array(
    fc.record({ role: fc.constantFrom("user" as const, "assistant" as const), content: fc.oneof(word, fc.array(block, { maxLength: 3 })) }),
    { maxLength: 3 }
  ),
  system: fc.oneof(word, fc.array(text, { maxLength: 2 })),
  tools: fc.array(
    fc.record({ name: word, description: word, inputSchema: record, type: fc.option(word), ...cached }, { requiredKeys: ["name"] }),
    { maxLength: 2 }
  ),
  toolChoice: fc.oneof(
    fc.record({ type: fc.constantFrom("auto" as const, "any" as const), disableParallelToolUse: fc.boolean() }, { requiredKeys: ["type"] }),
    fc.record({ type: fc.constant("tool" as const), name: word, disableParallelToolUse: fc.boolean() }, { requiredKeys: ["type", "name"] }),
    fc.record({ type: fc.constant("none" as const) })
  ),
  thinking: fc.oneof(
    fc.record({ type: fc.constant("enabled" as const), budgetTokens: count }),
    fc.record({ type: fc.constant("disabled" as const) })
  )
}
const unit = fc.double({ min: 0, max: 1, noNaN: true }).map((n) => (n === 0 ? 0 : n)) // JSON has no -0
const request: fc.Arbitrary<MessageRequest> = fc.record({
  ...conversation,
  maxTokens: count,
  stopSequences: fc.array(word, { maxLength: 2 }),
  temperature: unit,
  topP: unit,
  topK: count,
  metadata: fc.record({ userId: fc.option(word) }, { requiredKeys: [] })
}, { requiredKeys: ["model", "messages", "maxTokens"] })

const answerBlock: fc.Arbitrary<AnswerBlock> = fc.oneof(
  text,
  toolUse,
  thinking,
  redacted,
  record.map((fields) => ({ type: "unknown" as const, block: { ...fields, type: "server_tool_use" } }))
)
const usage = fc.record(
  { inputTokens: count, outputTokens: count, cacheCreationInputTokens: fc.option(count), cacheReadInputTokens: fc.option(count) },
  { requiredKeys: ["inputTokens", "outputTokens"] }
)
const message: fc.Arbitrary<PartnerMessage> = fc.record({
  id: word,
  model: word,
  content: fc.array(answerBlock, { maxLength: 3 }),
  stopReason: fc.option(word),
  stopSequence: fc.option(word),
  usage
})
const delta: fc.Arbitrary<BlockDelta> = fc.oneof(
  fc.record({ type: fc.constant("text_delta" as const), text: fc.string() }),
  fc.record({ type: fc.constant("input_json_delta" as const), partialJson: fc.string() }),
  fc.record({ type: fc.constant("thinking_delta" as const), thinking: fc.string({ unit: "grapheme" }) }),
  fc.record({ type: fc.constant("signature_delta" as const), signature: word }),
  fc.record({ type: fc.constant("citations_delta" as const), citation: record })
)
const event: fc.Arbitrary<MessageEvent> = fc.oneof(
  fc.record({ type: fc.constant("message_start" as const), message }),
  fc.record({ type: fc.constant("content_block_start" as const), index: count, contentBlock: answerBlock }),
  fc.record({ type: fc.constant("content_block_delta" as const), index: count, delta }),
  fc.record({ type: fc.constant("content_block_stop" as const), index: count }),
  fc.record({
    type: fc.constant("message_delta" as const),
    delta: fc.record({ stopReason: fc.option(word), stopSequence: fc.option(word) }, { requiredKeys: [] }),
    usage: fc.record({ inputTokens: fc.option(count), outputTokens: fc.option(count) }, { requiredKeys: [] })
  }),
  fc.constant({ type: "message_stop" as const }),
  fc.constant({ type: "ping" as const })
)

const bytesOf = (json: unknown) => new TextEncoder().encode(JSON.stringify(json))
const refusedBody = (body: unknown): ServiceError => {
  const read = messageFromWire("m", typeof body === "string" ? new TextEncoder().encode(body) : bytesOf(body))
  if (Result.isSuccess(read)) throw new Error("was read")
  return read.failure
}
const plain = { anthropic_version: "vertex-2023-10-16", max_tokens: 10, messages: [{ role: "user", content: "hi" }] }

describe("requests", () => {
  it("are read as they were written", () =>
    fc.assert(fc.property(request, fc.boolean(), (request, stream) => {
      const written = Result.getOrThrow(messageToWire(request, stream))
      expect(Result.getOrThrow(messageFromWire(request.model, bytesOf(written)))).toEqual({ request, stream })
    })))

  it("for counts are read as they were written", () =>
    fc.assert(fc.property(fc.record(conversation, { requiredKeys: ["model", "messages"] }), (request) => {
      expect(Result.getOrThrow(countFromWire(bytesOf(Result.getOrThrow(countToWire(request)))))).toEqual(request)
    })))

  it("are those that real clients send", () => {
    const read = (body: object) => Result.getOrThrow(messageFromWire("claude-3-7-sonnet@20250219", bytesOf(body)))
    expect(
      read({
        max_tokens: 2048,
        messages: [{ role: "user", content: "Hello" }],
        thinking: { type: "enabled", budget_tokens: 1024 },
        stream: true,
        anthropic_version: "2026-10-21"
      })
    )
      .toMatchObject({ stream: true, request: { maxTokens: 2048, thinking: { type: "enabled", budgetTokens: 1024 } } })
    expect(
      read({
        max_tokens: 4096,
        messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
        anthropic_version: "vertex-2023-10-16"
      }).stream
    ).toBe(false)
    expect(read({ ...plain, thinking: { type: "enable", budget_tokens: 1024 } }).request.thinking).toEqual({
      type: "enabled",
      budgetTokens: 1024
    })
    expect(
      Result.getOrThrow(countFromWire(bytesOf({ model: "m@20250101", messages: plain.messages, anthropic_version: "2026-10-21" }))).model
    ).toBe("m@20250101")
    expect(Result.getOrThrow(countFromWire(bytesOf({ model: "m@20250101", messages: plain.messages }))).model).toBe("m@20250101")
  })

  it.each<[string, unknown, string]>([
    ["no JSON", "{'a': 1}", "The request body is not valid JSON"],
    ["no version", { ...plain, anthropic_version: undefined }, "anthropic_version: Field required"],
    ["another version", { ...plain, anthropic_version: "bedrock-2023-05-31" }, "anthropic_version: "],
    ["no max_tokens", { ...plain, max_tokens: undefined }, "max_tokens: Field required"],
    ["a field that is not known", { ...plain, model: "claude" }, "model: Extra inputs are not permitted"],
    [
      "a field deep inside",
      { ...plain, messages: [{ role: "user", content: [{ type: "text", text: "a", bold: true }] }] },
      "messages.0.content.0.bold: Extra inputs are not permitted"
    ],
    ["another role", { ...plain, messages: [{ role: "system", content: "a" }] }, "messages.0.role: "],
    ["an image by its address", {
      ...plain,
      messages: [{ role: "user", content: [{ type: "image", source: { type: "url", url: "https://a.example/b.png" } }] }]
    }, "messages.0.content"],
    ["a text that is none", { ...plain, system: 4 }, "system"],
    ["a list", [plain], ""]
  ])("with %s are refused by the field", (_, body, message) => {
    const refused = refusedBody(body)
    expect(refused.code).toBe("INVALID_ARGUMENT")
    expect(refused.message.slice(0, message.length)).toBe(message)
  })

  it("are refused without an echo of what they say", () => {
    const secret = "canary-7f3a"
    for (
      const body of [{ ...plain, system: { secret } }, { ...plain, max_tokens: secret }, {
        ...plain,
        messages: [{ role: secret, content: 1 }]
      }, `{"a": "${secret}`]
    ) {
      expect(JSON.stringify(refusedBody(body))).not.toContain(secret)
    }
  })
})

describe("answers", () => {
  it("are read as they were written", () =>
    fc.assert(fc.property(message, (message) => {
      expect(Result.getOrThrow(answerFromWire(JSON.parse(JSON.stringify(answerToWire(message)))))).toEqual(message)
    })))

  it("may have fields that came later", () => {
    const answer = {
      id: "msg_vrtx_1",
      type: "message",
      role: "assistant",
      model: "m",
      content: [{ type: "text", text: "a", x: 1 }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 2, service_tier: "standard", cache_creation: {} },
      container: null
    }
    expect(Result.getOrThrow(answerFromWire(answer))).toEqual({
      id: "msg_vrtx_1",
      model: "m",
      content: [{ type: "text", text: "a" }],
      stopReason: "end_turn",
      stopSequence: null,
      usage: { inputTokens: 1, outputTokens: 2 }
    })
    expect(Result.getOrThrow(countAnswerFromWire(countAnswerToWire(7)))).toBe(7)
    expect(Result.isFailure(answerFromWire({ ...answer, usage: {} }))).toBe(true)
  })
})

/** Reads bytes that come in these pieces. */
const streamed = (pieces: ReadonlyArray<Uint8Array>) =>
  Effect.runSync(
    serverSentEvents("a test", Stream.fromIterable(pieces)).pipe(
      Stream.mapEffect((data) => Effect.fromResult(eventFromWire(data))),
      Stream.filter((event) => event !== undefined),
      Stream.runCollect,
      Effect.result
    )
  )

const cutAt = (bytes: Uint8Array, cuts: ReadonlyArray<number>): ReadonlyArray<Uint8Array> => {
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]
  return at.slice(1).map((end, i) => bytes.slice(at[i], end))
}

/** What may stand between the events of a stream, and says nothing. */
const noise = fc.constantFrom(
  ": a comment\n\n",
  "event: vertex_event\ndata: {\"type\":\"vertex_event\",\"usage\":{\"input_tokens\":1}}\n\n",
  "event: later\ndata: {\"type\":\"later\"}\n\n",
  "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"later_delta\"}}\n\n",
  "retry: 10\n\n",
  ""
)

describe("the events of a stream", () => {
  it("are read as they were written, wherever the bytes are cut, and whatever unknown comes between", () =>
    fc.assert(
      fc.property(
        fc.array(fc.tuple(event, noise), { maxLength: 8 }),
        fc.array(fc.nat(), { maxLength: 12 }),
        fc.boolean(),
        (written, cuts, crlf) => {
          const text = written.map(([event, noise]) => noise + eventToWire(event)).join("")
          const read = streamed(cutAt(new TextEncoder().encode(crlf ? text.replaceAll("\n", "\r\n") : text), cuts))
          expect(Result.getOrThrow(read)).toEqual(written.map(([event]) => event))
        }
      )
    ))

  it("never throw, whatever comes", () =>
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          record.map((fields) => JSON.stringify({ type: "content_block_delta", ...fields }))
        ),
        (data) => {
          expect(["Success", "Failure"]).toContain(eventFromWire(data)._tag)
        }
      )
    ))

  it("end with a typed error", () => {
    const overloaded = new TextEncoder().encode(
      `${eventToWire({ type: "ping" })}event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n`
    )
    const failed = streamed([overloaded])
    expect(Result.isFailure(failed) && failed.failure).toMatchObject({
      code: "UNAVAILABLE",
      reason: "overloaded_error",
      message: "Overloaded"
    })
    const google = { error: { code: 429, message: "Quota exceeded", status: "RESOURCE_EXHAUSTED" } }
    for (const said of [google, [google]]) {
      const refused = eventFromWire(JSON.stringify(said))
      expect(Result.isFailure(refused) && refused.failure.code).toBe("RESOURCE_EXHAUSTED")
    }
    const written = streamed([new TextEncoder().encode(failureEventToWire(new ServiceError({ code: "UNAVAILABLE", message: "worn out" })))])
    expect(Result.isFailure(written) && written.failure).toMatchObject({ code: "UNAVAILABLE", message: "worn out" })
  })
})

describe("errors", () => {
  it.each(Code.literals)("%s is an error of the model's form, and one that a client reads", (code) => {
    const { body, status } = partnerErrorToWire(new ServiceError({ code, message: "m", fix: "f" }))
    expect(body).toMatchObject({ type: "error", error: { message: "m (f)" } })
    const read = errorFromWire(status, body)
    expect(read.message).toBe("m (f)")
    expect(read.retryable).toBe(new ServiceError({ code: read.code, message: "" }).retryable)
    if (
      [
        "INVALID_ARGUMENT",
        "UNAUTHENTICATED",
        "PERMISSION_DENIED",
        "NOT_FOUND",
        "RESOURCE_EXHAUSTED",
        "INTERNAL",
        "DEADLINE_EXCEEDED",
        "UNAVAILABLE"
      ].includes(code)
    ) {
      expect(read.code).toBe(code)
    }
  })

  it("of a type that is not known have the code of the status", () => {
    expect(errorFromWire(404, { type: "error", error: { type: "later_error", message: "m" } })).toMatchObject({
      code: "NOT_FOUND",
      reason: "later_error"
    })
    expect(partnerErrorFromWire({ error: { message: "m" } }, "INTERNAL")).toBeUndefined()
  })
})
