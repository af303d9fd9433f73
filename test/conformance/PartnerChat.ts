import { assert, layer } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Result, Stream } from "effect"
import type { MessageRequest } from "../../src/domain/partner/PartnerChat.ts"
import { textOf } from "../../src/domain/partner/PartnerChat.ts"
import { assembled } from "../../src/domain/partner/PartnerEvents.ts"
import { PartnerChat } from "../../src/ports/PartnerChat.ts"
import { chattyModel } from "../fakes/ChattyModel.ts"
import { type Fake, fakeOpenAi } from "../fakes/Openai.ts"
import { eventually } from "../support/Eventually.ts"

/** The model behind the one that is asked. */
class Upstream extends Context.Service<Upstream, Fake>()("test/conformance/Upstream") {}

const asks = (text: string, more: Partial<MessageRequest> = {}): MessageRequest => ({
  model: "claude-3-5-haiku@20241022",
  maxTokens: 100,
  messages: [{ role: "user", content: text }],
  ...more
})

const weather = {
  name: "weather",
  description: "The weather of a city.",
  inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
}

const png = "iVBORw0KGgo="

/** What every PartnerChat does, over the model at an OpenAI-compatible address. */
export const suite = <E>(name: string, over: (upstream: string) => Layer.Layer<PartnerChat, E>): void => {
  const scripted = Layer.unwrap(
    Effect.map(fakeOpenAi(chattyModel), (fake) => Layer.merge(over(fake.baseUrl), Layer.succeed(Upstream, fake)))
  )

  layer(scripted, { excludeTestServices: true })(`PartnerChat: ${name}`, (it) => {
    it.effect("answers", () =>
      Effect.gen(function*() {
        const { message } = yield* PartnerChat
        const { content, id, model, stopReason, stopSequence, usage } = yield* message(asks("hi"))
        assert.deepStrictEqual(content, [{ type: "text", text: "Hello there" }])
        assert.deepStrictEqual([stopReason, stopSequence, model], ["end_turn", null, "claude-3-5-haiku-20241022"])
        assert.match(id, /^msg_vrtx_\w+$/)
        assert.deepStrictEqual(usage, { inputTokens: 20, outputTokens: 7, cacheCreationInputTokens: 0, cacheReadInputTokens: 0 })
      }))

    it.effect("streams what it answers, in order", () =>
      Effect.gen(function*() {
        const chat = yield* PartnerChat
        const events = yield* Stream.runCollect(chat.stream(asks("hi")))
        assert.deepStrictEqual(events.map((event) => ("index" in event ? `${event.type} ${event.index}` : event.type)), [
          "message_start",
          "content_block_start 0",
          "content_block_delta 0",
          "content_block_delta 0",
          "content_block_stop 0",
          "message_delta",
          "message_stop"
        ])
        assert.strictEqual(events.map(textOf).join(""), "Hello there")
        const whole = Result.getOrThrow(assembled(events))
        assert.deepStrictEqual({ ...whole, id: "" }, { ...(yield* chat.message(asks("hi"))), id: "" })
      }))

    it.effect("calls tools, and reads what they say", () =>
      Effect.gen(function*() {
        const { message } = yield* PartnerChat
        const asked = asks("what is the weather?", { tools: [weather] })
        const called = yield* message(asked)
        assert.strictEqual(called.stopReason, "tool_use")
        const [words, ...calls] = called.content
        assert.deepStrictEqual(words, { type: "text", text: "Let me look." })
        assert.deepStrictEqual(calls.map((call) => call.type === "tool_use" && call.input), [{ city: "Osaka" }, { city: "Kyoto" }])
        const ids = calls.flatMap((call) => (call.type === "tool_use" ? [call.id] : []))
        for (const id of ids) assert.match(id, /^toolu_vrtx_\w+$/)

        const answered = yield* message({
          ...asked,
          messages: [
            ...asked.messages,
            {
              role: "assistant",
              content: called.content.flatMap((block) => (block.type === "text" || block.type === "tool_use" ? [block] : []))
            },
            {
              role: "user",
              content: ids.map((toolUseId, i) => ({
                type: "tool_result",
                toolUseId,
                content: [{ type: "text", text: `${20 + i} degrees` }]
              }))
            }
          ]
        })
        assert.deepStrictEqual(answered.content, [{ type: "text", text: "The tool says 21 degrees" }])
        const sent = (yield* Upstream).received.at(-1)?.body.messages
        assert.deepStrictEqual(sent?.slice(-2).map((each) => each["tool_call_id"]), ids)
      }))

    it.effect("calls one tool where more are not wanted, and the one that is", () =>
      Effect.gen(function*() {
        const { message } = yield* PartnerChat
        const answer = yield* message(
          asks("weather?", { tools: [weather], toolChoice: { type: "tool", name: "weather", disableParallelToolUse: true } })
        )
        assert.lengthOf(answer.content.filter(({ type }) => type === "tool_use"), 1)
        assert.deepStrictEqual((yield* Upstream).received.at(-1)?.body["tool_choice"], { type: "function", function: { name: "weather" } })
      }))

    it.effect("thinks", () =>
      Effect.gen(function*() {
        const { message } = yield* PartnerChat
        const answer = yield* message(asks("why?", {
          model: "claude-3-7-sonnet@20250219",
          maxTokens: 2000,
          thinking: { type: "enabled", budgetTokens: 1024 }
        }))
        assert.deepStrictEqual(answer.content, [{ type: "thinking", thinking: "Hm. Yes.", signature: "" }, { type: "text", text: "42" }])
      }))

    it.effect("goes on from the beginning of an answer", () =>
      Effect.gen(function*() {
        const { message } = yield* PartnerChat
        const answer = yield* message(asks("tell", { messages: [{ role: "user", content: "tell" }, { role: "assistant", content: "It" }] }))
        assert.deepStrictEqual(answer.content, [{ type: "text", text: " went on." }])
      }))

    it.effect("says why it stopped", () =>
      Effect.gen(function*() {
        const { message } = yield* PartnerChat
        assert.strictEqual((yield* message(asks("a long story"))).stopReason, "max_tokens")
        const halted = yield* message(asks("halt", { stopSequences: ["FIN", "END"] }))
        assert.deepStrictEqual([halted.stopReason, halted.stopSequence], ["stop_sequence", "END"])
        assert.deepStrictEqual(halted.content, [{ type: "text", text: "one " }])
        assert.isAbove(halted.usage.outputTokens, 0)
        const upstream = yield* Upstream
        yield* eventually("the upstream is left", Effect.sync(() => upstream.received.at(-1)?.aborted))
      }))

    it.effect("passes on all that a request holds", () =>
      Effect.gen(function*() {
        const { message } = yield* PartnerChat
        yield* message(asks("", {
          system: [{ type: "text", text: "Be brief." }, { type: "text", text: "Be kind.", cacheControl: { type: "ephemeral" } }],
          messages: [{
            role: "user",
            content: [
              { type: "text", text: "look" },
              { type: "image", source: { type: "base64", mediaType: "image/png", data: png } },
              { type: "document", source: { type: "text", mediaType: "text/plain", data: "a deed" }, title: "Deed" },
              { type: "document", source: { type: "base64", mediaType: "application/pdf", data: png } }
            ]
          }],
          temperature: 0.5,
          topP: 0.25,
          topK: 3,
          stopSequences: ["END"],
          tools: [weather],
          toolChoice: { type: "none" },
          metadata: { userId: "u1" }
        }))
        const body = (yield* Upstream).received.at(-1)?.body
        assert.deepStrictEqual(body?.messages as unknown, [
          { role: "system", content: "Be brief.\n\nBe kind." },
          {
            role: "user",
            content: [
              { type: "text", text: "look" },
              { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } },
              { type: "text", text: "Deed" },
              { type: "text", text: "a deed" },
              { type: "file", file: { filename: "document.pdf", file_data: `data:application/pdf;base64,${png}` } }
            ]
          }
        ])
        assert.deepInclude(body, { max_tokens: 100, temperature: 0.5, top_p: 0.25, top_k: 3, tool_choice: "none" })
      }))

    it.effect("counts tokens before they are spent", () =>
      Effect.gen(function*() {
        const chat = yield* PartnerChat
        const few = yield* chat.countTokens({ model: "claude-3-opus@20240229", messages: [{ role: "user", content: "Hello" }] })
        const more = yield* chat.countTokens({
          model: "claude-3-opus@20240229",
          system: "You are a helpful assistant.",
          messages: [{ role: "user", content: "Hello" }],
          tools: [weather]
        })
        assert.isAbove(few, 0)
        assert.isAbove(more, few + 10)
      }))

    it.effect("refuses what breaks a rule, by its field", () =>
      Effect.gen(function*() {
        const { countTokens, message, stream } = yield* PartnerChat
        const refused = asks("hi", { messages: [{ role: "assistant", content: "hi" }], temperature: 2 })
        const before = (yield* Upstream).received.length
        for (const error of [yield* Effect.flip(message(refused)), yield* Effect.flip(Stream.runDrain(stream(refused)))]) {
          assert.strictEqual(error.code, "INVALID_ARGUMENT")
          assert.deepStrictEqual(error.violations?.map(({ field }) => field), ["messages.0.role", "temperature"])
        }
        assert.strictEqual((yield* Effect.flip(countTokens(refused))).violations?.[0]?.field, "messages.0.role")
        assert.strictEqual((yield* Upstream).received.length, before)
      }))

    it.effect("fails as the model does, before its answer and within", () =>
      Effect.gen(function*() {
        const { message, stream } = yield* PartnerChat
        const failed = yield* Effect.flip(message(asks("fail")))
        assert.strictEqual(failed.code, "INVALID_ARGUMENT")
        assert.include(failed.message, "the model cannot")
        assert.strictEqual((yield* Effect.flip(Stream.runDrain(stream(asks("fail"))))).code, "INVALID_ARGUMENT")

        const seen: Array<string> = []
        const broken = yield* stream(asks("break")).pipe(
          Stream.runForEach((event) => Effect.sync(() => seen.push(textOf(event)))),
          Effect.flip
        )
        assert.strictEqual(broken.code, "UNAVAILABLE")
        assert.include(broken.message, "worn out")
        assert.strictEqual(seen.join(""), "So ")
      }))

    it.effect("stops the model when nobody listens any more", () =>
      Effect.gen(function*() {
        const { stream } = yield* PartnerChat
        const upstream = yield* Upstream
        const listening = yield* Effect.forkChild(Stream.runDrain(stream(asks("go on forever"))))
        const call = yield* eventually(
          "the call has begun",
          Effect.sync(() => upstream.received.find(({ body }) => JSON.stringify(body.messages).includes("forever")))
        )
        yield* stream(asks("forever, but two words are enough")).pipe(
          Stream.filter((event) => textOf(event) !== ""),
          Stream.take(2),
          Stream.runDrain
        )
        yield* Fiber.interrupt(listening)
        yield* eventually("the upstream is left", Effect.sync(() => call.aborted))
        yield* eventually("the upstream is left", Effect.sync(() => upstream.received.at(-1)?.aborted))
      }))
  })
}
