import { assert, describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import type { ChatEvent, ChatRequest } from "../../src/domain/Chat.ts"
import type { ContentBlock, MessageRequest } from "../../src/domain/partner/PartnerChat.ts"
import * as LocalPartnerChat from "../../src/models/LocalPartnerChat.ts"
import * as OpenAiChat from "../../src/models/OpenAiChat.ts"
import { layer as httpLayer } from "../../src/net/Http.ts"
import { ChatModel } from "../../src/ports/ChatModel.ts"
import { layer as secretsLayer } from "../../src/secrets/EnvironmentSecrets.ts"
import { countTokens } from "../../src/text/Tokens.ts"
import * as PartnerChat from "../conformance/PartnerChat.ts"

PartnerChat.suite("embedded", (baseUrl) =>
  LocalPartnerChat.layer(countTokens).pipe(
    Layer.provide(OpenAiChat.layer({ baseUrl, model: "chatty", maxRequestsPerMinute: 60_000 })),
    Layer.provide([httpLayer(), secretsLayer({})])
  ))

/** Over a model that says this, and keeps what it is asked. Tokens are counted in characters. */
const over = (says: ReadonlyArray<ChatEvent>) => {
  const asked: Array<ChatRequest> = []
  const model = ChatModel.of({
    model: "scripted",
    stream: (request) => {
      asked.push(request)
      return Stream.fromIterable(says)
    }
  })
  return { asked, ...LocalPartnerChat.make(model, (text) => text.length) }
}

const asks = (content: MessageRequest["messages"][number]["content"], more: Partial<MessageRequest> = {}): MessageRequest => ({
  model: "claude-3-5-haiku@20241022",
  maxTokens: 100,
  messages: [{ role: "user", content }],
  ...more
})
const text = (text: string): ChatEvent => ({ type: "text", candidate: 0, text })
const end: ChatEvent = { type: "end", candidate: 0, reason: "stop" }
const image: ContentBlock & { readonly type: "image" } = { type: "image", source: { type: "base64", mediaType: "image/png", data: "AAAA" } }

describe("LocalPartnerChat", () => {
  it.effect("counts for itself what a model does not tell", () =>
    Effect.gen(function*() {
      const { message } = over([{ type: "thinking", candidate: 0, text: "hm" }, text("four"), end])
      const { usage } = yield* message(asks("sixteen letters."))
      assert.deepInclude(usage, { inputTokens: 16, outputTokens: 6 })
    }))

  it.effect("tells thoughts with their signatures, and goes on in one block while the kind is the same", () =>
    Effect.gen(function*() {
      const { stream } = over([
        { type: "thinking", candidate: 0, text: "h" },
        { type: "thinking", candidate: 0, text: "m", signature: "s" },
        text("a"),
        text(""),
        text("b"),
        { type: "toolCall", candidate: 0, call: { id: "x", name: "look", args: {} } },
        text("c"),
        end
      ])
      const events = yield* Stream.runCollect(stream(asks("hi")))
      assert.deepStrictEqual(
        events.flatMap((event) =>
          event.type === "content_block_start" ?
            [`${event.index} ${event.contentBlock.type}`]
            : event.type === "content_block_delta" ?
            [`${event.index} ${event.delta.type}`]
            : event.type === "content_block_stop" ?
            [`${event.index} stop`]
            : []
        ),
        [
          "0 thinking",
          "0 thinking_delta",
          "0 thinking_delta",
          "0 signature_delta",
          "0 stop",
          "1 text",
          "1 text_delta",
          "1 text_delta",
          "1 stop",
          "2 tool_use",
          "2 input_json_delta",
          "2 stop",
          "3 text",
          "3 text_delta",
          "3 stop"
        ]
      )
    }))

  it.effect("asks for what any model can do, and refuses what only the partner's service does", () =>
    Effect.gen(function*() {
      const { asked, message } = over([text("ok"), end])
      yield* message(asks("", {
        messages: [
          {
            role: "user",
            content: [{
              type: "document",
              source: { type: "content", content: [{ type: "text", text: "a deed" }, image] },
              context: "of 1901"
            }]
          },
          {
            role: "assistant",
            content: [{ type: "redacted_thinking", data: "sealed" }, { type: "tool_use", id: "c", name: "look", input: {} }]
          },
          {
            role: "user",
            content: [{
              type: "tool_result",
              toolUseId: "c",
              content: [{ type: "text", text: "see" }, image, { type: "text", text: "there" }]
            }]
          }
        ]
      }))
      const media = { type: "media", mimeType: "image/png", data: "AAAA" }
      expect(asked[0]?.turns.map(({ parts }): ReadonlyArray<object> => parts)).toEqual([
        [{ type: "text", text: "of 1901" }, { type: "text", text: "a deed" }, media],
        [{ type: "toolCall", id: "c", name: "look", args: {} }],
        [{ type: "toolResult", id: "c", name: "look", text: "see\n\nthere" }, media]
      ])

      const bash = yield* Effect.flip(message(asks("hi", { tools: [{ name: "bash", type: "bash_20250124" }] })))
      assert.strictEqual(bash.violations?.[0]?.field, "tools.0.type")
      const source = { type: "text", mediaType: "text/plain", data: "a" } as const
      const cited = yield* Effect.flip(message(asks([{ type: "document", source, citations: { enabled: true } }])))
      assert.strictEqual(cited.violations?.[0]?.field, "messages.0.content.0.citations")
      assert.lengthOf(asked, 1)
    }))

  it.effect("keeps statements and their citations together, also where their ends are searched for stop sequences", () =>
    Effect.gen(function*() {
      const cited = (text: string, at: number): ChatEvent => ({
        type: "text",
        candidate: 0,
        text,
        citations: [{ index: at, quote: text, start: 0, end: text.length }]
      })
      for (const stopSequences of [undefined, ["\n\nHuman:"]]) {
        const { message } = over([cited("One.\n", 0), cited("Two.\n", 1), { ...text("Three."), citations: [] } as ChatEvent, end])
        const { content } = yield* message(asks("hi", stopSequences === undefined ? {} : { stopSequences }))
        expect(content.map((block) => block.type === "text" && [block.text, block.citations?.map(({ document_index }) => document_index)]))
          .toEqual([
            ["One.\n", [0]],
            ["Two.\n", [1]],
            ["Three.", []]
          ])
      }
    }))

  it.effect("does not take an answer without an end for a whole one", () =>
    Effect.gen(function*() {
      const { message } = over([text("half")])
      assert.strictEqual((yield* Effect.flip(message(asks("hi")))).code, "INTERNAL")
    }))
})
