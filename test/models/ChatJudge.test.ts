import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import type { ChatEvent } from "../../src/domain/Chat.ts"
import * as ChatJudge from "../../src/models/ChatJudge.ts"
import { ChatModel } from "../../src/ports/ChatModel.ts"

/** What a judge makes of a model that writes this. */
const verdictOn = (said: string, more: ReadonlyArray<ChatEvent> = []) =>
  ChatJudge.make(ChatModel.of({
    model: "scripted",
    stream: () =>
      Stream.fromIterable<ChatEvent>([
        { type: "text", candidate: 0, text: said.slice(0, 3) },
        { type: "text", candidate: 0, text: said.slice(3) },
        { type: "end", candidate: 0, reason: "stop" },
        ...more
      ])
  })).judge({ question: "How many days?", answer: "Five.", expected: { contains: ["five"] } })

describe("a model that judges", () => {
  it.effect("is taken at its word, alone on the first or last line", () =>
    Effect.gen(function*() {
      for (
        const right of ["RIGHT", " right.\n", "**Right**", "Verdict: RIGHT", "RIGHT\n\nIt says five.", "<think>\nWRONG\n</think>\nRIGHT"]
      ) {
        assert.strictEqual((yield* verdictOn(right)).right, true, right)
      }
      for (const wrong of ["WRONG", "It says six.\nWrong!", "<think>is it right?</think>WRONG"]) {
        assert.strictEqual((yield* verdictOn(wrong)).right, false, wrong)
      }
    }))

  it.effect("gives no verdict in other words, in two that contradict, or in an essay", () =>
    Effect.gen(function*() {
      for (
        const none of [
          "",
          " \n",
          "It would be wrong to say so.",
          "RIGHT\nWRONG",
          "7/10",
          "right or wrong",
          `RIGHT\n${"x\n".repeat(30_000)}wrong`
        ]
      ) {
        assert.isUndefined((yield* verdictOn(none)).right, none.slice(0, 40))
      }
    }))

  it.effect("tells the tokens of the call where the model does", () =>
    Effect.gen(function*() {
      const usage = { inputTokens: 12, outputTokens: 1 }
      assert.deepStrictEqual((yield* verdictOn("RIGHT", [{ type: "usage", usage }])).usage, usage)
      assert.isUndefined((yield* verdictOn("RIGHT")).usage)
    }))
})
