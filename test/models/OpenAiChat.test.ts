import { assert, describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted, Result, Stream } from "effect"
import type { ChatEvent, ChatRequest } from "../../src/domain/Chat.ts"
import { make, type OpenAiChatOptions } from "../../src/models/OpenAiChat.ts"
import { chatBody, limitOf } from "../../src/models/openai/ChatBody.ts"
import { onlyModel } from "../../src/models/openai/OnlyModel.ts"
import { layer as httpLayer } from "../../src/net/Http.ts"
import { layer as secretsLayer } from "../../src/secrets/EnvironmentSecrets.ts"
import { delta, type Fake, fakeOpenAi, sendChat, sendChunks, sendJson, startChat } from "../fakes/Openai.ts"
import { eventually } from "../support/Eventually.ts"

const live = Layer.merge(httpLayer(), secretsLayer({}))

const chat = (fake: Fake, options: Partial<OpenAiChatOptions> = {}) =>
  make({ baseUrl: fake.baseUrl, model: "chat", maxRequestsPerMinute: 60_000, retry: { times: 0 }, ...options })

const says = (text: string): ChatRequest => ({ turns: [{ role: "user", parts: [{ type: "text", text }] }] })

/** What a model says when the service sends these chunks. */
const eventsOf = (chunks: ReadonlyArray<object>, request: ChatRequest = says("hi")) =>
  Effect.gen(function*() {
    const fake = yield* fakeOpenAi((_, response) => sendChunks(response, chunks))
    const { stream } = yield* chat(fake)
    return yield* Stream.runCollect(stream(request))
  })

describe("OpenAiChat", () => {
  it.live("asks for everything a request holds, and for nothing it does not", () =>
    Effect.gen(function*() {
      const fake = yield* fakeOpenAi((_, response) => sendChat(response, ["ok"]))
      const { stream } = yield* chat(fake, { parameters: { temperature: 0.9, user: "me" } })
      yield* Stream.runDrain(stream(says("hi")))
      assert.deepStrictEqual(fake.received[0]?.body, {
        model: "chat",
        messages: [{ role: "user", content: "hi" }],
        stream: true,
        stream_options: { include_usage: true },
        temperature: 0.9,
        user: "me"
      } as object)

      const schema = { type: "object", properties: { days: { type: "integer" } } }
      yield* Stream.runDrain(stream({
        system: "Be brief.",
        turns: [
          {
            role: "user",
            parts: [{ type: "text", text: "What is it?" }, { type: "media", mimeType: "image/png", data: "AAAA" }, {
              type: "mediaUri",
              uri: "https://a.example/x.png"
            }]
          },
          {
            role: "assistant",
            parts: [{ type: "thinking", text: "hm" }, { type: "text", text: "Let me look." }, {
              type: "toolCall",
              id: "c1",
              name: "look",
              args: { at: 1 }
            }]
          },
          { role: "user", parts: [{ type: "toolResult", id: "c1", name: "look", text: "a cat" }, { type: "text", text: "Well?" }] }
        ],
        tools: [{ name: "look", description: "Looks.", parameters: { type: "object" } }],
        toolChoice: { name: "look" },
        json: { schema },
        maxTokens: 10,
        temperature: 0,
        topP: 0.5,
        topK: 4,
        stop: ["END"],
        presencePenalty: 1,
        frequencyPenalty: -1,
        seed: 7,
        candidates: 2,
        logprobs: 3,
        thinking: { budgetTokens: 9_000 }
      }))
      assert.deepStrictEqual(fake.received[1]?.body, {
        model: "chat",
        messages: [
          { role: "system", content: "Be brief." },
          {
            role: "user",
            content: [
              { type: "text", text: "What is it?" },
              { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
              { type: "image_url", image_url: { url: "https://a.example/x.png" } }
            ]
          },
          {
            role: "assistant",
            content: "Let me look.",
            tool_calls: [{ id: "c1", type: "function", function: { name: "look", arguments: "{\"at\":1}" } }]
          },
          { role: "tool", tool_call_id: "c1", content: "a cat" },
          { role: "user", content: "Well?" }
        ],
        stream: true,
        stream_options: { include_usage: true },
        tools: [{ type: "function", function: { name: "look", description: "Looks.", parameters: { type: "object" } } }],
        tool_choice: { type: "function", function: { name: "look" } },
        response_format: { type: "json_schema", json_schema: { name: "answer", schema } },
        max_tokens: 10,
        temperature: 0,
        top_p: 0.5,
        top_k: 4,
        stop: ["END"],
        presence_penalty: 1,
        frequency_penalty: -1,
        seed: 7,
        n: 2,
        logprobs: true,
        top_logprobs: 3,
        reasoning_effort: "high",
        user: "me"
      } as object)
    }).pipe(Effect.scoped, Effect.provide(live)))

  it("names the limit as the service does: OpenAI's own takes only the new name", () => {
    const request = { ...says("hi"), maxTokens: 7 }
    assert.deepInclude(Result.getOrThrow(chatBody({ model: "m", limit: "max_completion_tokens" }, request)), { max_completion_tokens: 7 })
    const open = Result.getOrThrow(chatBody({ model: "m", limit: "max_tokens" }, request))
    assert.deepStrictEqual([open["max_tokens"], open["max_completion_tokens"]], [7, undefined])
    assert.deepStrictEqual([limitOf("api.openai.com"), limitOf("api.openai.com.evil.example"), limitOf("127.0.0.1:11434")], [
      "max_completion_tokens",
      "max_tokens",
      "max_tokens"
    ])
  })

  it("sends the pieces of a streamed answer, each a turn, as one answer", () => {
    const text = (text: string) => ({ type: "text", text }) as const
    const call = { type: "toolCall", id: "c", name: "look", args: {} } as const
    const body = Result.getOrThrow(chatBody({ model: "m", limit: "max_tokens" }, {
      turns: [
        { role: "user", parts: [text("one")] },
        ...["You ", "said one.", ""].map((piece) => ({ role: "assistant", parts: [text(piece)] }) as const),
        { role: "user", parts: [text("two")] },
        { role: "assistant", parts: [text("Looking.")] },
        { role: "assistant", parts: [call] },
        { role: "assistant", parts: [text("")] },
        { role: "user", parts: [{ type: "toolResult", id: "c", text: "3" }] }
      ]
    }))
    assert.deepStrictEqual(body["messages"], [
      { role: "user", content: "one" },
      { role: "assistant", content: "You said one." },
      { role: "user", content: "two" },
      { role: "assistant", content: "Looking.", tool_calls: [{ id: "c", type: "function", function: { name: "look", arguments: "{}" } }] },
      { role: "tool", tool_call_id: "c", content: "3" }
    ])
  })

  it.live("puts the pieces of tool calls together, and keeps candidates apart", () =>
    Effect.gen(function*() {
      const call = (index: number, more: object) => delta({ tool_calls: [{ index, ...more }] })
      const events = yield* eventsOf([
        delta({ role: "assistant", content: null, reasoning_content: "Weather first." }),
        call(0, { id: "a", type: "function", function: { name: "weather", arguments: "" } }),
        call(0, { function: { arguments: "{\"city\": \"Os" } }),
        call(1, { id: "b", type: "function", function: { name: "now", arguments: "" } }),
        call(0, { function: { arguments: "aka\"}" } }),
        {
          choices: [{
            index: 1,
            delta: { content: "Other." },
            finish_reason: null,
            logprobs: { content: [{ token: "Other", logprob: -0.5, bytes: null, top_logprobs: [{ token: "Oth", logprob: -1 }] }] }
          }]
        },
        delta({}, { finish_reason: "tool_calls" }),
        {
          choices: [{ index: 1, delta: {}, finish_reason: "length" }],
          usage: { prompt_tokens: 4, completion_tokens: 9, completion_tokens_details: { reasoning_tokens: 2 } }
        }
      ])
      const expected: ReadonlyArray<ChatEvent> = [
        { type: "thinking", candidate: 0, text: "Weather first." },
        { type: "text", candidate: 1, text: "Other.", logprobs: [{ token: "Other", logprob: -0.5, top: [{ token: "Oth", logprob: -1 }] }] },
        { type: "toolCall", candidate: 0, call: { id: "a", name: "weather", args: { city: "Osaka" } } },
        { type: "toolCall", candidate: 0, call: { id: "b", name: "now", args: {} } },
        { type: "end", candidate: 0, reason: "toolCalls" },
        { type: "end", candidate: 1, reason: "length" },
        { type: "usage", usage: { inputTokens: 4, outputTokens: 9, thinkingTokens: 2 } }
      ]
      expect(events).toEqual(expected)
    }).pipe(Effect.scoped, Effect.provide(live)))

  it.live("leaves out a call that the limit cut off, and refuses one that is nonsense", () =>
    Effect.gen(function*() {
      const cut = delta({ tool_calls: [{ index: 0, id: "a", function: { name: "f", arguments: "{\"x\":" } }] })
      expect(yield* eventsOf([cut, delta({}, { finish_reason: "length" })])).toEqual([{ type: "end", candidate: 0, reason: "length" }])
      const error = yield* Effect.flip(eventsOf([cut, delta({}, { finish_reason: "tool_calls" })]))
      assert.strictEqual(error.code, "FAILED_PRECONDITION")
    }).pipe(Effect.scoped, Effect.provide(live)))

  it.live("ends once where the service only says that it is done", () =>
    Effect.gen(function*() {
      expect(yield* eventsOf([delta({ content: "a" })])).toEqual([
        { type: "text", candidate: 0, text: "a" },
        { type: "end", candidate: 0, reason: "stop" }
      ])
      expect(yield* eventsOf([])).toEqual([{ type: "end", candidate: 0, reason: "stop" }])
    }).pipe(Effect.scoped, Effect.provide(live)))

  it.live("refuses media the protocol cannot carry, before it asks", () =>
    Effect.gen(function*() {
      const fake = yield* fakeOpenAi((_, response) => sendChat(response, ["ok"]))
      const { stream } = yield* chat(fake)
      for (
        const part of [{ type: "media", mimeType: "video/mp4", data: "" }, {
          type: "mediaUri",
          mimeType: "image/png",
          uri: "gs://b/x.png"
        }] as const
      ) {
        const error = yield* Effect.flip(Stream.runDrain(stream({ turns: [{ role: "user", parts: [part] }] })))
        assert.strictEqual(error.code, "INVALID_ARGUMENT")
        assert.match(error.violations?.[0]?.field ?? "", /^turns\[0\]\.parts\[0\]\./)
      }
      assert.strictEqual(fake.received.length, 0)
    }).pipe(Effect.scoped, Effect.provide(live)))

  it.live("fails, typed, on an error in mid-stream; ending early closes the request", () =>
    Effect.gen(function*() {
      const failing = yield* fakeOpenAi((_, response) => {
        startChat(response, ["so far"])
        response.end("data: {\"error\":{\"message\":\"overloaded\",\"code\":429}}\n\n")
      })
      const heard: Array<string> = []
      const error = yield* (yield* chat(failing)).stream(says("hi")).pipe(
        Stream.runForEach((event) => Effect.sync(() => void heard.push(event.type))),
        Effect.flip
      )
      assert.deepStrictEqual([error.code, heard], ["RESOURCE_EXHAUSTED", ["text"]])

      const endless = yield* fakeOpenAi((_, response) => startChat(response, ["one ", "two "]))
      const { stream } = yield* chat(endless)
      yield* Stream.runDrain(Stream.take(stream(says("hi")), 1))
      const fiber = yield* Effect.forkChild(Stream.runDrain(stream(says("hi"))))
      yield* eventually("the second call has begun", Effect.sync(() => endless.received.length === 2))
      yield* Fiber.interrupt(fiber)
      yield* eventually("both are left", Effect.sync(() => endless.received.every(({ aborted }) => aborted)))
    }).pipe(Effect.scoped, Effect.provide(live)))

  it.live("finds the only model of a service, and asks which of several is meant", () =>
    Effect.gen(function*() {
      const serving = (...ids: ReadonlyArray<string>) =>
        fakeOpenAi((_, response) => sendJson(response, 200, { object: "list", data: ids.map((id) => ({ id, object: "model" })) }))
      const one = yield* serving("qwen3")
      assert.strictEqual(yield* onlyModel({ baseUrl: one.baseUrl, apiKey: Redacted.make("k-1") }), "qwen3")
      assert.deepStrictEqual([one.received[0]?.path, one.received[0]?.headers["authorization"]], ["/v1/models", "Bearer k-1"])
      const error = yield* Effect.flip(onlyModel({ baseUrl: (yield* serving("a", "b")).baseUrl }))
      assert.include(error.message, "2 models (a, b)")
      assert.include(error.fix, "--upstream-model")
    }).pipe(Effect.scoped, Effect.provide(live)))
})
