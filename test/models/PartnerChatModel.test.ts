import { assert, describe, expect, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import * as fc from "fast-check"
import type { ChatEvent, ChatRequest } from "../../src/domain/Chat.ts"
import * as LocalPartnerChat from "../../src/models/LocalPartnerChat.ts"
import * as PartnerChatModel from "../../src/models/PartnerChatModel.ts"
import { ChatModel } from "../../src/ports/ChatModel.ts"

const sonnet = "claude-3-7-sonnet@20250219"

/** A model seen as Claude, and that Claude as a model again. What it is asked is kept. */
const thereAndBack = (says: ReadonlyArray<ChatEvent>) => {
  const asked: Array<ChatRequest> = []
  const model = ChatModel.of({
    model: "behind",
    stream: (request) => {
      asked.push(request)
      return Stream.fromIterable(says)
    }
  })
  const { stream } = PartnerChatModel.make(LocalPartnerChat.make(model, (text) => text.length), sonnet)
  return { asked, stream: (request: ChatRequest) => Stream.runCollect(stream(request)) }
}

const hello: ReadonlyArray<ChatEvent> = [
  { type: "text", candidate: 0, text: "Hello" },
  { type: "end", candidate: 0, reason: "stop" },
  { type: "usage", usage: { inputTokens: 3, outputTokens: 1 } }
]
const says = (text: string): ChatRequest => ({ turns: [{ role: "user", parts: [{ type: "text", text }] }] })
const png = "iVBORw0KGgo="

const word = fc.string({ minLength: 1, maxLength: 6 })
const piece = fc.oneof(
  word.map((text): ChatEvent => ({ type: "text", candidate: 0, text })),
  word.map((text): ChatEvent => ({ type: "thinking", candidate: 0, text })),
  fc.tuple(
    fc.stringMatching(/^[a-z]{1,6}$/),
    fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), fc.oneof(word, fc.integer()), { maxKeys: 2 })
  )
    .map(([name, args]): ChatEvent => ({ type: "toolCall", candidate: 0, call: { id: "", name, args: { ...args } } }))
)
const ending = fc.record({
  reason: fc.constantFrom("stop" as const, "length" as const, "toolCalls" as const, "contentFilter" as const),
  stopSequence: fc.option(word, { nil: undefined }),
  inputTokens: fc.nat(),
  outputTokens: fc.nat()
})

const joined = (events: ReadonlyArray<ChatEvent>, type: "text" | "thinking"): string =>
  events.map((event) => (event.type === type ? event.text : "")).join("")
const callsOf = (events: ReadonlyArray<ChatEvent>) =>
  events.flatMap((event) => (event.type === "toolCall" ? [{ name: event.call.name, args: event.call.args }] : []))

describe("PartnerChatModel", () => {
  it("says what the model behind Claude's form says", () =>
    fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 8 }), ending, async (pieces, { inputTokens, outputTokens, reason, stopSequence }) => {
        const stopped = reason === "stop" && stopSequence !== undefined ? { stopSequence } : {}
        const last: ReadonlyArray<ChatEvent> = [
          { type: "end", candidate: 0, reason, ...stopped },
          { type: "usage", usage: { inputTokens, outputTokens } }
        ]
        const heard = await Effect.runPromise(thereAndBack([...pieces, ...last]).stream(says("hi")))
        for (const type of ["text", "thinking"] as const) assert.strictEqual(joined(heard, type), joined(pieces, type))
        assert.deepStrictEqual(callsOf(heard), callsOf(pieces))
        expect(heard.slice(-2)).toEqual([...last])
      })
    ))

  it.effect("asks what it is asked", () =>
    Effect.gen(function*() {
      const { asked, stream } = thereAndBack(hello)
      const request: ChatRequest = {
        system: "Be brief.",
        turns: [
          {
            role: "user",
            parts: [{ type: "text", text: "look" }, { type: "media", mimeType: "image/png", data: png }, {
              type: "media",
              mimeType: "application/pdf",
              data: png
            }]
          },
          {
            role: "assistant",
            parts: [{ type: "thinking", text: "hm", signature: "s" }, { type: "toolCall", id: "c1", name: "look", args: { at: 1 } }]
          },
          {
            role: "user",
            parts: [{ type: "toolResult", id: "c1", name: "look", text: "a cat", isError: true }, { type: "text", text: "well?" }]
          }
        ],
        tools: [{ name: "look", description: "Looks.", parameters: { type: "object" } }],
        toolChoice: "auto",
        maxTokens: 5000,
        temperature: 1,
        topP: 0.96,
        thinking: { budgetTokens: 2000 }
      }
      yield* stream({ ...request, stop: ["END"] })
      // Claude looks for the sequences itself.
      assert.deepStrictEqual(asked, [request])
      for (const toolChoice of ["none", "required", { name: "look" }] as const) {
        yield* stream({ ...says("hi"), tools: [{ name: "look" }], toolChoice })
        assert.deepStrictEqual(asked.at(-1)?.toolChoice, toolChoice)
      }
    }))

  it("stops at a sequence, wherever the pieces of an answer are cut", () =>
    fc.assert(fc.asyncProperty(
      fc.array(fc.stringMatching(/^[ab.]{0,4}$/), { maxLength: 8 }),
      fc.array(fc.constantFrom("ab", "a.b", "bb", "."), { minLength: 1, maxLength: 3 }),
      async (pieces, stop) => {
        const all = pieces.join("")
        // The one that is complete first, and of those the longest.
        const [first] = stop.map((each) => [all.indexOf(each), all.indexOf(each) + each.length] as const).filter(([at]) => at >= 0)
          .toSorted(([a, endA], [b, endB]) => endA - endB || a - b)
        const heard = await Effect.runPromise(
          thereAndBack([
            ...pieces.map((text): ChatEvent => ({ type: "text", candidate: 0, text })),
            { type: "end", candidate: 0, reason: "stop" }
          ]).stream({ ...says("hi"), stop })
        )
        assert.strictEqual(joined(heard, "text"), all.slice(0, first?.[0]))
        const end = heard.find((event) => event.type === "end")
        assert.strictEqual(end?.stopSequence, first && all.slice(...first))
      }
    )))

  it.effect("brings a conversation into the form that Claude takes", () =>
    Effect.gen(function*() {
      const { asked, stream } = thereAndBack(hello)
      yield* stream({
        turns: [
          { role: "user", parts: [{ type: "text", text: "one" }] },
          { role: "user", parts: [{ type: "media", mimeType: "text/plain", data: Buffer.from("two").toString("base64") }] },
          { role: "assistant", parts: [{ type: "thinking", text: "of nobody" }, { type: "toolCall", id: "c1", name: "look", args: {} }] },
          { role: "user", parts: [{ type: "text", text: "so" }, { type: "toolResult", id: "c1", text: "a cat" }] }
        ],
        thinking: { effort: "low" }
      })
      expect(asked[0]?.turns).toEqual([
        { role: "user", parts: [{ type: "text", text: "one" }, { type: "text", text: "two" }] },
        { role: "assistant", parts: [{ type: "toolCall", id: "c1", name: "look", args: {} }] },
        { role: "user", parts: [{ type: "toolResult", id: "c1", name: "look", text: "a cat" }, { type: "text", text: "so" }] }
      ])
      assert.deepStrictEqual([asked[0]?.maxTokens, asked[0]?.thinking], [4096 + 1024, { budgetTokens: 1024 }])
    }))

  it.effect("refuses what Claude cannot do, by the field", () =>
    Effect.gen(function*() {
      const { asked, stream } = thereAndBack(hello)
      const refused: ReadonlyArray<readonly [string, ChatRequest]> = [
        ["json", { ...says("hi"), json: {} }],
        ["logprobs", { ...says("hi"), logprobs: 0 }],
        ["seed", { ...says("hi"), seed: 1 }],
        ["presencePenalty", { ...says("hi"), presencePenalty: 1 }],
        ["frequencyPenalty", { ...says("hi"), frequencyPenalty: 1 }],
        ["candidates", { ...says("hi"), candidates: 2 }],
        ["turns[0].parts[0].uri", { turns: [{ role: "user", parts: [{ type: "mediaUri", uri: "gs://a/b" }] }] }],
        ["turns[0].parts[0].mimeType", { turns: [{ role: "user", parts: [{ type: "media", mimeType: "audio/wav", data: png }] }] }],
        ["temperature", { ...says("hi"), temperature: 1.5 }]
      ]
      for (const [field, request] of refused) {
        const error = yield* Effect.flip(stream(request))
        assert.deepStrictEqual([error.code, error.violations?.[0]?.field], ["INVALID_ARGUMENT", field])
      }
      assert.deepStrictEqual(asked, [])
    }))
})
