import type { ServerResponse } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Layer, Logger, Redacted, Stream } from "effect"
import { TestClock } from "effect/testing"
import { type MessageRequest, textOf } from "../../../src/domain/partner/PartnerChat.ts"
import * as HostedPartnerChat from "../../../src/engines/vertex/HostedPartnerChat.ts"
import * as Transport from "../../../src/engines/vertex/Transport.ts"
import { GoogleAuth } from "../../../src/net/GoogleAuth.ts"
import * as Http from "../../../src/net/Http.ts"
import { PartnerChat } from "../../../src/ports/PartnerChat.ts"
import { Quota } from "../../../src/ports/Quota.ts"
import * as QuotaBuckets from "../../../src/state/QuotaBuckets.ts"
import { type FakeVertex, fakeVertex } from "../../fakes/Vertex.ts"
import { eventually } from "../../support/Eventually.ts"

const haiku = "claude-3-5-haiku@20241022"
const opus = "claude-3-opus@20240229"

const asks = (text = "hi", more: Partial<MessageRequest> = {}): MessageRequest => ({
  model: haiku,
  maxTokens: 100,
  messages: [{ role: "user", content: text }],
  ...more
})

const answer = {
  id: "msg_vrtx_1",
  type: "message",
  role: "assistant",
  model: "claude-3-5-haiku-20241022",
  content: [{ type: "text", text: "Hello" }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 5, output_tokens: 2, cache_creation_input_tokens: 10, cache_read_input_tokens: 1000 }
}

const sse = (...events: ReadonlyArray<object>): string =>
  events.map((event) => `event: ${"type" in event ? event.type : ""}\ndata: ${JSON.stringify(event)}\n\n`).join("")

const begin = {
  type: "message_start",
  message: { ...answer, content: [], stop_reason: null, usage: { input_tokens: 5, output_tokens: 1 } }
}
const words = [
  { type: "ping" },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hel" } },
  { type: "vertex_event", usage: {} },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "lo" } },
  { type: "content_block_stop", index: 0 }
]
const end = [{ type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 40 } }, {
  type: "message_stop"
}]

const send = (response: ServerResponse, body: unknown, status = 200, headers: Record<string, string> = {}): true => {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body))
  return true
}
const sendStream = (response: ServerResponse, text: string): true => {
  response.writeHead(200, { "content-type": "text/event-stream" }).end(text)
  return true
}

/** What was done to the buckets. */
const recorded = (log: Array<unknown>) =>
  Layer.succeed(Quota, {
    take: () => Effect.void,
    spend: (spendings) =>
      Effect.sync(() => {
        log.push(...spendings.map(({ amount, bucket, perMinute }) => ["spend", bucket.split("/").slice(-2).join("/"), perMinute, amount]))
        return spendings.map((_, i) => i)
      }),
    settle: (receipt, amount) => Effect.sync(() => void log.push(["settle", receipt, amount])),
    pause: (bucket, milliseconds) => Effect.sync(() => void log.push(["pause", bucket.split("/").at(-1), milliseconds])),
    occupy: () => Effect.succeed([]),
    vacate: () => Effect.void
  })

const chat = (
  fake: FakeVertex,
  options:
    & { readonly location?: string; readonly quota?: Layer.Layer<Quota>; readonly token?: string }
    & HostedPartnerChat.HostedPartnerChatOptions = {}
) =>
  HostedPartnerChat.layer(options).pipe(
    Layer.provide(Transport.layer({
      project: "p1",
      location: options.location ?? "us-east5",
      baseUrl: fake.baseUrl,
      retry: { times: 2, baseMs: 1, capMs: 5 },
      ...(options.token === undefined ? {} : { auth: { ...GoogleAuth.anonymous, token: Effect.succeed(Redacted.make(options.token)) } })
    })),
    Layer.provide([Http.layer(), GoogleAuth.layerAnonymous, options.quota ?? QuotaBuckets.layerMemory])
  )

const onFake = <A, E>(
  body: (fake: FakeVertex) => Effect.Effect<A, E, PartnerChat>,
  options: Parameters<typeof chat>[1] = {}
) => Effect.scoped(Effect.flatMap(fakeVertex, (fake) => body(fake).pipe(Effect.provide(chat(fake, options)))))

describe("HostedPartnerChat", () => {
  it.live("asks as the service's own clients do, and reads the whole answer", () =>
    onFake((fake) =>
      Effect.gen(function*() {
        fake.handle = ({ response }) => send(response, answer)
        const { message } = yield* PartnerChat
        const { content, stopReason, usage } = yield* message(asks("hi", { stopSequences: ["END"] }))
        assert.deepStrictEqual([content, stopReason], [[{ type: "text", text: "Hello" }], "end_turn"])
        assert.deepStrictEqual(usage, { inputTokens: 5, outputTokens: 2, cacheCreationInputTokens: 10, cacheReadInputTokens: 1000 })
        const call = fake.calls[0]
        assert.strictEqual(
          call?.path,
          "/v1/projects/p1/locations/us-east5/publishers/anthropic/models/claude-3-5-haiku%4020241022:rawPredict"
        )
        assert.deepStrictEqual(JSON.parse(call?.body ?? ""), {
          anthropic_version: "vertex-2023-10-16",
          max_tokens: 100,
          messages: [{ role: "user", content: "hi" }],
          stop_sequences: ["END"]
        })
        fake.handle = ({ response }) => send(response, { input_tokens: 9 })
        const { countTokens } = yield* PartnerChat
        assert.strictEqual(yield* countTokens(asks("hi")), 9)
        assert.match(fake.calls.at(-1)?.path ?? "", /models\/count-tokens:rawPredict$/)
        assert.deepStrictEqual(JSON.parse(fake.calls.at(-1)?.body ?? ""), {
          anthropic_version: "vertex-2023-10-16",
          model: haiku,
          messages: [{ role: "user", content: "hi" }]
        })
      })
    ))

  it.live("streams, leaving out what it does not know", () =>
    onFake((fake) =>
      Effect.gen(function*() {
        fake.handle = ({ response }) => sendStream(response, sse(begin, ...words, ...end))
        const { stream } = yield* PartnerChat
        const events = yield* Stream.runCollect(stream(asks()))
        assert.deepStrictEqual(events.map(({ type }) => type), [
          "message_start",
          "ping",
          "content_block_start",
          "content_block_delta",
          "content_block_delta",
          "content_block_stop",
          "message_delta",
          "message_stop"
        ])
        assert.strictEqual(events.map(textOf).join(""), "Hello")
        assert.strictEqual(JSON.parse(fake.calls[0]?.body ?? "").stream, true)
        assert.match(fake.calls[0]?.path ?? "", /:streamRawPredict$/)
      })
    ))

  it.live("asks again until an answer begins, and not after", () =>
    onFake((fake) =>
      Effect.gen(function*() {
        const overloaded = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }
        const { message, stream } = yield* PartnerChat
        fake.handle = (
          { count, response }
        ) => (count === 0 ? send(response, overloaded, 529) : sendStream(response, sse(begin, ...words, overloaded)))
        let text = ""
        const within = yield* stream(asks()).pipe(
          Stream.runForEach((event) => Effect.sync(() => void (text += textOf(event)))),
          Effect.flip
        )
        assert.deepStrictEqual([within.code, within.reason, text, fake.calls.length], ["UNAVAILABLE", "overloaded_error", "Hello", 2])
        assert.include(within.message, "Overloaded")

        fake.handle = ({ response }) => sendStream(response, sse(begin, ...words))
        const broken = yield* Effect.flip(Stream.runDrain(stream(asks())))
        assert.strictEqual(broken.code, "UNAVAILABLE")
        assert.include(broken.message, "broke off before the answer was complete")
        assert.strictEqual(fake.calls.length, 3)

        fake.handle = ({ response }) => send(response, overloaded, 529)
        assert.strictEqual((yield* Effect.flip(message(asks()))).reason, "overloaded_error")
        assert.strictEqual(fake.calls.length, 6)

        fake.handle = ({ response }) => send(response, { type: "error", error: { type: "invalid_request_error", message: "no" } }, 400)
        assert.strictEqual((yield* Effect.flip(message(asks()))).code, "INVALID_ARGUMENT")
        assert.strictEqual(fake.calls.length, 7)

        fake.handle = ({ response }) =>
          send(response, [{ error: { code: 404, message: "Publisher Model `x` was not found", status: "NOT_FOUND" } }], 404)
        const missing = yield* Effect.flip(Stream.runDrain(stream(asks())))
        assert.strictEqual(missing.code, "NOT_FOUND")
        assert.strictEqual(
          missing.fix,
          "Enable the model on its card: https://console.cloud.google.com/vertex-ai/publishers/anthropic/model-garden/claude-3-5-haiku?project=p1"
        )
      })
    ))

  it.live("takes the model's quota of its region, as estimated, and corrects it by what it came to", () => {
    const log: Array<unknown> = []
    return onFake((fake) =>
      Effect.gen(function*() {
        const { message, stream } = yield* PartnerChat
        fake.handle = ({ response }) => send(response, answer)
        yield* message(asks("x".repeat(35)))
        assert.deepStrictEqual(log.splice(0), [["spend", `us-east5/${haiku}`, 80, 1], ["spend", `${haiku}/tokens`, 350_000, 110], [
          "settle",
          1,
          17
        ]])

        fake.handle = ({ response }) => sendStream(response, sse(begin, ...words, ...end))
        yield* Stream.runDrain(stream(asks("x".repeat(35), { model: opus })))
        assert.deepStrictEqual(log.splice(0), [["spend", `us-east5/${opus}`, 20, 1], ["spend", `${opus}/tokens`, 105_000, 110], [
          "settle",
          1,
          45
        ]])

        // What is refused costs nothing, and a 429 holds up everybody.
        fake.handle = ({ count, response }) =>
          count === 2
            ? send(response, { error: { code: 429, message: "Quota exceeded", status: "RESOURCE_EXHAUSTED" } }, 429, {
              "retry-after-ms": "7"
            })
            : send(response, answer)
        yield* message(asks())
        const tries = [["spend", `us-east5/${haiku}`, 80, 1], ["spend", `${haiku}/tokens`, 350_000, 101]]
        assert.deepStrictEqual(log.splice(0), [...tries, ["pause", haiku, 7], ["settle", 1, 0], ...tries, ["settle", 1, 17]])

        // An answer that is left, or breaks off, before its end has cost what came of it: 5 tokens read and, of 35
        // characters, 10 written. One of which nothing is told keeps the estimate.
        const long = { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "x".repeat(35) } }
        fake.handle = ({ response }) => sendStream(response, sse(begin, ...words.slice(0, 2), long, ...words, ...end))
        yield* stream(asks()).pipe(Stream.take(4), Stream.runDrain)
        assert.deepStrictEqual(log.splice(0), [...tries, ["settle", 1, 15]])
        fake.handle = ({ response }) => sendStream(response, sse(begin, ...words.slice(0, 2), long))
        yield* Effect.flip(Stream.runDrain(stream(asks())))
        assert.deepStrictEqual(log.splice(0), [...tries, ["settle", 1, 15]])
        fake.handle = ({ response }) => sendStream(response, sse(...words.slice(0, 1)))
        yield* Effect.flip(Stream.runDrain(stream(asks())))
        assert.deepStrictEqual(log.splice(0), tries)
      }), { quota: recorded(log) })
  })

  it.live("knows no quotas of models it does not know, warns of them once, and takes those it is given", () => {
    const log: Array<unknown> = []
    const warnings: Array<string> = []
    const logger = Logger.make(({ logLevel, message }) => {
      if (logLevel === "Warn") warnings.push(String(message))
    })
    return onFake((fake) =>
      Effect.gen(function*() {
        const { message } = yield* PartnerChat
        fake.handle = ({ response }) => send(response, answer)
        yield* message(asks("hi", { model: "claude-later@20290101" }))
        yield* message(asks("hi", { model: "claude-later@20290101" }))
        yield* message(asks())
        assert.deepStrictEqual(warnings, [
          "claude-later@20290101 is not among the models known here: its region, quota and limits are not checked"
        ])
        assert.deepStrictEqual(log.filter((each) => Array.isArray(each) && each[0] === "spend"), [
          ["spend", "us-east5/claude-later@20290101", 1_500, 1],
          ["spend", "us-east5/claude-later@20290101", 1_500, 1],
          ["spend", `us-east5/${haiku}`, 1, 1],
          ["spend", `${haiku}/tokens`, 2, 101]
        ])
      }).pipe(Effect.provide(Logger.layer([logger]))), {
      quota: recorded(log),
      quotas: { [haiku]: { queriesPerMinute: 1, tokensPerMinute: 2 } }
    })
  })

  it.live("asks no region that does not have the model, and says which do", () =>
    onFake((fake) =>
      Effect.gen(function*() {
        const { countTokens, message, stream } = yield* PartnerChat
        for (const refused of [message(asks()), Stream.runDrain(stream(asks())), countTokens(asks())]) {
          const error = yield* Effect.flip(Effect.asVoid(refused))
          assert.deepStrictEqual([error.code, error.violations?.[0]?.field, error.fix], ["NOT_FOUND", "location", "use us-east5"])
        }
        assert.deepStrictEqual(fake.calls, [])
      }), { location: "us-central1" }))

  it.live("asks the global endpoint for any of them", () => {
    const log: Array<unknown> = []
    return onFake((fake) =>
      Effect.gen(function*() {
        fake.handle = ({ response }) => send(response, answer)
        yield* (yield* PartnerChat).message(asks())
        assert.match(fake.calls[0]?.path ?? "", /^\/v1\/projects\/p1\/locations\/global\/publishers\/anthropic\//)
        assert.deepStrictEqual(log, [["spend", `global/${haiku}`, 1_500, 1]])
      }), { location: "global", quota: recorded(log) })
  })

  it.live("never tells the token", () => {
    const token = "canary-token-5d1f"
    return onFake((fake) =>
      Effect.gen(function*() {
        const { message, stream } = yield* PartnerChat
        fake.handle = ({ response }) =>
          send(response, { type: "error", error: { type: "invalid_request_error", message: `seen ${token}` } }, 400)
        const whole = yield* Effect.flip(message(asks()))
        fake.handle = ({ response }) =>
          sendStream(response, sse(begin, { type: "error", error: { type: "api_error", message: `seen ${token}` } }))
        const within = yield* Effect.flip(Stream.runDrain(stream(asks())))
        assert.strictEqual(fake.calls[0]?.headers.authorization, `Bearer ${token}`)
        for (const error of [whole, within]) {
          assert.notInclude(`${JSON.stringify(error)} ${String(error)} ${error.stack}`, token)
        }
      }), { token })
  })

  it.effect("waits for the minute's quota over real requests", () =>
    onFake((fake) =>
      Effect.gen(function*() {
        fake.handle = ({ response }) => send(response, answer)
        const { message } = yield* PartnerChat
        const times: Array<number> = []
        const all = yield* Effect.forkChild(Effect.forEach(Array.from({ length: 21 }), () =>
          Effect.andThen(
            message(asks("hi", { model: opus })),
            Effect.map(Clock.currentTimeMillis, (at) => times.push(at))
          )))
        yield* eventually(
          "20 were answered",
          Effect.sync(() => times.length === 20)
        )
        yield* TestClock.adjust("60 seconds")
        yield* eventually("20 were asked", Effect.sync(() => fake.calls.length === 20))
        yield* TestClock.adjust("1 second")
        yield* Fiber.join(all)
        assert.deepStrictEqual(times, [...Array.from({ length: 20 }, () => 0), 61_000])
      })
    ))
})
