import { assert, describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Logger, Stream } from "effect"
import type { ChatRequest } from "../../src/domain/Chat.ts"
import type { GenerationRequest } from "../../src/domain/generation/Generation.ts"
import * as GeminiChat from "../../src/engines/vertex/GeminiChat.ts"
import * as GenerateContent from "../../src/engines/vertex/GenerateContent.ts"
import * as HostedGeneration from "../../src/engines/vertex/HostedGeneration.ts"
import { Generation } from "../../src/ports/Generation.ts"
import { says } from "../conformance/Generation.ts"
import { type FakeVertex, fakeVertex } from "../fakes/Vertex.ts"
import { hosted } from "../engines/vertex/Engine.ts"

const model = "gemini-2.0-flash-001"

/** Runs a test against a service that answers everything with this, streamed where a stream is asked for. */
const onService = <A, E>(
  answer: object,
  body: (generation: Generation["Service"], fake: FakeVertex) => Effect.Effect<A, E>
) =>
  Effect.gen(function*() {
    const fake = yield* fakeVertex
    fake.handle = ({ path, response }) => {
      const streams = path.includes(":stream")
      response.writeHead(200, { "content-type": streams ? "text/event-stream" : "application/json" })
      response.end(streams ? `data: ${JSON.stringify(answer)}\r\n\r\n` : JSON.stringify(answer))
      return true
    }
    const service = HostedGeneration.layer.pipe(Layer.provide(GenerateContent.layer), Layer.provide(hosted(fake.baseUrl)))
    return yield* Effect.flatMap(Generation, (generation) => body(generation, fake)).pipe(Effect.provide(service))
  }).pipe(Effect.scoped)

const stopped = { candidates: [{ content: { role: "model", parts: [{ text: "Hi." }] }, finishReason: "STOP" }] }

describe("HostedGeneration", () => {
  it.live("reads finish reasons in both spellings, and all that an answer tells", () => {
    const answer = {
      candidates: [
        {
          content: { role: "model", parts: [{ text: "Hi." }] },
          finishReason: "FINISH_REASON_MAX_TOKENS",
          safetyRatings: [{ category: "HARM_CATEGORY_HARASSMENT", probability: "NEGLIGIBLE", blocked: true }],
          citationMetadata: {
            citations: [{
              startIndex: 0,
              endIndex: 2,
              uri: "https://a.example",
              title: "A",
              license: "mit",
              publicationDate: { year: 2024, month: 5 }
            }]
          },
          avgLogprobs: -0.1
        },
        { index: 1, finishReason: "NEW_REASON" },
        { index: 2, finishReason: "FINISH_REASON_UNSPECIFIED" }
      ],
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1, totalTokenCount: 4 },
      modelVersion: model
    }
    return onService(answer, (generation) =>
      Effect.gen(function*() {
        const { candidates = [], ...rest } = yield* generation.generate(model, says("a"))
        assert.deepStrictEqual(candidates.map(({ finishReason }) => finishReason), ["MAX_TOKENS", "OTHER", "FINISH_REASON_UNSPECIFIED"])
        assert.deepStrictEqual(candidates[0], { ...answer.candidates[0], finishReason: "MAX_TOKENS" } as typeof candidates[0])
        assert.deepStrictEqual(rest, { usageMetadata: answer.usageMetadata, modelVersion: model })
      }))
  })

  it.live("sends bounds of 0 in a schema, which mean something", () =>
    onService(stopped, (generation, fake) =>
      Effect.gen(function*() {
        const responseSchema = { type: "NUMBER", minimum: 0, maximum: 0, minLength: "0", maxItems: "0" }
        const generationConfig = { responseMimeType: "application/json", responseSchema }
        yield* generation.generate(model, says("a", { generationConfig }))
        assert.deepStrictEqual(JSON.parse(fake.calls.at(-1)?.body ?? "").generationConfig, generationConfig)
      })))

  it.live("lets one request a day ask for probabilities; one that fails does not count", () =>
    onService(stopped, (generation, fake) =>
      Effect.gen(function*() {
        const request = says("a", { generationConfig: { responseLogprobs: true, logprobs: 2 } })
        fake.fault = () => ({ status: 400 })
        yield* Effect.flip(generation.generate(model, request))
        yield* Effect.flip(Stream.runDrain(generation.stream(model, request)))
        fake.fault = () => undefined
        yield* generation.generate(model, request)
        const calls = fake.calls.length
        for (const again of [generation.generate(model, request), Stream.runDrain(generation.stream(model, request))]) {
          const error = yield* Effect.flip(again)
          assert.deepStrictEqual([error.code, error.violations?.[0]?.field], ["RESOURCE_EXHAUSTED", "generationConfig.responseLogprobs"])
        }
        yield* generation.generate(model, says("a"))
        assert.strictEqual(fake.calls.length, calls + 1)
      })))

  it.live("warns about a model it does not know, and refuses what a known one does not take", () =>
    onService(stopped, (generation) =>
      Effect.gen(function*() {
        const warnings: Array<string> = []
        const logger = Logger.make(({ message }) => void warnings.push(String(message)))
        const request: GenerationRequest = says("a", {
          systemInstruction: { parts: [{ text: "b" }] },
          generationConfig: { presencePenalty: 1 }
        })
        yield* Effect.forEach(
          ["gemini-2.0-flash", "gemini-2.0-flash-lite-001", "projects/p/locations/l/publishers/google/models/gemini-9"],
          (model) => generation.generate(model, request)
        ).pipe(Effect.provide(Logger.layer([logger])))
        assert.strictEqual(warnings.length, 2)
        assert.isTrue(warnings.every((warning) => /^(?:systemInstruction|generationConfig\.presencePenalty): .*gemini-9/.test(warning)))
        const error = yield* Effect.flip(generation.generate("publishers/meta/models/llama-3.1-8b-instruct-maas", request))
        assert.deepStrictEqual(error.violations?.map(({ field }) => field), ["systemInstruction", "generationConfig.presencePenalty"])
      })))

  it.live("names the fields that the service refuses as the request has them", () =>
    onService({}, (generation, fake) =>
      Effect.gen(function*() {
        const details = [{
          "@type": "type.googleapis.com/google.rpc.BadRequest",
          fieldViolations: [{ field: "generation_config.response_schema", description: "no" }]
        }]
        fake.fault = () => ({ status: 400, error: { details } })
        const error = yield* Effect.flip(generation.generate(model, says("a")))
        assert.strictEqual(error.violations?.[0]?.field, "generationConfig.responseSchema")
      })))
})

describe("GeminiChat", () => {
  it.live("asks as the service wants to be asked, and tells what it answers", () => {
    const answer = {
      candidates: [{
        content: { parts: [{ text: "Hm.", thought: true }, { text: "Look: " }, { functionCall: { name: "look", args: { at: 1 } } }] },
        finishReason: "STOP"
      }],
      usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 3, thoughtsTokenCount: 2, totalTokenCount: 10 }
    }
    return onService(answer, (generation, fake) =>
      Effect.gen(function*() {
        const chat = GeminiChat.make(generation, model)
        const request: ChatRequest = {
          system: "Be brief.",
          turns: [
            { role: "user", parts: [{ type: "text", text: "What is it?" }, { type: "media", mimeType: "image/png", data: "AAAA" }] },
            { role: "assistant", parts: [{ type: "toolCall", id: "c1", name: "look", args: { at: 0 } }] },
            { role: "user", parts: [{ type: "toolResult", id: "c1", text: "a cat" }] }
          ],
          tools: [{ name: "look", description: "Looks.", parameters: { type: "object" } }],
          toolChoice: { name: "look" },
          json: { schema: { type: "object" } },
          maxTokens: 9,
          temperature: 0,
          stop: ["END"],
          thinking: { effort: "low" }
        }
        expect(yield* Stream.runCollect(chat.stream(request))).toEqual([
          { type: "thinking", candidate: 0, text: "Hm." },
          { type: "text", candidate: 0, text: "Look: " },
          { type: "toolCall", candidate: 0, call: { id: "call_0_0", name: "look", args: { at: 1 } } },
          { type: "end", candidate: 0, reason: "toolCalls" },
          { type: "usage", usage: { inputTokens: 5, outputTokens: 5, thinkingTokens: 2 } }
        ])
        assert.deepStrictEqual(JSON.parse(fake.calls[0]?.body ?? ""), {
          contents: [
            { role: "user", parts: [{ text: "What is it?" }, { inlineData: { mimeType: "image/png", data: "AAAA" } }] },
            { role: "model", parts: [{ functionCall: { id: "c1", name: "look", args: { at: 0 } } }] },
            { role: "user", parts: [{ functionResponse: { id: "c1", name: "look", response: { output: "a cat" } } }] }
          ],
          systemInstruction: { parts: [{ text: "Be brief." }] },
          tools: [{ functionDeclarations: [{ name: "look", description: "Looks.", parametersJsonSchema: { type: "object" } }] }],
          toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["look"] } },
          generationConfig: {
            temperature: 0,
            maxOutputTokens: 9,
            stopSequences: ["END"],
            responseMimeType: "application/json",
            responseJsonSchema: { type: "object" },
            thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 }
          }
        })
        yield* Stream.runDrain(chat.stream({ turns: request.turns, candidates: 2 }))
        assert.match(fake.calls[1]?.path ?? "", /:generateContent$/)
      }))
  })

  it.live("says that an answer was withheld, and why", () =>
    onService({ promptFeedback: { blockReason: "PROHIBITED_CONTENT" } }, (generation) =>
      Effect.gen(function*() {
        const events = yield* Stream.runCollect(
          GeminiChat.make(generation, model).stream({ turns: [{ role: "user", parts: [{ type: "text", text: "a" }] }] })
        )
        assert.deepStrictEqual(events, [{ type: "end", candidate: 0, reason: "contentFilter", detail: "PROHIBITED_CONTENT" }])
      })))
})
