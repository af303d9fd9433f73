import { describe, expect, it } from "vitest"
import type { ContentBlock, Conversation, MessageRequest, MessageTurn } from "../../src/domain/partner/PartnerChat.ts"
import { countTokens } from "../../src/text/Tokens.ts"
import {
  conversationWarning,
  refusedCount as refusedCountBy,
  refusedMessage as refusedMessageBy,
  refusedRegion
} from "../../src/domain/partner/PartnerChatRules.ts"
import { partnerModels } from "../../src/domain/partner/PartnerModels.ts"
import { base64Bytes, estimatedTokens } from "../../src/domain/partner/PartnerTokens.ts"

const haiku = "claude-3-5-haiku@20241022"
const sonnet = "claude-3-7-sonnet@20250219"

const asks = (more: Partial<MessageRequest> = {}): MessageRequest => ({
  model: haiku,
  maxTokens: 100,
  messages: [{ role: "user", content: "hi" }],
  ...more
})
const says = (...contents: ReadonlyArray<MessageTurn["content"]>): Partial<MessageRequest> => ({
  messages: contents.map((content, i) => ({ role: i % 2 === 0 ? "user" : "assistant", content }))
})
const image = (bytes = 3, mediaType = "image/png"): ContentBlock => ({
  type: "image",
  source: { type: "base64", mediaType, data: Buffer.alloc(bytes).toString("base64") }
})
const call = (id: string): ContentBlock => ({ type: "tool_use", id, name: "weather", input: {} })
const result = (toolUseId: string): ContentBlock => ({ type: "tool_result", toolUseId, content: "20 degrees" })
const tool = (name: string, inputSchema = { type: "object" }) => ({ name, inputSchema })
const thinking = (budgetTokens: number, more: Partial<MessageRequest> = {}) =>
  asks({ model: sonnet, maxTokens: 4000, thinking: { type: "enabled", budgetTokens }, ...more })
const text = (words: string, cached = false): ContentBlock => ({
  type: "text",
  text: words,
  ...(cached ? { cacheControl: { type: "ephemeral" } } : {})
})

const refusedMessage = (request: MessageRequest) => refusedMessageBy(request, countTokens)
const refusedCount = (request: Conversation) => refusedCountBy(request, countTokens)

/** What a refusal says of the first rule that is broken. */
const first = (request: MessageRequest): string | undefined => {
  const refused = refusedMessage(request)
  const [violation] = refused?.violations ?? []
  return violation && `${violation.field}: ${violation.description}`
}

describe("a request for an answer", () => {
  it.each<[string, MessageRequest]>([
    ["plain", asks()],
    ["a conversation", asks(says("hi", "hello", "how are you?"))],
    ["the beginning of an answer", asks(says("hi", "Hello,"))],
    ["an empty beginning", asks(says("hi", []))],
    ["calls with their results", asks(says("weather?", [text("wait"), call("a"), call("b")], [result("b"), result("a"), text("so?")]))],
    ["20 images of 5 MB", asks(says(Array.from({ length: 20 }, (_, i) => image(i === 0 ? 5 * 1024 * 1024 : 3))))],
    ["thinking", thinking(1024, { temperature: 1, topP: 0.95 })],
    ["thinking turned off, elsewhere", asks({ thinking: { type: "disabled" } })],
    [
      "a model that is not known",
      asks({ model: "claude-opus-9@20290101", thinking: { type: "enabled", budgetTokens: 1024 }, maxTokens: 2000 })
    ],
    ["a later version of one that is", asks({ model: "claude-3-opus@20290101" })],
    ["a tool of the partner's own", asks({ tools: [{ name: "bash", type: "bash_20250124" }] })],
    ["every limit", asks({ temperature: 0, topP: 1, topK: 0, maxTokens: 1, stopSequences: ["."], metadata: { userId: "u".repeat(256) } })]
  ])("may be %s", (_, request) => {
    expect(refusedMessage(request)).toBeUndefined()
  })

  it.each<[string, MessageRequest]>([
    [`model: claude-3-5-haiku must end in its date, as @yyyymmdd`, asks({ model: "claude-3-5-haiku" })],
    [`model: claude-3-opus@latest must end in its date, as @yyyymmdd`, asks({ model: "claude-3-opus@latest" })],
    ["model: claude-opus-9 must end in its version, as @yyyymmdd", asks({ model: "claude-opus-9" })],
    ["model: must be the id of a model", asks({ model: "models/claude" })],
    ["messages: needs at least one message", asks({ messages: [] })],
    ["messages.0.role: must be \"user\" in the first message", asks({ messages: [{ role: "assistant", content: "hi" }] })],
    [
      "messages.1.role: must alternate between \"user\" and \"assistant\"",
      asks({ messages: [{ role: "user", content: "hi" }, { role: "user", content: "ho" }] })
    ],
    ["messages.0.content: must not be empty text", asks(says(" "))],
    ["messages.0.content: must not be empty", asks(says([], "hi"))],
    ["messages.0.content.1: must not be empty text", asks(says([text("hi"), text("")]))],
    ["messages.1.content: must not end in white space where the answer is to go on from it", asks(says("hi", "Hello, "))],
    ["messages.0.content.0.type: tool_use cannot be said by the user", asks(says([call("a")], "x", [result("a")]))],
    ["messages.1.content.0.type: image cannot be said by the assistant", asks(says("hi", [image()], "ho"))],
    ["system.1.text: must not be empty text", asks({ system: [{ type: "text", text: "a" }, { type: "text", text: " " }] })],
    ["messages.1.content.0.id: the call a has no tool_result in the next message", asks(says("hi", [call("a")]))],
    ["messages.1.content.1.id: the call b has no tool_result in the next message", asks(says("hi", [call("a"), call("b")], [result("a")]))],
    ["messages.1.content.1.id: a is the id of an earlier call", asks(says("hi", [call("a"), call("a")], [result("a")]))],
    ["messages.0.content.0.tool_use_id: a is no call of the message before", asks(says([result("a")]))],
    ["messages.2.content.1.tool_use_id: a has a result already", asks(says("hi", [call("a")], [result("a"), result("a")]))],
    [
      "messages.2.content.1: results must come before everything else in a message",
      asks(says("hi", [call("a")], [text("so"), result("a")]))
    ],
    ["messages: has 21 images; 20 are allowed in a request", asks(says(Array.from({ length: 21 }, () => image())))],
    ["messages.0.content.0.source.data: is larger than 5 MB", asks(says([image(5 * 1024 * 1024 + 1)]))],
    ["messages.0.content.0.source.media_type: must be image/jpeg, image/png, image/gif, image/webp", asks(says([image(3, "image/tiff")]))],
    [
      "messages.0.content.0.source.data: must be base64",
      asks(says([{ type: "image", source: { type: "base64", mediaType: "image/png", data: "a=b=" } }]))
    ],
    [
      "messages.0.content.0.source.media_type: must be application/pdf",
      asks(says([{ type: "document", source: { type: "base64", mediaType: "text/html", data: "AAAA" } }]))
    ],
    [
      "messages.0.content.0.source.media_type: must be text/plain",
      asks(says([{ type: "document", source: { type: "text", mediaType: "text/html", data: "a" } }]))
    ],
    [
      "messages.2.content.0.content.0.source.media_type: must be image/jpeg, image/png, image/gif, image/webp",
      asks(says("hi", [call("a")], [{ type: "tool_result", toolUseId: "a", content: [image(3, "image/bmp") as never] }])) // an image is what it is
    ],
    ["tools.0.name: must be 1 to 128 letters, digits, _ or -", asks({ tools: [tool("a b")] })],
    ["tools.1.name: a is the name of an earlier tool", asks({ tools: [tool("a"), tool("a")] })],
    ["tools.0.input_schema.type: must be \"object\"", asks({ tools: [tool("a", { type: "string" })] })],
    ["tool_choice: needs tools to choose from", asks({ toolChoice: { type: "any" } })],
    ["tool_choice.name: b is none of the tools", asks({ tools: [tool("a")], toolChoice: { type: "tool", name: "b" } })],
    ["cache_control: is on 5 blocks; 4 are allowed in a request", asks(says(Array.from({ length: 5 }, () => text("a", true))))],
    [`thinking: ${haiku} does not think`, thinking(1024, { model: haiku })],
    ["thinking.budget_tokens: must be 1024 or more", thinking(1023)],
    ["thinking.budget_tokens: must be less than max_tokens", thinking(4000)],
    ["temperature: must be 1 or unset with thinking", thinking(1024, { temperature: 0.5 })],
    ["top_p: must be 0.95 or more, or unset, with thinking", thinking(1024, { topP: 0.9 })],
    ["top_k: must be unset with thinking", thinking(1024, { topK: 4 })],
    ["tool_choice.type: must be auto or none with thinking", thinking(1024, { tools: [tool("a")], toolChoice: { type: "any" } })],
    ["messages: must end with one from the user: with thinking, an answer cannot be begun for the model", thinking(1024, says("hi", "Ho"))],
    ["max_tokens: must be a whole number, 1 or more", asks({ maxTokens: 0 })],
    ["max_tokens: must be a whole number, 1 or more", asks({ maxTokens: Number.NaN })],
    ["temperature: must be from 0 to 1", asks({ temperature: 1.1 })],
    ["top_p: must be from 0 to 1", asks({ topP: -0.1 })],
    ["top_k: must be a whole number, 0 or more", asks({ topK: 0.5 })],
    ["stop_sequences.1: must not be only white space", asks({ stopSequences: ["END", "\n"] })],
    ["metadata.user_id: must be 256 characters or fewer", asks({ metadata: { userId: "u".repeat(257) } })],
    ["messages: have 200002 tokens, and the model reads 200000", asks(says("ab ".repeat(200_001)))]
  ])("is told: %s", (rule, request) => {
    expect(first(request)).toBe(rule)
  })

  it("is told everything at once, and what to do", () => {
    const refused = refusedMessage(asks({ model: "claude-3-opus", maxTokens: 0, temperature: 2 }))
    expect(refused?.code).toBe("INVALID_ARGUMENT")
    expect(refused?.violations?.map(({ field }) => field)).toEqual(["model", "max_tokens", "temperature"])
    expect(refused?.fix).toBe("write claude-3-opus@20240229")
    expect(refused?.message).toContain("max_tokens: must be a whole number")
  })
})

describe("a long request", () => {
  it("is refused where it has more tokens than the model reads, whatever its words", () => {
    // Few words and many characters: what is counted is neither.
    const code = asks(says(`${" ".repeat(20)}x = 1;\n`.repeat(30_000)))
    expect(refusedMessage(code)).toBeUndefined()
    expect(conversationWarning(code)).toBe(
      `a request is, by its length, more than the 200000 tokens that ${haiku} reads, and may be refused`
    )
    const numbers = asks(says("7, ".repeat(110_000)))
    expect(refusedMessage(numbers)?.message).toMatch(/have 330000 tokens, and the model reads 200000/)
    const words = asks({
      messages: [{ role: "user", content: "ab ".repeat(150_000) }, { role: "assistant", content: "ab ".repeat(50_000) }, {
        role: "user",
        content: "one"
      }]
    })
    expect(refusedMessage(words)?.violations?.map(({ field }) => field)).toEqual(["messages"])
    expect(refusedMessage(asks(says("ab ".repeat(199_000))))).toBeUndefined()
    expect(refusedMessage({ ...words, model: "claude-later@20290101" })).toBeUndefined()
    expect(conversationWarning(asks(says("hi")))).toBeUndefined()
  })
})

describe("a request to count tokens", () => {
  it("keeps the rules of a conversation", () => {
    expect(refusedCount({ model: haiku, messages: [{ role: "user", content: "hi" }] })).toBeUndefined()
    expect(refusedCount({ model: haiku, messages: [] })?.violations?.[0]?.field).toBe("messages")
  })
})

describe("regions", () => {
  it("have the models that the documentation names", () => {
    const available = Object.fromEntries(partnerModels.map(({ id, regions }) => [id, Object.keys(regions)]))
    expect(available).toEqual({
      "claude-3-7-sonnet@20250219": ["us-east5", "europe-west1"],
      "claude-3-5-sonnet-v2@20241022": ["us-east5", "europe-west1"],
      "claude-3-5-haiku@20241022": ["us-east5"],
      "claude-3-opus@20240229": ["us-east5"],
      "claude-3-haiku@20240307": ["us-east5", "asia-southeast1", "europe-west1"],
      "claude-3-5-sonnet@20240620": ["us-east5", "asia-southeast1", "europe-west1"]
    })
  })

  it("without the model are refused, with those that have it", () => {
    const refused = refusedRegion("claude-3-haiku@20240307", "us-central1")
    expect(refused?.code).toBe("NOT_FOUND")
    expect(refused?.violations?.[0]?.field).toBe("location")
    expect(refused?.fix).toBe("use us-east5 or asia-southeast1 or europe-west1")
  })

  it.each([[haiku, "us-east5"], [haiku, "global"], ["claude-opus-9@20290101", "us-central1"]])(
    "that have it, are global, or are not known pass: %s in %s",
    (model, region) => {
      expect(refusedRegion(model, region)).toBeUndefined()
    }
  )
})

describe("tokens", () => {
  it("are estimated of text at 3.5 characters each, of all that is read", () => {
    expect(estimatedTokens({ model: haiku, messages: [{ role: "user", content: "x".repeat(35) }] })).toBe(10)
    const full = estimatedTokens({
      model: haiku,
      system: "x".repeat(35),
      tools: [tool("a")],
      messages: [
        { role: "user", content: [text("x".repeat(35)), image()] },
        { role: "assistant", content: [{ type: "thinking", thinking: "x".repeat(35), signature: "s" }, call("a")] },
        { role: "user", content: [{ type: "tool_result", toolUseId: "a", content: [{ type: "text", text: "x".repeat(35) }] }] }
      ]
    })
    expect(full).toBeGreaterThan(1_640)
    expect(full).toBeLessThan(1_680)
  })

  it("of base64 are of the bytes it stands for", () => {
    for (let n = 0; n < 9; n++) expect(base64Bytes(Buffer.alloc(n).toString("base64"))).toBe(n)
  })
})
