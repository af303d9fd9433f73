import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import type { ChatEvent } from "../../src/domain/Chat.ts"
import * as ChatDrafter from "../../src/models/ChatDrafter.ts"
import { ChatModel } from "../../src/ports/ChatModel.ts"

/** What a drafter makes of a model that writes this. */
const draftedOf = (said: string, more: ReadonlyArray<ChatEvent> = []) =>
  ChatDrafter.make(ChatModel.of({
    model: "scripted",
    stream: () =>
      Stream.fromIterable<ChatEvent>([
        ...(said.match(/[^]{1,900}/g) ?? []).map((text): ChatEvent => ({ type: "text", candidate: 0, text })),
        ...more
      ])
  })).draft({ text: "Five days carry over.", headings: [] }, 2)

const one = [{ question: "How many days carry over?", span: "Five days carry over." }]

describe("a model that drafts", () => {
  it.effect("is read whatever it puts around its lines", () =>
    Effect.gen(function*() {
      for (
        const said of [
          "Q: How many days carry over?\nA: Five days carry over.",
          "1. **Q:** How many days carry over?\n   **A:** \"Five days carry over.\"",
          "<think>\nQ: what?\nA: hm\n</think>\n\nHere it is:\n- Q: How many days carry over?\n\n- A: Five days carry over.\n",
          "**Q: How many days carry over?**\n**A: “Five days carry over.”**"
        ]
      ) {
        assert.deepStrictEqual((yield* draftedOf(said)).drafts, one, said)
      }
    }))

  it.effect("drafts nothing by halves, and no more than it was asked for", () =>
    Effect.gen(function*() {
      for (const none of ["NONE", "", "A: Five days.", "Q: How many?", "Q: How many?\nQ:\nA: Five.", "Questions: all of them"]) {
        assert.isEmpty((yield* draftedOf(none)).drafts, none)
      }
      const many = Array.from({ length: 9 }, (_, n) => `Q: ${n}?\nA: ${n}.`).join("\n")
      assert.lengthOf((yield* draftedOf(many)).drafts, 2)
      assert.isEmpty((yield* draftedOf(`${"x\n".repeat(20_000)}Q: How many?\nA: Five.`)).drafts, "an essay is not read to its end")
    }))

  it.effect("tells the tokens of the call where the model does", () =>
    Effect.gen(function*() {
      const usage = { inputTokens: 7, outputTokens: 3 }
      assert.deepStrictEqual((yield* draftedOf("NONE", [{ type: "usage", usage }])).usage, usage)
      assert.isUndefined((yield* draftedOf("NONE")).usage)
    }))
})
